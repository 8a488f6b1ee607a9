//! Writes the files of the spool and finds them again.
//!
//! No file is ever changed: a newer state of a record is a new file, and the older one is removed when the new one is
//! durable. So a process that takes a file in may remove exactly that file, while the run continues.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_core::record::Record;
use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::files::Files;
use crate::error::StoreError;
use crate::id::{is_id, random};
use crate::owner::Owner;
use crate::sqlite::system_error;
use crate::store::RunState;
use crate::{document, system};

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
