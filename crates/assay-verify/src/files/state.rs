//! The state that the directory keeps between a check and its resumption.
//!
//! It lies on the medium, so its content is untrusted: its size is limited, and values that are impossible on that file
//! system are rejected.

use std::io::Read;

use assay_core::text::harmless;
use assay_device::owned::{Caching, Cause, Directory, OwnDir, OwnedError};
use serde::{Deserialize, Serialize};

use super::content::Content;
use super::lost::are_parts;
use super::tally::Tally;
use crate::sys;

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
    /// Bytes from the start that are written and durable.
    pub(crate) written_bytes: u64,
    /// Whether the check ended and was told to keep the files.
    pub(crate) kept: bool,
    /// How far reading has come, and the findings up to there.
    pub(crate) read: Option<(u64, Tally)>,
    /// Content of the files; files of earlier versions hold the sequence of f3.
    #[serde(default = "Content::f3")]
    pub(crate) content: Content,
    /// Starts and ends of what the medium refused to write.
    #[serde(default)]
    pub(crate) refused: Vec<(u64, u64)>,
}

impl State {
    pub(crate) fn new(area_bytes: u64) -> Self {
        let host = assay_device::host_name();
        Self {
            version: 1,
            pid: std::process::id(),
            host,
            area_bytes,
            written_bytes: 0,
            kept: false,
            read: None,
            content: Content::f3(),
            refused: Vec::new(),
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
        let space = directory.directory().space()?;
        let state = serde_json::from_slice(&text).map_err(|error| error.to_string());
        let state = state.and_then(|state: Self| {
            state.sound(space.bytes).map_err(str::to_owned)?;
            Ok(state)
        });
        let foreign = |why: String| OwnedError::foreign(&directory.path().join(STATE), Cause::Content(harmless(&why)));
        state.map(Some).map_err(foreign)
    }

    /// The state in a directory of kept files, from any user; `None` if it is missing or impossible.
    pub(crate) fn kept_in(directory: &Directory) -> Option<Self> {
        let file = directory.read_file(STATE, Caching::Cached).ok()?;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
        let space = directory.space().ok()?;
        let state: Self = serde_json::from_slice(&text).ok()?;
        state.sound(space.bytes).ok()?;
        Some(state)
    }

    /// Saves it durably. May block as long as the medium does.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn save(&self, directory: &OwnDir) -> Result<(), OwnedError> {
        let text = serde_json::to_vec(self).map_err(|error| OwnedError::io(directory.path(), error))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tally::Found;
    use assay_core::verification::SectorClass;
    use serde_json::{Value, json};

    const MIB: u64 = 1 << 20;

    fn saved() -> State {
        let mut tally = Tally::new(300 * MIB);
        let mut found = Found::default();
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
