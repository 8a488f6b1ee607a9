//! The files that a check has in a directory, by name and number, and the state that says what they hold.
//!
//! The state lies on the medium, so its content is untrusted: its size is limited, and values that are impossible on that
//! file system are rejected.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::time::UNIX_EPOCH;

use assay_core::text::harmless;
use assay_device::owned::{Caching, Cause, Directory, OwnDir, OwnedError, is_temporary};
use serde::{Deserialize, Serialize};

use super::content::{Content, FILE_BYTES};
use super::tally::{Tally, are_parts};
use crate::sys;

// Names and numbers of the files, in assay's own directory and in other directories.

/// Name of the directory in the target that holds the files; `f3read` accepts it.
pub const DIRECTORY: &str = ".assay-verify";
pub(crate) const LOCK: &str = "lock";
/// Highest number of a file: beyond it, the byte offset of the file overflows.
const MOST_FILES: u64 = u64::MAX / FILE_BYTES / 2;
/// Most names of foreign files that are listed.
const MOST_FOREIGN_NAMES: usize = 10_000;

/// Name of a file of the full check.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number}.h2w")
}

/// Splits an area into files.
pub(super) fn files_of(area: u64) -> Vec<(u64, u64)> {
    (0..area.div_ceil(FILE_BYTES)).map(|index| (index + 1, FILE_BYTES.min(area - index * FILE_BYTES))).collect()
}

/// Name of a file of the quick check.
pub(crate) fn spread_name(number: usize) -> String {
    format!("{number}.quick")
}

/// The number in the name of a file of the full check.
pub(crate) fn file_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".h2w")?;
    digits.parse().ok().filter(|number: &u64| (1..=MOST_FILES).contains(number) && number.to_string() == digits)
}

pub(crate) fn is_spread(name: &str) -> bool {
    name.strip_suffix(".quick").is_some_and(|digits| digits.parse().is_ok_and(|n: usize| n.to_string() == digits))
}

/// Whether assay uses this name in its own directory.
pub(crate) fn is_ours(name: &str) -> bool {
    [LOCK, STATE].contains(&name) || is_temporary(name) || file_number(name).is_some() || is_spread(name)
}

/// Numbers and sizes of the files `N.h2w` of a directory, from any tool, in order. Sizes are limited to that of the
/// format.
pub(crate) fn numbered(directory: &Directory) -> Vec<(u64, u64)> {
    let mut files: Vec<(u64, u64)> = Vec::new();
    // Files that cannot be listed count as absent.
    let _ = directory.names(u64::MAX, &mut |name| {
        if let Some(number) = name.to_str().and_then(file_number)
            && let Some(bytes) = directory.file_bytes(name)
        {
            files.push((number, bytes.min(FILE_BYTES)));
        }
    });
    files.sort_unstable();
    files
}

/// Names of `*.h2w` that lie in a directory, in order.
pub(crate) fn h2w_names(directory: &Directory) -> Vec<String> {
    let mut names = Vec::new();
    let _ = directory.names(u64::MAX, &mut |name| {
        if names.len() < MOST_FOREIGN_NAMES {
            names.extend(Some(name.to_string_lossy().into_owned()).filter(|name| name.ends_with(".h2w")));
        }
    });
    names.sort_unstable();
    names
}

// The state that the directory keeps between a check and its resumption.

pub(crate) const STATE: &str = "state.json";
/// A state with a map of 256 cells takes 40 KiB. With the most lost parts and rewritten places that are kept, it takes
/// 2 MiB.
const MOST_BYTES: u64 = 4 << 20;

/// Who wrote the files, and when, for a later reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Id of the record that has the first reading.
    pub check: String,
    /// Reader that the medium was in; null where it is not known.
    pub reader: Option<String>,
    /// Kind and mode of the bus.
    pub bus: Option<String>,
    /// When the check began, in seconds since 1970.
    pub began: u64,
    /// When it ended; 0 before that.
    pub ended: u64,
}

