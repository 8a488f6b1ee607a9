//! The log of a test: frames with a checksum, appended and synced. What a kill or a power cut left incomplete at its end
//! is cut off; damage before the end is refused.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::entry::Entry;
use crate::state::State;

/// The first bytes of a log.
const MAGIC: &[u8; 16] = b"assay endurance\n";
/// Length and checksum before each entry.
const HEAD: usize = 8;
/// More bytes than any entry has: 50,000 runs of failures take 1 MB.
const MOST: u32 = 2 << 20;
/// Bytes that are looked through for an entry behind a damaged one, and most bytes whose checksum is taken there. Where that
/// is not enough, the log counts as damaged, and nothing is cut off.
const BEHIND: usize = 2 * MOST as usize;
const SUMMED: usize = 64 << 20;

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system's error.
    #[error("{path}: {source}")]
    Io {
        /// The log.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Something wrote here that was no test of endurance.
    #[error("no log of a test of endurance")]
    NotALog,
    /// An entry is damaged, and others follow it.
    #[error("the log is damaged at byte {at}, before its end; copy it before anything else")]
    Damaged {
        /// Where.
        at: u64,
    },
    /// An entry does not follow from those before it.
    #[error("the entry at byte {at} of the log does not follow from those before it")]
    OutOfOrder {
        /// Where.
        at: u64,
    },
    /// Another process has it open.
    #[error("another process is at work on this test")]
    InUse,
}

/// Where entries are kept. Returns when the entry would survive a power cut.
pub trait Keep {
    /// Appends an entry.
    ///
    /// # Errors
    /// Where it could not be kept.
    fn append(&mut self, entry: &Entry) -> Result<(), LogError>;
}

