//! Writes the files of the spool and finds them again; and keeps the record of a run, in the store or, while the store cannot
//! take it, in the spool.
//!
//! No file is ever changed: a newer state of a record is a new file, and the older one is removed when the new one is
//! durable. So a process that takes a file in may remove exactly that file, while the run continues.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::files::Files;
use crate::document::{self, Owner, is_id, random};
use crate::error::StoreError;
use crate::sqlite::{SqliteStore, system_error};
use crate::store::{RunState, Store};
use crate::system;

/// Name of the directory within the data directory.
const NAME: &str = "spool";
/// Suffix of complete files, and of files that are being written.
const WHOLE: &str = ".spool";
const PART: &str = ".part";
/// Most names that are read; a record has one file, and temporarily two.
const MOST_NAMES: usize = 10_000;
/// Largest file that is read: the largest document with its header.
const LARGEST_FILE: u64 = (256 << 20) + (64 << 10);
/// A partial file that was not written to for this long belongs to a killed run.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// Files with records that the store cannot take at the moment.
#[derive(Debug)]
pub struct Spool<F = Disk> {
    path: PathBuf,
    files: F,
    /// The newest file of each record that this spool wrote.
    written: BTreeMap<String, String>,
}

impl Spool {
    /// The spool in a data directory; creates nothing yet.
    #[must_use]
    pub fn in_directory(data: &Path) -> Self {
        let path = data.join(NAME);
        Self::over(&path, Disk::at(&path))
    }
}

impl<F: Files> Spool<F> {
    /// A spool over other files; `path` is shown to people.
    pub fn over(path: &Path, files: F) -> Self {
        Self { path: path.to_owned(), files, written: BTreeMap::new() }
    }

    /// The files of the spool.
    pub fn files(&mut self) -> &mut F {
        &mut self.files
    }

    /// Path of the spool.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a record in place of what this spool kept of it before. When this returns, the record survives a power
    /// cut.
    ///
    /// # Errors
    /// [`StoreError::NotARecord`], or the system's; what was kept before stays.
    pub fn put(&mut self, record: &Record, run: RunState<'_>) -> Result<(), StoreError> {
        let content = SpoolEntry::encode(record, run)?;
        let mut chance = [0; 8];
        random(&mut chance).map_err(|error| self.explain(error))?;
        let name = format!("{}-{:016x}", record.id, u64::from_le_bytes(chance));
        let (part, whole) = (format!("{name}{PART}"), format!("{name}{WHOLE}"));
        self.write(&part, &whole, &content).map_err(|error| {
            // It may have either name.
            let _ = self.files.remove(&part);
            let _ = self.files.remove(&whole);
            self.explain(error)
        })?;
        if let Some(before) = self.written.insert(record.id.clone(), whole) {
            // If it remains, the newer one wins.
            let _ = self.files.remove(&before);
        }
        Ok(())
    }

    fn write(&mut self, part: &str, whole: &str, content: &[u8]) -> io::Result<()> {
        self.files.make_directory()?;
        let mut file = self.files.create(part)?;
        self.files.write(&mut file, content)?;
        self.files.sync(&mut file)?;
        self.files.rename(part, whole)?;
        self.files.sync_directory()
    }

    /// Removes what this spool kept of a record, since the store has it now.
    pub fn forget(&mut self, id: &str) {
        if let Some(name) = self.written.remove(id) {
            let _ = self.files.remove(&name);
        }
    }

    /// Whether this spool keeps a state of the record that the store does not have.
    #[must_use]
    pub fn keeps(&self, id: &str) -> bool {
        self.written.contains_key(id)
    }

    /// Whether the spool has files for the store to take in.
    pub fn waits(&mut self) -> bool {
        self.files.list(MOST_NAMES).is_ok_and(|names| names.iter().any(|name| is_spooled(name)))
    }

    /// Names of complete files. Removes abandoned partial files.
    pub(crate) fn waiting(&mut self) -> Result<Vec<String>, StoreError> {
        let names = self.files.list(MOST_NAMES).map_err(|error| self.explain(error))?;
        let (waiting, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| is_spooled(name));
        for name in others.iter().filter(|name| is_named(name, PART)) {
            if self.files.age(name).is_ok_and(|age| age > FORGOTTEN) {
                let _ = self.files.remove(name);
            }
        }
        Ok(waiting)
    }

