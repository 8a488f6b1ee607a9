//! The journal: what stood in a block before the probe wrote there, on another disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::stamp::Salt;

/// First bytes of a journal; the digit is the version of the format.
pub(crate) const MAGIC: &[u8; 16] = b"assay-undo-log-1";
/// Bytes of a record's checksum: the first half of a BLAKE3 hash.
pub(crate) const CHECKSUM: usize = 16;
/// A saved part, byte for byte.
pub(crate) const DATA: u8 = 1;
/// A saved part of one repeated byte.
pub(crate) const FILL: u8 = 2;
/// Everything before this was put back and read back.
pub(crate) const RESTORED: u8 = 3;

/// Which device a journal belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Announced size in bytes.
    pub bytes: u64,
    /// Path or name by which it was opened; for people.
    pub name: String,
    /// Serial number, where the device tells one.
    pub serial: Option<String>,
}

impl Identity {
    /// Whether `other` may be the same device: the size is equal, and so is the serial number where
    /// both are known. Names change when a device is plugged in again.
    #[must_use]
    pub fn may_be(&self, other: &Self) -> bool {
        let serial = match (&self.serial, &other.serial) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => true,
        };
        self.bytes == other.bytes && serial
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) device: Identity,
    pub(crate) salt: Salt,
}

/// Why a journal cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("{path}: cannot write or read the journal ({source}); choose another place for it")]
    Io {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// It would be lost with the device.
    #[error("{path}: lies on the device under test; put the journal on another disk")]
    SameDevice {
        /// The journal.
        path: String,
    },
    /// The file is not a journal, or its beginning is damaged.
    #[error("{path}: is no journal of a probe; give the file that the probe named")]
    NotAJournal {
        /// The file.
        path: String,
    },
    /// Made for another device.
    #[error("{path}: belongs to {made_for}, another device; plug that one in")]
    OtherDevice {
        /// The journal.
        path: String,
        /// The device that it was made for.
        made_for: String,
    },
}

pub(crate) fn io_error(path: &Path, source: io::Error) -> JournalError {
    JournalError::Io { path: path.display().to_string(), source }
}

/// Append-only file of saved blocks. [`Journal::sync`] returns when they survive a crash.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: io::BufWriter<File>,
    salt: Salt,
    device: Identity,
}

impl Journal {
    /// A new journal at `path`, readable by its owner alone, since it holds what the device held.
    ///
    /// # Errors
    /// Where a file is already there (an earlier probe was not restored), or cannot be made.
    pub fn create(path: &Path, device: &Identity, salt: Salt) -> Result<Self, JournalError> {
        let fail = |error| io_error(path, error);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(fail)?;
        let header = Header { device: device.clone(), salt };
        let text = serde_json::to_vec(&header).map_err(|error| fail(error.into()))?;
        let mut start = MAGIC.to_vec();
        start.extend_from_slice(&(text.len() as u32).to_le_bytes());
        start.extend_from_slice(&text);
        let sum = checksum(&start);
        start.extend_from_slice(&sum);
        let mut journal = Self { path: path.to_owned(), file: io::BufWriter::new(file), salt, device: device.clone() };
        journal.file.write_all(&start).map_err(fail)?;
        journal.sync()?;
        // The name itself has to survive too (fsync(2), notes).
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(parent).and_then(|directory| directory.sync_all()).map_err(fail)?;
        Ok(journal)
    }

    /// Refuses a `path` that lies on the block device `under_test` itself. Stacked and partitioned
    /// devices need no test here: they are in use then, and the guards refuse them.
    ///
    /// # Errors
    /// [`JournalError::SameDevice`]; or where the paths cannot be looked at.
    pub fn refuse_same_device(path: &Path, under_test: &Path) -> Result<(), JournalError> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let home = std::fs::metadata(parent).map_err(|error| io_error(parent, error))?;
        let device = std::fs::metadata(under_test).map_err(|error| io_error(under_test, error))?;
        let itself = std::fs::metadata(path).is_ok_and(|there| there.rdev() != 0 && there.rdev() == device.rdev());
        if itself || (device.rdev() != 0 && home.dev() == device.rdev()) {
            return Err(JournalError::SameDevice { path: path.display().to_string() });
        }
        Ok(())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it lies in memory (tmpfs, ramfs) and so survives a killed process, but no power cut.
    /// False where that cannot be told.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        // kernel include/uapi/linux/magic.h: TMPFS_MAGIC, RAMFS_MAGIC.
        rustix::fs::fstatfs(self.file.get_ref())
            .is_ok_and(|stat| [0x0102_1994, 0x8584_58f6].contains(&(stat.f_type as u64 & 0xffff_ffff)))
    }

    pub(crate) fn salt(&self) -> Salt {
        self.salt
    }

    pub(crate) fn device(&self) -> &Identity {
        &self.device
    }

    /// Adds what stands at `offset`; durable only after [`Self::sync`].
    pub(crate) fn save(&mut self, offset: u64, content: &[u8]) -> Result<(), JournalError> {
        let first = content.first().copied().unwrap_or(0);
        if content.iter().all(|byte| *byte == first) {
            self.append(FILL, offset, content.len() as u64, &[first])
        } else {
            self.append(DATA, offset, content.len() as u64, content)
        }
    }

    pub(crate) fn mark_restored(&mut self) -> Result<(), JournalError> {
        self.append(RESTORED, 0, 0, &[])?;
        self.sync()
    }

    fn append(&mut self, kind: u8, offset: u64, length: u64, payload: &[u8]) -> Result<(), JournalError> {
        let head = record_head(kind, offset, length);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&head).update(payload);
        let sum = hasher.finalize();
        let parts: [&[u8]; 3] = [&head, payload, &sum.as_bytes()[..CHECKSUM]];
        for part in parts {
            self.file.write_all(part).map_err(|error| io_error(&self.path, error))?;
        }
        Ok(())
    }

    /// Returns when everything that was saved is on its disk.
    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        self.file.flush().and_then(|()| self.file.get_ref().sync_data()).map_err(|error| io_error(&self.path, error))
    }
}

/// Kind, offset and length of a record.
pub(crate) fn record_head(kind: u8, offset: u64, length: u64) -> [u8; 17] {
    let mut head = [0; 17];
    head[0] = kind;
    head[1..9].copy_from_slice(&offset.to_le_bytes());
    head[9..17].copy_from_slice(&length.to_le_bytes());
    head
}

pub(crate) fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..CHECKSUM]);
    sum
}
