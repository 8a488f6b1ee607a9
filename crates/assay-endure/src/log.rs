//! The log of a test of endurance, and the state after its entries.

use std::io::Read;
use std::path::Path;

use crate::entry::Entry;
use crate::journal::{self, Journal, JournalError};
use crate::state::State;

/// Where entries are kept. Returns when the entry would survive a power cut.
pub trait Keep {
    /// Appends an entry.
    ///
    /// # Errors
    /// Where it could not be kept.
    fn append(&mut self, entry: &Entry) -> Result<(), JournalError>;
}

/// What a log held.
#[derive(Debug)]
pub struct Replayed {
    /// The state after its entries; `None` if the first one is incomplete.
    pub state: Option<State>,
    /// Bytes up to the end of the last whole entry.
    pub whole_bytes: u64,
}

/// Reads a log of `length` bytes.
///
/// # Errors
/// Where it is no log, or damaged before its end.
pub fn replay(reader: &mut impl Read, length: u64) -> Result<Replayed, JournalError> {
    let mut state = None;
    let whole_bytes = journal::replay(reader, length, &mut |entry| follows(&mut state, entry))?;
    Ok(Replayed { state, whole_bytes })
}

/// Takes an entry, where it follows from those before it.
fn follows(state: &mut Option<State>, entry: Entry) -> bool {
    match (state, entry) {
        (state @ None, Entry::Begin(begin)) => {
            *state = State::begin(begin);
            state.is_some()
        }
        (Some(state), entry) => state.apply(&entry),
        (None, _) => false,
    }
}

/// A log in a file, held by this process alone.
#[derive(Debug)]
pub struct Log(Journal<Entry>);

impl Log {
    /// Makes a log, which must not exist.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path, begin: &Entry) -> Result<Self, JournalError> {
        Journal::create(path, begin).map(Self)
    }

    /// Opens a log to go on with it.
    ///
    /// # Errors
    /// As of [`Journal::open`].
    pub fn open(path: &Path) -> Result<(Self, State), JournalError> {
        let mut state = None;
        let journal = Journal::open(path, &mut |entry| follows(&mut state, entry))?;
        Ok((Self(journal), state.ok_or(JournalError::NotOne)?))
    }

    /// Reads a log that another process may be writing, and changes nothing.
    ///
    /// # Errors
    /// As of [`Journal::look`].
    pub fn look(path: &Path) -> Result<State, JournalError> {
        Self::look_at_each(path, &mut |_| {})
    }

    /// The same, and shows each entry.
    ///
    /// # Errors
    /// As of [`Journal::look`].
    pub fn look_at_each(path: &Path, each: &mut dyn FnMut(&Entry)) -> Result<State, JournalError> {
        let mut state = None;
        Journal::look(path, &mut |entry| {
            each(&entry);
            follows(&mut state, entry)
        })?;
        state.ok_or(JournalError::NotOne)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Keep for Log {
    fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        self.0.append(entry)
    }
}