    /// Content of a file; an unusable file is refused with the reason.
    pub(crate) fn read(&mut self, name: &str) -> Result<SpoolEntry, String> {
        let bytes = self.files.read(name, LARGEST_FILE).map_err(|error| error.to_string())?;
        let entry = SpoolEntry::decode(bytes)?;
        if name.strip_prefix(entry.record.id.as_str()).is_some_and(|rest| rest.starts_with('-')) {
            Ok(entry)
        } else {
            Err("its name is not that of its record".to_owned())
        }
    }

    /// Removes a file after the store has taken it in.
    pub(crate) fn taken(&mut self, name: &str) -> Result<(), StoreError> {
        self.files.remove(name).map_err(|error| self.explain(error))
    }

    fn explain(&self, error: io::Error) -> StoreError {
        system_error("write", &self.path, error)
    }
}

/// Whether the name belongs to a complete file: `ID-16 digits.spool`.
fn is_spooled(name: &str) -> bool {
    is_named(name, WHOLE)
}

fn is_named(name: &str, end: &str) -> bool {
    let Some((id, chance)) = name.strip_suffix(end).and_then(|name| name.rsplit_once('-')) else { return false };
    is_id(id) && chance.len() == 16 && chance.bytes().all(|b| b.is_ascii_hexdigit())
}

// Format of a spool file: a line with the name of the format and the BLAKE3 hash of the rest, a line of JSON with the
// owner of the run, and the document.

const FORMAT: &str = "assay-spool-1";

/// What the store keeps about a run in progress.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The process that makes the record; null if the run is over.
    owner: Option<Owner>,
    /// Bytes of the path of the directory with the test files.
    scratch: Option<Vec<u8>>,
}

/// A record from the spool.
#[derive(Debug)]
pub(crate) struct SpoolEntry {
    pub(crate) record: Record,
    pub(crate) document: String,
    owner: Option<Owner>,
    scratch: Option<PathBuf>,
}

impl SpoolEntry {
    /// State of the run.
    pub(crate) fn run(&self) -> RunState<'_> {
        match &self.owner {
            Some(owner) => RunState::Running { owner, scratch: self.scratch.as_deref() },
            None => RunState::Finished,
        }
    }

    /// Encodes the bytes of a file.
    pub(crate) fn encode(record: &Record, run: RunState<'_>) -> Result<Vec<u8>, StoreError> {
        let no = |reason| StoreError::NotARecord { reason };
        // Refuses what the store would refuse.
        document::Columns::from_record(record)?;
        let header = match run {
            RunState::Running { owner, scratch } => {
                Header { owner: Some(owner.clone()), scratch: scratch.map(system::bytes_of) }
            }
            RunState::Finished => Header { owner: None, scratch: None },
        };
        let header = document::to_json(&header).map_err(no)?;
        let json = document::to_json(record).map_err(no)?;
        document::bounded(&json)?;
        let body = format!("{header}\n{json}");
        Ok(format!("{FORMAT} {}\n{body}", blake3::hash(body.as_bytes()).to_hex()).into_bytes())
    }

    /// Decodes a file. A torn or changed file, or one of a newer version, is refused with the reason.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
        let (first, body) = text.split_once('\n').ok_or("it has no second line")?;
        let sum =
            first.strip_prefix(FORMAT).and_then(|rest| rest.strip_prefix(' ')).ok_or("it is of another format")?;
        if sum != blake3::hash(body.as_bytes()).to_hex().as_str() {
            return Err("it is not whole".to_owned());
        }
        let (header, json) = body.split_once('\n').ok_or("it has no document")?;
        let header: Header = serde_json::from_str(header).map_err(|error| error.to_string())?;
        let record = document::receive(json).map_err(|error| error.to_string())?;
        Ok(Self {
            record,
            document: json.to_owned(),
            owner: header.owner,
            scratch: header.scratch.map(system::path_of),
        })
    }
}

/// A running repeat is spooled again when this share of it, as a divisor, is new since the last file. Each file holds
/// all of it, so the sum of all files is at most 17 times the last one.
const NEW_SHARE: u64 = 16;