/// The bytes of an entry in a log.
#[must_use]
pub fn frame(entry: &Entry) -> Vec<u8> {
    let payload = entry.to_bytes();
    let mut frame = Vec::with_capacity(payload.len() + HEAD);
    frame.extend((payload.len() as u32).to_le_bytes());
    frame.extend(crc32fast::hash(&payload).to_le_bytes());
    frame.extend(payload);
    frame
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
pub fn replay(reader: &mut impl Read, length: u64) -> Result<Replayed, LogError> {
    replay_each(reader, length, &mut |_| {})
}

fn replay_each(reader: &mut impl Read, length: u64, each: &mut dyn FnMut(&Entry)) -> Result<Replayed, LogError> {
    let mut magic = [0; MAGIC.len()];
    if length < MAGIC.len() as u64 {
        return Ok(Replayed { state: None, whole_bytes: 0 });
    }
    reader.read_exact(&mut magic).map_err(|_| LogError::NotALog)?;
    if &magic != MAGIC {
        // A power cut leaves zeros where nothing was written out yet.
        let empty = magic == [0; MAGIC.len()] && rest(reader).iter().all(|byte| *byte == 0);
        return if empty { Ok(Replayed { state: None, whole_bytes: 0 }) } else { Err(LogError::NotALog) };
    }
    let (mut state, mut at) = (None::<State>, MAGIC.len() as u64);
    loop {
        match next(reader, length - at) {
            Next::End => return Ok(Replayed { state, whole_bytes: at }),
            Next::Torn(bytes) => {
                return if holds_frame(&bytes) {
                    Err(LogError::Damaged { at })
                } else {
                    Ok(Replayed { state, whole_bytes: at })
                };
            }
            Next::Entry(entry, bytes) => {
                each(&entry);
                let taken = match (&mut state, entry) {
                    (None, Entry::Begin(begin)) => {
                        state = State::begin(begin);
                        state.is_some()
                    }
                    (Some(state), entry) => state.apply(&entry),
                    (None, _) => false,
                };
                if !taken {
                    return Err(LogError::OutOfOrder { at });
                }
                at += bytes;
            }
        }
    }
}

enum Next {
    End,
    Entry(Entry, u64),
    /// What stands from there on.
    Torn(Vec<u8>),
}

fn next(reader: &mut impl Read, left: u64) -> Next {
    if left == 0 {
        return Next::End;
    }
    let mut head = [0; HEAD];
    if left < HEAD as u64 || reader.read_exact(&mut head).is_err() {
        return Next::Torn(Vec::new());
    }
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let torn = |payload: Vec<u8>, reader: &mut dyn Read| {
        let mut bytes = [&head[..], &payload].concat();
        bytes.extend(rest(reader));
        Next::Torn(bytes)
    };
    if length == 0 || length > MOST || u64::from(length) + HEAD as u64 > left {
        return torn(Vec::new(), reader);
    }
    let mut payload = vec![0; length as usize];
    if reader.read_exact(&mut payload).is_err() {
        return Next::Torn(Vec::new());
    }
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    match Entry::from_bytes(&payload).filter(|_| crc32fast::hash(&payload) == sum) {
        Some(entry) => Next::Entry(entry, u64::from(length) + HEAD as u64),
        None => torn(payload, reader),
    }
}

/// Whether a whole entry begins behind the start of these bytes, or may.
fn holds_frame(bytes: &[u8]) -> bool {
    let mut left = SUMMED;
    let may = |start: usize| {
        let Some((head, rest)) = bytes[start..].split_first_chunk::<HEAD>() else { return false };
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let payload = rest.get(..length).filter(|payload| matches!(payload.first(), Some(1..=11)));
        payload.is_some_and(|payload| {
            left = left.saturating_sub(payload.len());
            left == 0 || crc32fast::hash(payload) == sum
        })
    };
    bytes.len() >= BEHIND || (1..bytes.len()).any(may)
}

fn rest(reader: &mut (impl Read + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is not there.
    let _ = reader.take(BEHIND as u64).read_to_end(&mut bytes);
    bytes
}

/// A log in a file, held by this process alone.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Makes a log, which must not exist.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path, begin: &Entry) -> Result<Self, LogError> {
        let fail = |source| LogError::Io { path: path.to_owned(), source };
        let mut file = File::options().read(true).write(true).create_new(true).open(path).map_err(fail)?;
        lock(&file)?;
        let bytes = [&MAGIC[..], &frame(begin)].concat();
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(fail)?;
        sync_directory(path);
        Ok(Self { file, path: path.to_owned() })
    }

    /// Opens a log to go on with it.
    ///
    /// # Errors
    /// The system's; where another process has it; where it is damaged or has no whole first entry.
    pub fn open(path: &Path) -> Result<(Self, State), LogError> {
        let fail = |source| LogError::Io { path: path.to_owned(), source };
        let mut file = File::options().read(true).write(true).open(path).map_err(fail)?;
        lock(&file)?;
        let length = file.metadata().map_err(fail)?.len();
        let replayed = replay(&mut BufReader::new(&file), length)?;
        let state = replayed.state.ok_or(LogError::NotALog)?;
        if replayed.whole_bytes < length {
            file.set_len(replayed.whole_bytes).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(replayed.whole_bytes)).map_err(fail)?;
        Ok((Self { file, path: path.to_owned() }, state))
    }

    /// Reads a log that another process may be writing, and changes nothing.
    ///
    /// # Errors
    /// The system's, or where it is damaged.
    pub fn look(path: &Path) -> Result<State, LogError> {
        Self::look_at_each(path, &mut |_| {})
    }

    /// The same, and shows each entry.
    ///
    /// # Errors
    /// The system's, or where it is damaged.
    pub fn look_at_each(path: &Path, each: &mut dyn FnMut(&Entry)) -> Result<State, LogError> {
        let fail = |source| LogError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        replay_each(&mut BufReader::new(file), length, each)?.state.ok_or(LogError::NotALog)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Keep for Log {
    fn append(&mut self, entry: &Entry) -> Result<(), LogError> {
        let fail = |source| LogError::Io { path: self.path.clone(), source };
        self.file.write_all(&frame(entry)).and_then(|()| self.file.sync_data()).map_err(fail)
    }
}

fn lock(file: &File) -> Result<(), LogError> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(LogError::InUse),
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
