//! The ledger: entries with a checksum, appended where the power is not cut with the medium's. An intent is there before its
//! write is issued. What a cut left incomplete at the end is cut off; damage before the end is refused.

use std::path::Path;
use std::time::Instant;

use assay_endure::journal::{self, Journal, JournalError};

use crate::entry::{Checked, Entry};
use crate::round::{Begin, Ended, Mode, Round};
use crate::state::State;

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Its file.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The keeper of the ledger on another machine.
    #[error("{0}")]
    Keeper(String),
    /// The round of this write is over.
    #[error("the round of this write is over")]
    Over,
}

/// Where entries are kept.
pub trait Keep: Send {
    /// Appends an entry. Returns when it would survive a cut of the medium's power and of this host's.
    ///
    /// # Errors
    /// Where it could not be kept.
    fn append(&mut self, entry: &Entry) -> Result<(), LedgerError>;
}

/// What a ledger held.
#[derive(Debug)]
pub struct Replayed {
    /// The state after its entries.
    pub state: State,
    /// Bytes up to the end of the last whole entry.
    pub whole_bytes: u64,
}

/// Reads the bytes of a ledger.
///
/// # Errors
/// Where it is no ledger, or damaged before its end.
pub fn replay(bytes: &[u8]) -> Result<Replayed, LedgerError> {
    let mut state = None;
    let whole_bytes = journal::replay(&mut &*bytes, bytes.len() as u64, &mut |entry| follows(&mut state, entry))?;
    Ok(Replayed { state: state.ok_or(JournalError::NotOne)?, whole_bytes })
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

/// A ledger and the state after its entries.
pub struct Ledger {
    keep: Box<dyn Keep>,
    state: State,
    began: Instant,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Ledger").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Ledger {
    /// A ledger whose entries so far gave this state.
    #[must_use]
    pub fn new(keep: Box<dyn Keep>, state: State) -> Self {
        Self { keep, state, began: Instant::now() }
    }

    /// What the ledger says.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Keeps an entry, then takes it: what could not be kept does not count.
    fn note(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        self.keep.append(entry)?;
        // Entries are made from the state.
        if self.state.apply(entry) { Ok(()) } else { Err(JournalError::OutOfOrder { at: 0 }.into()) }
    }

    /// Begins a round.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub fn begin_round(&mut self, round: Round) -> Result<(), LedgerError> {
        self.began = Instant::now();
        self.note(&Entry::Round(round))
    }

    fn under_way(&self, round: u32) -> Result<(), LedgerError> {
        let goes_on = self.state.rounds() == round && self.state.ended().is_none() && self.state.is_unchecked();
        if goes_on { Ok(()) } else { Err(LedgerError::Over) }
    }

    /// Keeps what will be written. Returns the number of the first.
    ///
    /// # Errors
    /// Where it cannot be kept, or the round is over.
    pub fn intend(&mut self, round: u32, mode: Mode, blocks: Vec<u64>) -> Result<u64, LedgerError> {
        self.under_way(round)?;
        let first = self.state.last_number() + 1;
        self.note(&Entry::Writes { first, mode, blocks })?;
        Ok(first)
    }

    /// Keeps that one number will be written to these runs of blocks. Returns the number.
    ///
    /// # Errors
    /// Where it cannot be kept, or the round is over.
    pub fn intend_fill(&mut self, round: u32, runs: Vec<(u64, u64)>) -> Result<u64, LedgerError> {
        self.under_way(round)?;
        let number = self.state.last_number() + 1;
        self.note(&Entry::Fill { number, runs })?;
        Ok(number)
    }

    /// Keeps that the medium acknowledged these writes.
    ///
    /// # Errors
    /// Where it cannot be kept, or the round is over: an operation that hung for long does not count.
    pub fn acknowledge(&mut self, round: u32, first: u64, count: u64) -> Result<(), LedgerError> {
        self.under_way(round)?;
        let at_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.note(&Entry::Acknowledged { first, count, at_ns })
    }

    /// Keeps how the load ended.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub fn end(&mut self, end: Ended) -> Result<(), LedgerError> {
        self.note(&Entry::Ended(end))
    }

    /// Keeps the result of a check.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub fn checked(&mut self, checked: Checked) -> Result<(), LedgerError> {
        self.note(&Entry::Checked(Box::new(checked)))
    }
}

/// A ledger in a file on another disk, held by this process alone.
#[derive(Debug)]
pub struct FileKeep(Journal<Entry>);

impl FileKeep {
    /// Makes a ledger, which must not exist.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path, begin: &Begin) -> Result<Self, LedgerError> {
        Ok(Self(Journal::create(path, &Entry::Begin(begin.clone()))?))
    }

    /// Opens a ledger to go on with it.
    ///
    /// # Errors
    /// As of [`Journal::open`].
    pub fn open(path: &Path) -> Result<(Self, State), LedgerError> {
        let mut state = None;
        let journal = Journal::open(path, &mut |entry| follows(&mut state, entry))?;
        Ok((Self(journal), state.ok_or(JournalError::NotOne)?))
    }

    /// Reads a ledger that another process may be writing, and changes nothing.
    ///
    /// # Errors
    /// As of [`Journal::look`].
    pub fn look(path: &Path) -> Result<State, LedgerError> {
        let mut state = None;
        Journal::look(path, &mut |entry| follows(&mut state, entry))?;
        Ok(state.ok_or(JournalError::NotOne)?)
    }
}

impl Keep for FileKeep {
    fn append(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        Ok(self.0.append(entry)?)
    }
}
