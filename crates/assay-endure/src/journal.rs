//! Entries in a file, appended and synced, each with its length and checksum. What a kill or a power cut left incomplete at
//! the end is cut off; damage before the end is refused.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Length and checksum before each entry.
const HEAD: usize = 8;
/// Most bytes whose checksum is taken in search of an entry behind a damaged one. Where that is not enough, the file counts as
/// damaged, and nothing is cut off.
const SUMMED: usize = 64 << 20;

/// What a journal holds.
pub trait Entries: Sized {
    /// The first bytes of the file.
    const MAGIC: &'static [u8; 16];
    /// More bytes than any entry has.
    const MOST: u32;
    /// The first byte of an entry is its kind, from 1 to this.
    const KINDS: u8;

    /// The bytes of an entry.
    fn to_bytes(&self) -> Vec<u8>;

    /// From its bytes; `None` where they are no entry.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system's error.
    #[error("{path}: {source}")]
    Io {
        /// The journal.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Another program wrote here, or there is no whole first entry.
    #[error("this file is not of such a test")]
    NotOne,
    /// An entry is damaged, and others follow it.
    #[error("it is damaged at byte {at}, before its end; copy it before anything else")]
    Damaged {
        /// Where.
        at: u64,
    },
    /// An entry does not follow from those before it.
    #[error("the entry at byte {at} does not follow from those before it")]
    OutOfOrder {
        /// Where.
        at: u64,
    },
    /// Another process has it open.
    #[error("another process is at work on this test")]
    InUse,
}

// The bytes.

/// The bytes of an entry in a journal.
#[must_use]
pub fn frame<E: Entries>(entry: &E) -> Vec<u8> {
    let payload = entry.to_bytes();
    let mut frame = Vec::with_capacity(payload.len() + HEAD);
    frame.extend((payload.len() as u32).to_le_bytes());
    frame.extend(crc32fast::hash(&payload).to_le_bytes());
    frame.extend(payload);
    frame
}

/// The bytes of a journal that begins.
#[must_use]
pub fn first_bytes<E: Entries>(entry: &E) -> Vec<u8> {
    [&E::MAGIC[..], &frame(entry)].concat()
}

/// Whether these bytes are one whole entry.
#[must_use]
pub fn is_entry<E: Entries>(bytes: &[u8]) -> bool {
    matches!(next::<E>(&mut &*bytes, bytes.len() as u64), Next::Entry(_, length) if length == bytes.len() as u64)
}

/// Gives the entries of a journal of `length` bytes to `take`, which says whether one follows from those before it. Returns the
/// bytes up to the end of the last whole entry.
///
/// # Errors
/// Where it is no journal of these entries, or damaged before its end.
pub fn replay<E: Entries>(
    reader: &mut impl Read,
    length: u64,
    take: &mut dyn FnMut(E) -> bool,
) -> Result<u64, JournalError> {
    let mut magic = [0; 16];
    if length < magic.len() as u64 {
        return Ok(0);
    }
    reader.read_exact(&mut magic).map_err(|_| JournalError::NotOne)?;
    if &magic != E::MAGIC {
        // A power cut leaves zeros where nothing was written out yet.
        let empty = magic == [0; 16] && rest::<E>(reader).iter().all(|byte| *byte == 0);
        return if empty { Ok(0) } else { Err(JournalError::NotOne) };
    }
    let mut at = magic.len() as u64;
    loop {
        match next::<E>(reader, length - at) {
            Next::End => return Ok(at),
            Next::Torn(bytes) if holds_frame::<E>(&bytes) => return Err(JournalError::Damaged { at }),
            Next::Torn(_) => return Ok(at),
            Next::Entry(entry, bytes) => {
                if !take(entry) {
                    return Err(JournalError::OutOfOrder { at });
                }
                at += bytes;
            }
        }
    }
}

enum Next<E> {
    End,
    Entry(E, u64),
    /// What stands from there on.
    Torn(Vec<u8>),
}

fn next<E: Entries>(reader: &mut impl Read, left: u64) -> Next<E> {
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
        bytes.extend(rest::<E>(reader));
        Next::Torn(bytes)
    };
    if length == 0 || length > E::MOST || u64::from(length) + HEAD as u64 > left {
        return torn(Vec::new(), reader);
    }
    let mut payload = vec![0; length as usize];
    if reader.read_exact(&mut payload).is_err() {
        return Next::Torn(Vec::new());
    }
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    match E::from_bytes(&payload).filter(|_| crc32fast::hash(&payload) == sum) {
        Some(entry) => Next::Entry(entry, u64::from(length) + HEAD as u64),
        None => torn(payload, reader),
    }
}

