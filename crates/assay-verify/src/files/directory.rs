//! Assay's own directory while a check holds it, and what an earlier check left in it.
//!
//! It holds `lock`, on which a running check holds a lock; `state.json` with its owner and its progress; and `1.h2w`,
//! `2.h2w` and so on. Nothing else is ever removed. A directory of this name with anything else in it, or with files
//! but without a state, is not ours.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use assay_core::outcome::RunFailure;
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_device::owned::{Caching, Cause, Directory, Lock, Locked, OwnDir, OwnedError, is_temporary};
use serde::{Deserialize, Serialize};

use super::content::{Content, FILE_BYTES};
use super::tally::{Tally, are_parts};
use crate::sys;

/// Number of other checks that may remove the directory in a row before it is an error.
const ATTEMPTS: u32 = 100;
/// Names in the directory: files of 1 GiB that fill the file system, or those of a quick check.
const MOST_OTHERS: u64 = 4096;
/// Never more than these, which take some 50 MB of memory.
const MOST_NAMES: u64 = 1 << 18;

/// Content of a directory of assay's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Held {
    /// Its state; `None` if a check was killed before it saved one.
    pub(crate) state: Option<State>,
    /// Files of a full or quick check.
    pub(crate) files: u64,
    /// Space that they take, in bytes.
    pub(crate) bytes: u64,
}

/// Reads the directory.
///
/// # Errors
/// Where anything in it is not assay's.
pub(crate) fn held(own: &OwnDir) -> Result<Held, VerifyError> {
    let state = State::load(own)?;
    let last = state.as_ref().map_or(0, |state| state.area_bytes.div_ceil(FILE_BYTES));
    let mut held = Held::default();
    let mut beyond = None;
    own.entries(most_names(own), &is_ours, &mut |entry| {
        let number = file_number(&entry.name);
        if number.is_some() || is_spread(&entry.name) {
            held.files += 1;
            held.bytes = held.bytes.saturating_add(entry.taken_bytes);
        }
        // A file of no bytes remains if the file system was full.
        if number.is_some_and(|number| number > last) && entry.bytes > 0 {
            beyond = Some(entry.name);
        }
    })?;
    if state.is_none() && held.files > 0 {
        return Err(VerifyError::NoState(own.path().to_owned()));
    }
    match beyond {
        Some(name) => Err(VerifyError::Foreign(own.path().join(name))),
        None => Ok(Held { state, ..held }),
    }
}

fn most_names(own: &OwnDir) -> u64 {
    let whole = own.directory().space().map_or(0, |space| space.bytes);
    (whole / FILE_BYTES + MOST_OTHERS).min(MOST_NAMES)
}

/// What an earlier check left in `target`; `None` if there is nothing.
///
/// # Errors
/// Where something not made by assay has the name of its directory, or lies in it.
pub(crate) fn present(target: &Directory) -> Result<Option<Held>, VerifyError> {
    match target.own(DIRECTORY)? {
        Some(own) => held(&own).map(Some),
        None => Ok(None),
    }
}

/// The directory while this check holds its lock.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    own: Arc<OwnDir>,
    /// Held until the directory is removed.
    lock: Arc<Mutex<Option<Lock>>>,
}

impl HeldDirectory {
    /// Takes the lock of the directory in `target`, and creates the directory if it is missing.
    ///
    /// # Errors
    /// Where another check holds it, it is not assay's, or the system fails.
    pub(crate) fn take(target: &Directory) -> Result<Self, VerifyError> {
        for _ in 0..ATTEMPTS {
            if let Some(place) = Self::existing(target)? {
                return Ok(place);
            }
            match target.make(DIRECTORY) {
                Err(error) if matches!(error.kind(), Some(ErrorKind::AlreadyExists | ErrorKind::NotFound)) => {}
                made => drop(made?),
            }
        }
        Err(VerifyError::Busy(target.path().join(DIRECTORY)))
    }

    /// Takes the lock of the directory, if it exists.
    ///
    /// # Errors
    /// As [`HeldDirectory::take`].
    pub(crate) fn existing(target: &Directory) -> Result<Option<Self>, VerifyError> {
        let Some(own) = target.own(DIRECTORY)? else { return Ok(None) };
        // Not even a lock is created where anything is not ours.
        held(&own)?;
        let path = own.path().to_owned();
        match own.lock(LOCK)? {
            Locked::Held(lock) => Ok(Some(Self { own: Arc::new(own), lock: Arc::new(Mutex::new(Some(lock))) })),
            Locked::Taken => Err(VerifyError::Busy(path)),
            Locked::Elsewhere(host) => Err(VerifyError::Elsewhere { path, host }),
            Locked::Gone => Ok(None),
        }
    }

    /// The directory.
    pub(crate) fn own(&self) -> &Arc<OwnDir> {
        &self.own
    }

    pub(crate) fn path(&self) -> &Path {
        self.own.path()
    }

    /// Work that removes the directory with all files, and then its lock. It runs in a thread that may wait for the
    /// medium.
    pub(crate) fn removal(&self) -> impl FnOnce() -> io::Result<()> + Send + 'static {
        let (own, lock) = (Arc::clone(&self.own), Arc::clone(&self.lock));
        move || Ok(remove_all(&own, lock.lock().unwrap_or_else(PoisonError::into_inner).take())?)
    }
}

