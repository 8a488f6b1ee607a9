//! The ledger: entries with a checksum, appended where the power is not cut with the medium's. An intent is there before its
//! write is issued. What a cut left incomplete at the end is cut off; damage before the end is refused.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::entry::{Checked, Entry};
use crate::round::{Begin, Ended, Mode, Round};
use crate::state::State;

/// The first bytes of a ledger.
const MAGIC: &[u8; 16] = b"assay power cut\n";
/// Length and checksum before each entry.
const HEAD: usize = 8;
/// More bytes than any entry has.
const MOST: u32 = 64 << 20;

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The system's error.
    #[error("{path}: {source}")]
    Io {
        /// The ledger.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The keeper of the ledger on another machine.
    #[error("{0}")]
    Keeper(String),
    /// Something wrote here that was no test of power cuts.
    #[error("no ledger of a test of power cuts")]
    NotALedger,
    /// An entry is damaged, and others follow it.
    #[error("the ledger is damaged at byte {at}, before its end; copy it before anything else")]
    Damaged {
        /// Where.
        at: u64,
    },
    /// An entry does not follow from those before it.
    #[error("the entry at byte {at} of the ledger does not follow from those before it")]
    OutOfOrder {
        /// Where.
        at: u64,
    },
    /// Another process has it open.
    #[error("another process is at work on this test")]
    InUse,
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

/// The bytes of an entry in a ledger.
#[must_use]
pub fn frame(entry: &Entry) -> Vec<u8> {
    let payload = entry.to_bytes();
    let mut frame = Vec::with_capacity(payload.len() + HEAD);
    frame.extend((payload.len() as u32).to_le_bytes());
    frame.extend(crc32fast::hash(&payload).to_le_bytes());
    frame.extend(payload);
    frame
}

/// The bytes of a ledger that begins.
#[must_use]
pub(crate) fn first_bytes(begin: &Begin) -> Vec<u8> {
    [&MAGIC[..], &frame(&Entry::Begin(begin.clone()))].concat()
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
    let mut rest = bytes.strip_prefix(MAGIC).ok_or(LedgerError::NotALedger)?;
    let mut state = None::<State>;
    loop {
        let at = (bytes.len() - rest.len()) as u64;
        let Some((entry, length)) = next(rest) else {
            // A whole entry behind an incomplete one is no torn end.
            if (1..rest.len()).any(|start| next(&rest[start..]).is_some()) {
                return Err(LedgerError::Damaged { at });
            }
            let state = state.ok_or(LedgerError::NotALedger)?;
            return Ok(Replayed { state, whole_bytes: at });
        };
        let taken = match (&mut state, entry) {
            (None, Entry::Begin(begin)) => {
                state = State::begin(begin);
                state.is_some()
            }
            (Some(state), entry) => state.apply(&entry),
            (None, _) => false,
        };
        if !taken {
            return Err(LedgerError::OutOfOrder { at });
        }
        rest = &rest[length..];
    }
}

/// The entry that begins here, with its length.
fn next(bytes: &[u8]) -> Option<(Entry, usize)> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if length == 0 || length > MOST {
        return None;
    }
    let payload = rest.get(..length as usize)?;
    if crc32fast::hash(payload) != sum {
        return None;
    }
    Some((Entry::from_bytes(payload)?, HEAD + length as usize))
}

/// Whether these bytes are one whole entry.
pub(crate) fn is_entry(bytes: &[u8]) -> bool {
    next(bytes).is_some_and(|(_, length)| length == bytes.len())
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
        if self.state.apply(entry) { Ok(()) } else { Err(LedgerError::OutOfOrder { at: 0 }) }
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
pub struct FileKeep {
    file: File,
    path: PathBuf,
}

impl FileKeep {
    /// Makes a ledger, which must not exist.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path, begin: &Begin) -> Result<Self, LedgerError> {
        let fail = |source| LedgerError::Io { path: path.to_owned(), source };
        let mut file = File::options().read(true).write(true).create_new(true).open(path).map_err(fail)?;
        lock(&file)?;
        file.write_all(&first_bytes(begin)).and_then(|()| file.sync_all()).map_err(fail)?;
        sync_directory(path);
        Ok(Self { file, path: path.to_owned() })
    }

    /// Opens a ledger to go on with it.
    ///
    /// # Errors
    /// The system's; where another process has it; where it is damaged.
    pub fn open(path: &Path) -> Result<(Self, State), LedgerError> {
        let fail = |source| LedgerError::Io { path: path.to_owned(), source };
        let mut file = File::options().read(true).write(true).open(path).map_err(fail)?;
        lock(&file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail)?;
        let Replayed { state, whole_bytes } = replay(&bytes)?;
        if whole_bytes < bytes.len() as u64 {
            file.set_len(whole_bytes).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(whole_bytes)).map_err(fail)?;
        Ok((Self { file, path: path.to_owned() }, state))
    }

    /// Reads a ledger that another process may be writing, and changes nothing.
    ///
    /// # Errors
    /// The system's, or where it is damaged.
    pub fn look(path: &Path) -> Result<State, LedgerError> {
        let bytes = std::fs::read(path).map_err(|source| LedgerError::Io { path: path.to_owned(), source })?;
        Ok(replay(&bytes)?.state)
    }
}

impl Keep for FileKeep {
    fn append(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let fail = |source| LedgerError::Io { path: self.path.clone(), source };
        self.file.write_all(&frame(entry)).and_then(|()| self.file.sync_data()).map_err(fail)
    }
}

fn lock(file: &File) -> Result<(), LedgerError> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(LedgerError::InUse),
        // A file system without locks.
        Err(std::fs::TryLockError::Error(_)) | Ok(()) => Ok(()),
    }
}

/// The name of a new file survives a power cut only when its directory is synced.
fn sync_directory(path: &Path) {
    if let Some(directory) = path.parent().and_then(|directory| File::open(directory).ok()) {
        let _ = directory.sync_all();
    }
}