/// Whether a whole entry begins behind the start of these bytes, or may.
fn holds_frame<E: Entries>(bytes: &[u8]) -> bool {
    let mut left = SUMMED;
    let may = |start: usize| {
        let Some((head, rest)) = bytes[start..].split_first_chunk::<HEAD>() else { return false };
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let is_kind = |kind: &u8| (1..=E::KINDS).contains(kind);
        let payload = rest.get(..length).filter(|payload| payload.first().is_some_and(is_kind));
        payload.is_some_and(|payload| {
            left = left.saturating_sub(payload.len());
            left == 0 || crc32fast::hash(payload) == sum
        })
    };
    bytes.len() >= behind::<E>() || (1..bytes.len()).any(may)
}

/// Bytes that are looked through for an entry behind a damaged one.
const fn behind<E: Entries>() -> usize {
    2 * E::MOST as usize
}

fn rest<E: Entries>(reader: &mut (impl Read + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is not there.
    let _ = reader.take(behind::<E>() as u64).read_to_end(&mut bytes);
    bytes
}

/// An entry of a kind whose content is JSON.
#[must_use]
pub fn json(kind: u8, value: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![kind];
    // This fails only for maps whose keys are not text; these types have none.
    bytes.extend(serde_json::to_vec(value).unwrap_or_default());
    bytes
}

/// LEB128: seven bits a byte, the lowest first; the highest bit says that another follows.
pub fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads what [`put`] wrote; `None` where it is incomplete or has more than 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

// The file.

/// A journal in a file, held by this process alone.
#[derive(Debug)]
pub struct Journal<E> {
    file: File,
    path: PathBuf,
    entries: PhantomData<fn(E)>,
}

impl<E: Entries> Journal<E> {
    /// Makes a journal, which must not exist.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path, first: &E) -> Result<Self, JournalError> {
        let fail = |source| JournalError::Io { path: path.to_owned(), source };
        let mut file = File::options().read(true).write(true).create_new(true).open(path).map_err(fail)?;
        lock(&file)?;
        file.write_all(&first_bytes(first)).and_then(|()| file.sync_all()).map_err(fail)?;
        sync_directory(path);
        Ok(Self { file, path: path.to_owned(), entries: PhantomData })
    }

    /// Opens a journal to go on with it; what is incomplete at its end is cut off.
    ///
    /// # Errors
    /// The system's; where another process has it; where it is damaged or has no whole first entry.
    pub fn open(path: &Path, take: &mut dyn FnMut(E) -> bool) -> Result<Self, JournalError> {
        let fail = |source| JournalError::Io { path: path.to_owned(), source };
        let mut file = File::options().read(true).write(true).open(path).map_err(fail)?;
        lock(&file)?;
        let length = file.metadata().map_err(fail)?.len();
        let whole = begun::<E>(replay(&mut BufReader::new(&file), length, take)?)?;
        if whole < length {
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(whole)).map_err(fail)?;
        Ok(Self { file, path: path.to_owned(), entries: PhantomData })
    }

    /// Reads a journal that another process may be writing, and changes nothing.
    ///
    /// # Errors
    /// The system's, or where it is damaged or has no whole first entry.
    pub fn look(path: &Path, take: &mut dyn FnMut(E) -> bool) -> Result<(), JournalError> {
        let fail = |source| JournalError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        begun::<E>(replay(&mut BufReader::new(file), length, take)?).map(drop)
    }

    /// Appends an entry. Returns when it would survive a power cut.
    ///
    /// # Errors
    /// The system's.
    pub fn append(&mut self, entry: &E) -> Result<(), JournalError> {
        let fail = |source| JournalError::Io { path: self.path.clone(), source };
        self.file.write_all(&frame(entry)).and_then(|()| self.file.sync_data()).map_err(fail)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The whole bytes of a journal with an entry.
fn begun<E: Entries>(whole: u64) -> Result<u64, JournalError> {
    if whole > E::MAGIC.len() as u64 { Ok(whole) } else { Err(JournalError::NotOne) }
}

fn lock(file: &File) -> Result<(), JournalError> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(JournalError::InUse),
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