/// Where a record is now.
#[derive(Debug)]
pub enum Kept {
    /// In the store.
    Stored,
    /// In the spool, because of the store's error; the next command takes it in.
    Spooled(StoreError),
    /// Nowhere: the error of the store, and the error of the spool.
    Nowhere(StoreError, StoreError),
}

/// The store and the spool of one run.
#[derive(Debug)]
pub struct Keeper<F = Disk> {
    store: Option<SqliteStore>,
    spool: Spool<F>,
    /// State of the spool: number of finished repeats, and the times of the first and the last file.
    spooled: Option<Spooled>,
}

#[derive(Debug, Clone, Copy)]
struct Spooled {
    over: usize,
    first_ns: u64,
    last_ns: u64,
}

impl Keeper {
    /// Opens the store in `dir`. A locked store is opened later, and the spool takes the record until then.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], except for [`StoreError::Locked`].
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let store = match SqliteStore::open(dir) {
            Ok(store) => Some(store),
            Err(StoreError::Locked { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self::with(store, Spool::in_directory(dir)))
    }
}

impl<F: Files> Keeper<F> {
    /// With a store and a spool; `None` if the store could not be opened.
    pub fn with(store: Option<SqliteStore>, spool: Spool<F>) -> Self {
        Self { store, spool, spooled: None }
    }

    /// The store, if it could be opened.
    pub fn store(&mut self) -> Option<&mut SqliteStore> {
        self.store.as_mut()
    }

    /// Path of the spool.
    #[must_use]
    pub fn spool(&self) -> &Path {
        self.spool.path()
    }

    /// The files of the spool.
    pub fn spool_files(&mut self) -> &mut F {
        self.spool.files()
    }

    /// Removes the spooled state of a record that is no longer needed.
    pub fn drop_spooled(&mut self, id: &str) {
        self.spool.forget(id);
        self.spooled = None;
    }

    /// Keeps a record. Waits at most `busy_timeout` for other processes at the store.
    pub fn keep(&mut self, record: &Record, run: RunState<'_>, busy_timeout: Duration) -> Kept {
        let refused = match self.save(record, run, busy_timeout) {
            Ok(()) => {
                self.drop_spooled(&record.id);
                return Kept::Stored;
            }
            Err(error) => error,
        };
        if self.can_wait(record) {
            return Kept::Spooled(refused);
        }
        match self.spool.put(record, run) {
            Ok(()) => {
                let last_ns = crate::document::progress(record).0;
                let first_ns = self.spooled.map_or(last_ns, |spooled| spooled.first_ns);
                self.spooled = Some(Spooled { over: repeats_over(record), first_ns, last_ns });
                Kept::Spooled(refused)
            }
            Err(error) => Kept::Nowhere(refused, error),
        }
    }

    fn save(&mut self, record: &Record, run: RunState<'_>, busy_timeout: Duration) -> Result<(), StoreError> {
        if self.store.is_none() {
            let dir = self.spool.path().parent().unwrap_or(Path::new("."));
            self.store = Some(SqliteStore::open_within(dir, busy_timeout)?);
        }
        let Some(store) = &mut self.store else { return Ok(()) };
        store.set_busy_timeout(busy_timeout)?;
        store.save(record, run)
    }

    /// Whether the spool already has almost all of the running repeat.
    fn can_wait(&self, record: &Record) -> bool {
        let Some(Spooled { over, first_ns, last_ns }) = self.spooled else { return false };
        let now = crate::document::progress(record).0;
        self.spool.keeps(&record.id)
            && record.outcome == Outcome::Running
            && repeats(record).any(|outcome| *outcome == Outcome::Running)
            && repeats_over(record) == over
            && now.saturating_sub(last_ns) < now.saturating_sub(first_ns) / NEW_SHARE
    }
}

fn repeats(record: &Record) -> impl Iterator<Item = &Outcome> {
    record.measurements.iter().flat_map(|m| &m.repeats).map(|repeat| &repeat.outcome)
}

fn repeats_over(record: &Record) -> usize {
    repeats(record).filter(|outcome| **outcome != Outcome::Running).count()
}