/// The state of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Version of this layout.
    pub(crate) version: u32,
    /// Process that made it.
    pub(crate) pid: u32,
    /// Host that made it.
    pub(crate) host: String,
    /// Total size of the files in bytes.
    pub(crate) area_bytes: u64,
    /// Free space that a check without a limit would have filled; less than the files take means that it is not known.
    pub(crate) whole_bytes: u64,
    /// Bytes from the start that are written and durable.
    pub(crate) written_bytes: u64,
    /// Whether the check ended and keeps its files.
    pub(crate) kept: bool,
    /// What a later reading has to know of the check; null where that was not said.
    pub(crate) writer: Option<Writer>,
    /// How far reading has come, and the findings up to there.
    pub(crate) read: Option<(u64, Tally)>,
    /// Content of the files.
    pub(crate) content: Content,
    /// Starts and ends of what the medium refused to write.
    pub(crate) refused: Vec<(u64, u64)>,
    /// When each file that holds something was made, by number, as [`birth`] tells it.
    pub(crate) made: BTreeMap<u64, u64>,
}

impl State {
    pub(crate) fn new(area_bytes: u64) -> Self {
        let host = assay_device::host_name();
        Self {
            version: 1,
            pid: std::process::id(),
            host,
            area_bytes,
            whole_bytes: area_bytes,
            written_bytes: 0,
            kept: false,
            writer: None,
            read: None,
            content: Content::f3(),
            refused: Vec::new(),
            made: BTreeMap::new(),
        }
    }

    /// Adds parts that the medium refused to write.
    pub(crate) fn refuse(&mut self, parts: &[(u64, u64)]) {
        let mut all = std::mem::take(&mut self.refused);
        all.extend_from_slice(parts);
        all.sort_unstable();
        for (start, end) in all {
            match self.refused.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => self.refused.push((start, end)),
            }
        }
    }

    /// Reads the state; `None` if there is none.
    ///
    /// # Errors
    /// Where it is no file of assay's, or contains impossible values.
    pub(crate) fn load(directory: &OwnDir) -> Result<Option<Self>, OwnedError> {
        let Some(text) = directory.read_small(STATE, MOST_BYTES)? else { return Ok(None) };
        Self::read_from(&text, directory.directory()).map(Some)
    }

    fn read_from(text: &[u8], directory: &Directory) -> Result<Self, OwnedError> {
        let space = directory.space()?;
        let state = serde_json::from_slice(text).map_err(|error| error.to_string());
        let state = state.and_then(|state: Self| {
            state.sound(space.bytes).map_err(str::to_owned)?;
            Ok(state)
        });
        let foreign = |why: String| OwnedError::foreign(&directory.path().join(STATE), Cause::Content(harmless(&why)));
        state.map_err(foreign)
    }

    /// The state in a directory of kept files, from any user; `None` if it is missing.
    ///
    /// # Errors
    /// Where it cannot be read, or contains impossible values.
    pub(crate) fn kept_in(directory: &Directory) -> Result<Option<Self>, OwnedError> {
        let path = directory.path().join(STATE);
        let file = match directory.read_file(STATE, Caching::Cached) {
            Err(error) if error.kind() == Some(ErrorKind::NotFound) => return Ok(None),
            opened => opened?,
        };
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(|error| OwnedError::io(&path, error))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(OwnedError::foreign(&path, Cause::Long(MOST_BYTES)));
        }
        Self::read_from(&text, directory).map(Some)
    }

    /// What is no longer there of what was written to `directory`.
    pub(crate) fn lacks(&self, directory: &Directory) -> Lacking {
        let mut lacking = Lacking::default();
        for (number, wanted) in files_of(self.written_bytes) {
            let there = directory.file_bytes(OsStr::new(&file_name(number))).unwrap_or(0);
            lacking.bytes += wanted.saturating_sub(there);
            if let (true, Some(made), Some(now)) = (there > 0, self.made.get(&number), birth(directory, number))
                && !is_same_moment(*made, now)
            {
                lacking.replaced.push(number);
            }
        }
        lacking
    }

    /// Saves it durably. May block as long as the medium does.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn save(&self, directory: &OwnDir) -> Result<(), OwnedError> {
        let files = files_of(self.written_bytes).into_iter();
        let made = files.filter_map(|(number, _)| Some((number, birth(directory.directory(), number)?))).collect();
        let state = Self { made, ..self.clone() };
        let text = serde_json::to_vec(&state).map_err(|error| OwnedError::io(directory.path(), error))?;
        sys::still_there(directory.directory()).map_err(|error| OwnedError::io(directory.path(), error))?;
        directory.replace_small(STATE, &text)
    }

    /// Whether a check on a file system of `whole_bytes` can have saved it.
    fn sound(&self, whole_bytes: u64) -> Result<(), &'static str> {
        if self.version != 1 {
            return Err("another version of assay");
        }
        if self.area_bytes > whole_bytes {
            return Err("an area larger than the file system");
        }
        if self.written_bytes > self.area_bytes {
            return Err("more written than the area holds");
        }
        if !are_parts(&self.refused, self.area_bytes) {
            return Err("refused parts that cannot be");
        }
        if let Some((upto, tally)) = &self.read {
            if *upto > self.area_bytes {
                return Err("more read than the area holds");
            }
            if !tally.is_sound(whole_bytes) {
                return Err("counts that cannot be");
            }
        }
        Ok(())
    }
}