/// Removes the files of a check, and nothing else.
///
/// # Errors
/// Where anything is not assay's, before anything is removed; or where the system fails.
pub(crate) fn remove_files(own: &OwnDir) -> Result<(), OwnedError> {
    let mut files = Vec::new();
    own.entries(most_names(own), &is_ours, &mut |entry| {
        if ![LOCK, STATE].contains(&&*entry.name) {
            files.push(entry.name);
        }
    })?;
    let there = || sys::still_there(own.directory()).map_err(|error| OwnedError::io(own.path(), error));
    files.iter().try_for_each(|name| {
        there()?;
        own.remove(name).map(drop)
    })?;
    // Proves that what is written or removed next is on this medium too.
    there()
}

/// Removes the directory with all files. The state goes last, so that the rest can still be recognised.
fn remove_all(own: &OwnDir, lock: Option<Lock>) -> Result<(), OwnedError> {
    remove_files(own)?;
    own.remove(STATE)?;
    own.remove_with(LOCK, lock)
}

/// What an earlier check left on a medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftCheck {
    /// The directory.
    pub path: PathBuf,
    /// Space that its files take, in bytes.
    pub bytes: u64,
    /// Whether the check is still running, here or on another host.
    pub alive: bool,
    /// Whether it keeps its files.
    pub kept: bool,
    /// Whether `--resume` can continue it.
    pub resumable: bool,
}

/// What an earlier check left in the directory `target`. Writes nothing.
///
/// # Errors
/// Where something not made by assay has the name of its directory, or lies in it.
pub fn left(target: &Path) -> Result<Option<LeftCheck>, VerifyError> {
    let target = Directory::open(target)?;
    let Some(own) = target.own(DIRECTORY)? else { return Ok(None) };
    let alive = own.is_locked(LOCK);
    Ok(Some(left_in(&own, &held(&own)?, alive)))
}

fn left_in(own: &OwnDir, held: &Held, alive: bool) -> LeftCheck {
    let state = held.state.as_ref();
    LeftCheck {
        path: own.path().to_owned(),
        bytes: held.bytes,
        alive,
        kept: state.is_some_and(|state| state.kept),
        resumable: state.is_some_and(|state| !state.kept && state.area_bytes > 0),
    }
}

/// Removes what an earlier check left in the directory `target`, including files that it kept on request. Returns what
/// that was.
///
/// # Errors
/// Where a check is still running, or something is not assay's; nothing is removed then.
pub fn remove(target: &Path) -> Result<Option<LeftCheck>, VerifyError> {
    let Some(place) = HeldDirectory::existing(&Directory::open(target)?)? else { return Ok(None) };
    let found = left_in(&place.own, &held(&place.own)?, false);
    place.removal()().map_err(|error| VerifyError::io(&found.path, error))?;
    Ok(Some(found))
}

/// Whether the medium under `directory` has gone.
pub(crate) fn gone(directory: &Directory) -> bool {
    sys::is_gone(directory)
}

/// Replaces the error of a medium that has gone: the kernel has many numbers for that.
pub(crate) fn gone_error(directory: &Directory, error: io::Error) -> io::Error {
    if gone(directory) { sys::gone() } else { error }
}

/// The failure that an error of the system means.
pub(crate) fn failure_of(error: &io::Error) -> RunFailure {
    error.raw_os_error().map_or(RunFailure::IoError, RunFailure::from_errno)
}

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
//
// It lies on the medium, so its content is untrusted: its size is limited, and values that are impossible on that file
// system are rejected.

pub(crate) const STATE: &str = "state.json";
/// A state with a map of 256 cells takes 40 KiB. With the most lost parts and rewritten places that are kept, it takes
/// 2 MiB.
const MOST_BYTES: u64 = 4 << 20;

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

// Why a check of a mounted medium did not begin.