/// What is no longer there of the files of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lacking {
    /// Bytes of files that are gone, or shorter than they were.
    pub(crate) bytes: u64,
    /// Numbers of files that were made anew: what they hold was not written by the check.
    pub(crate) replaced: Vec<u64>,
}

impl Lacking {
    pub(crate) fn is_nothing(&self) -> bool {
        self.bytes == 0 && self.replaced.is_empty()
    }
}

/// When a file was made, in milliseconds; `None` where the file system does not tell. No program can set it, but on Windows,
/// where a new file may also get the time of an earlier one of its name: there it tells nothing.
fn birth(directory: &Directory, number: u64) -> Option<u64> {
    if cfg!(windows) {
        return None;
    }
    let file = directory.read_file(file_name(number), Caching::Cached).ok()?;
    let made = file.metadata().ok()?.created().ok()?;
    u64::try_from(made.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// Whether two times of [`birth`] are those of one file. FAT and exFAT keep steps of 10 ms of the local time, which is a
/// multiple of 15 minutes off when the clock changes between winter and summer, or the medium travels.
fn is_same_moment(one: u64, other: u64) -> bool {
    const STEPS: u64 = 20;
    const QUARTER: u64 = 15 * 60 * 1000;
    const FARTHEST: u64 = 26 * 4 * QUARTER;
    let apart = one.abs_diff(other);
    apart <= FARTHEST + STEPS && (apart % QUARTER <= STEPS || QUARTER - apart % QUARTER <= STEPS)
}

#[cfg(test)]
mod tests {
    use assay_core::verification::SectorClass;
    use serde_json::{Value, json};

    use super::*;
    use crate::files::tally::ChunkFindings;

    /// With a link, and a sparse file of a tebibyte.
    #[cfg(not(windows))]
    #[test]
    fn only_names_of_the_format_are_read() {
        let target = tempfile::tempdir().unwrap();
        let names = ["2.h2w", "10.h2w", "01.h2w", "0.h2w", "x.h2w", "1.h2w.bak", "18446744073709551615.h2w"];
        for name in names {
            std::fs::write(target.path().join(name), b"x").unwrap();
        }
        std::os::unix::fs::symlink("/dev/zero", target.path().join("3.h2w")).unwrap();
        // Sparse, and longer than any file of the format.
        std::fs::File::create(target.path().join("4.h2w")).unwrap().set_len(1 << 40).unwrap();
        let directory = Directory::open(target.path()).unwrap();
        assert_eq!(numbered(&directory), [(2, 1), (4, FILE_BYTES), (10, 1)]);
        assert_eq!(h2w_names(&directory).len(), 8);
    }

    #[test]
    fn names_that_assay_gives_are_known() {
        for name in ["lock", "state.json", "new-0123456789abcdef", "1.h2w", "0.quick", "1024.quick"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["Lock", "state.json\n", "00.quick", "0.h2w", "-1.h2w", "1.h2w ", "holiday.jpg", "new-", ""] {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn a_file_is_the_same_after_a_change_of_the_clock() {
        const MINUTES: u64 = 60 * 1000;
        let made = 1_800_000_000_123;
        for later in [0, 10, 60 * MINUTES, 345 * MINUTES + 7, 60 * MINUTES - 7] {
            assert!(is_same_moment(made, made + later) && is_same_moment(made + later, made), "{later}");
        }
        for later in [100, 7 * MINUTES, 60 * MINUTES + 100, 30 * 24 * 60 * MINUTES] {
            assert!(!is_same_moment(made, made + later) && !is_same_moment(made + later, made), "{later}");
        }
    }

    const MIB: u64 = 1 << 20;

    fn saved() -> State {
        let mut tally = Tally::new(300 * MIB);
        let mut found = ChunkFindings::default();
        found.counts.add(SectorClass::Good, 2048);
        tally.add(0, &found);
        State { written_bytes: 300 * MIB, read: Some((MIB, tally)), ..State::new(300 * MIB) }
    }

    #[test]
    fn a_state_is_loaded_as_it_was_saved() {
        let dir = tempfile::tempdir().unwrap();
        let own = Directory::open(dir.path()).unwrap().make("own").unwrap();
        assert_eq!(State::load(&own).unwrap(), None);
        saved().save(&own).unwrap();
        assert_eq!(State::load(&own).unwrap(), Some(saved()));
        assert_eq!(std::fs::read_dir(own.path()).unwrap().count(), 1);
    }

    /// Threat 10: areas of 2^64 - 1 bytes, cells of none, unlimited counts.
    #[test]
    fn what_cannot_be_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let own = Directory::open(dir.path()).unwrap().make("own").unwrap();
        let good = serde_json::to_value(saved()).unwrap();
        let wrong: [(&str, Value); 16] = [
            ("/version", json!(2)),
            ("/area_bytes", json!(u64::MAX)),
            ("/area_bytes", json!(-1)),
            ("/written_bytes", json!(u64::MAX)),
            ("/read/0", json!(u64::MAX)),
            ("/read/1/cell_bytes", json!(0)),
            ("/read/1/cell_bytes", json!(1)),
            ("/read/1/area_bytes", json!(u64::MAX)),
            ("/read/1/cells", json!([])),
            ("/read/1/counts/good", json!(u64::MAX)),
            ("/read/1/tested", json!([[5, 3]])),
            ("/read/1/lost/grain", json!(0)),
            ("/read/1/lost/runs", json!([{"start": 0, "end": u64::MAX, "class": "corrupted"}])),
            ("/read/1/alias_every", json!(0)),
            ("/refused", json!([[7, 5]])),
            ("/refused", json!([[0, u64::MAX]])),
        ];
        for (place, value) in wrong {
            let mut state = good.clone();
            *state.pointer_mut(place).unwrap() = value.clone();
            own.replace_small(STATE, state.to_string().as_bytes()).unwrap();
            let error = State::load(&own).expect_err(&format!("{place} = {value}")).to_string();
            assert!(error.contains("state.json") && error.contains("move it away"), "{error}");
        }
        for text in ["", "{", "[[[[", "null", "{\"version\":1}"] {
            own.replace_small(STATE, text.as_bytes()).unwrap();
            assert!(State::load(&own).is_err(), "{text}");
        }
        own.replace_small(STATE, &vec![b' '; MOST_BYTES as usize + 1]).unwrap();
        assert!(State::load(&own).unwrap_err().to_string().contains("longer than"));
    }
}