/// Why there is no check: one line each, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The target is no directory.
    #[error("{}: not a directory; give the directory where the medium is mounted", .0.display())]
    NotDirectory(PathBuf),
    /// The file system is mounted read-only.
    #[error("{}: mounted read-only; mount it writable, or check files that are there with --only read", .0.display())]
    ReadOnly(PathBuf),
    /// Nothing may be written there.
    #[error("{}: no permission to write; run as its owner or as root", .0.display())]
    Permission(PathBuf),
    /// Too little free space.
    #[error("{}: no room to check: {} free; make room, at least 3 MiB", .path.display(), Bytes(*.free_bytes))]
    Full {
        /// The target.
        path: PathBuf,
        /// What is free.
        free_bytes: u64,
    },
    /// The host needs the file system that is to be filled.
    #[error(
        "{}: the file system of {}; a check would fill it with {}: name another directory, limit it by --bytes without --quick, or add --fill-system",
        .path.display(), .carried.display(), Bytes(*.write_bytes)
    )]
    System {
        /// The target.
        path: PathBuf,
        /// What the host has there.
        carried: PathBuf,
        /// What would be written.
        write_bytes: u64,
    },
    /// The medium to be filled is the host's memory.
    #[error(
        "{}: is in the memory of this host; a check would fill it with {}: name a directory of a medium, limit it by --bytes without --quick, or add --fill-system",
        .path.display(), Bytes(*.write_bytes)
    )]
    Memory {
        /// The target.
        path: PathBuf,
        /// What would be written.
        write_bytes: u64,
    },
    /// Another check is running there.
    #[error("{}: another assay is checking it; wait for it", .0.display())]
    Busy(PathBuf),
    /// A check of another host uses it, on a file system that both hosts share.
    #[error("{}: made by assay on {host}, which may still be checking; look there first, then remove it", .path.display())]
    Elsewhere {
        /// The directory.
        path: PathBuf,
        /// Name of that host, safe to show.
        host: String,
    },
    /// Files that an earlier check kept by request.
    #[error("{}: kept by an earlier check; read them with --only read, or remove them with --remove", .0.display())]
    Kept(PathBuf),
    /// Files of a check that was interrupted, or is under way on another host.
    #[error("{}: of a check that has not ended; continue it with --resume, or remove it with --remove", .0.display())]
    Unfinished(PathBuf),
    /// Something not made by assay has the name of its directory.
    #[error("{}: not made by assay; move it away", .0.display())]
    Foreign(PathBuf),
    /// Files without the state that says what was written to them.
    #[error("{}: has no state.json, without which nobody knows what was written there; move it away", .0.display())]
    NoState(PathBuf),
    /// Nothing was interrupted there.
    #[error("{}: no interrupted check to resume; start one without --resume", .0.display())]
    NothingToResume(PathBuf),
    /// A limit that leaves nothing.
    #[error("--bytes {}: a check takes whole MiB; give 1MiB or more", .0)]
    Limit(u64),
    /// No files of the format.
    #[error("{}: no files 1.h2w, 2.h2w, ... to read", .0.display())]
    NothingToRead(PathBuf),
    /// Something not made by assay has the name of something that assay makes, or the system refuses it.
    #[error(transparent)]
    Owned(OwnedError),
    /// The system's error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What.
        #[source]
        source: io::Error,
    },
}

impl VerifyError {
    /// The error for `source` at `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path.to_owned()),
            io::ErrorKind::PermissionDenied => Self::Permission(path.to_owned()),
            _ => Self::Io { path: path.to_owned(), source },
        }
    }
}

impl From<OwnedError> for VerifyError {
    fn from(error: OwnedError) -> Self {
        match error {
            OwnedError::Io { path, source } => Self::io(Path::new(&path), source),
            foreign @ OwnedError::Foreign { .. } => Self::Owned(foreign),
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::verification::SectorClass;
    use serde_json::{Value, json};

    use super::*;
    use crate::files::tally::ChunkFindings;

    fn open(target: &tempfile::TempDir) -> Directory {
        Directory::open(target.path()).unwrap()
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let target = tempfile::tempdir().unwrap();
        let path = target.path().join(DIRECTORY);
        assert_eq!(present(&open(&target)).unwrap(), None);
        let own = open(&target).make(DIRECTORY).unwrap();
        assert_eq!(present(&open(&target)).unwrap(), Some(Held::default()));
        std::fs::write(path.join("1.h2w"), b"holiday").unwrap();
        assert!(present(&open(&target)).is_err(), "no state");

        State::new(2 << 30).save(&own).unwrap();
        let held = present(&open(&target)).unwrap().unwrap();
        assert_eq!((held.files, held.state.unwrap().area_bytes), (1, 2 << 30));
        for name in ["3.h2w", "thesis.tex"] {
            std::fs::write(path.join(name), b"dear").unwrap();
            assert!(present(&open(&target)).is_err(), "{name}");
            assert!(HeldDirectory::take(&open(&target)).is_err() && remove(target.path()).is_err());
            assert!(path.join(name).exists() && path.join("1.h2w").exists() && !path.join("lock").exists());
            std::fs::remove_file(path.join(name)).unwrap();
        }
        // Windows removes no directory that is open.
        drop(own);
        let removed = remove(target.path()).unwrap().unwrap();
        assert!(removed.resumable && !removed.kept && !path.exists());
    }

    #[cfg(not(windows))]
    #[test]
    fn a_link_is_not_followed() {
        let target = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", target.path().join(DIRECTORY)).unwrap();
        assert!(present(&open(&target)).is_err() && remove(target.path()).is_err());
    }

    #[test]
    fn one_check_at_a_time() {
        let target = tempfile::tempdir().unwrap();
        let first = HeldDirectory::take(&open(&target)).unwrap();
        assert!(matches!(HeldDirectory::take(&open(&target)), Err(VerifyError::Busy(_))));
        assert!(matches!(remove(target.path()), Err(VerifyError::Busy(_))));
        assert!(left(target.path()).unwrap().unwrap().alive);
        drop(first);
        assert!(!left(target.path()).unwrap().unwrap().alive);
        assert!(HeldDirectory::take(&open(&target)).is_ok());
    }

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
