//! Writing a journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::units::Bytes;
use assay_core::verification::SECTOR_BYTES;
use assay_device::{StorageBelow, Sysroot};

use super::disk::{Disk, DiskFile, HeldDisk, SystemDisk, parent};
use super::error::{JournalError, cannot_create, cannot_read, cannot_write, shown};
use super::format::{
    Binding, COMMIT, DATA, FILL, Head, Header, Identity, MAGIC, MOST_ATTACHMENT, MOST_BATCH, PART, PLACE, RESTORED, SUM,
};
use crate::probe::stamp::Salt;
use crate::sys;

/// This much is collected before it is handed to the file.
const BUFFER: usize = 1 << 20;

/// Where a journal lies, relative to the device whose blocks it saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalPlace {
    /// On other disks.
    Apart,
    /// On a disk that also holds the device; its kernel name.
    SameDisk(String),
    /// Unknown; the reason.
    Unknown(String),
}

/// Append-only file of saved blocks. [`Journal::sync`] returns when they survive a crash.
#[derive(Debug)]
pub struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    header: Header,
    binding: Binding,
    /// Not yet handed to the file.
    waiting: Vec<u8>,
    /// Records of saved data.
    count: u64,
    chain: [u8; SUM],
    /// Places since the last commit mark.
    batch: Vec<u8>,
    /// After a failure nothing more is written: the end of the file is unknown, and a later sync that succeeds proves
    /// nothing about data that an earlier one lost (fsync(2)).
    failed: bool,
}

impl Journal {
    /// Creates a journal at `path` that only its owner can read, since it holds what the device held.
    ///
    /// # Errors
    /// Where a file is already there (an earlier probe was not restored), or cannot be made.
    pub fn create(path: &Path, device: &Identity, salt: Salt) -> Result<Self, JournalError> {
        Self::create_on(Arc::new(SystemDisk), path, device, salt)
    }

    /// The same on `disk`.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_on(disk: Arc<dyn Disk>, path: &Path, device: &Identity, salt: Salt) -> Result<Self, JournalError> {
        let fail = |error| cannot_create(path, error);
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let header = Header { device: device.clone(), salt, created, sector_bytes: SECTOR_BYTES, part_bytes: PART };
        let text = serde_json::to_vec(&header).map_err(|error| fail(error.into()))?;
        let mut start = MAGIC.to_vec();
        start.extend_from_slice(&(text.len() as u32).to_le_bytes());
        start.extend_from_slice(&text);
        let binding = Binding::of(&start);
        start.extend_from_slice(binding.sum());
        let mut file = disk.create(path).map_err(fail)?;
        // The file itself is synced by the first save, before anything is overwritten.
        let made = file.append(&start).and_then(|()| disk.sync_directory_of(path));
        if let Err(error) = made {
            // It is ours, and holds nothing yet.
            let _ = disk.remove(path);
            return Err(fail(error));
        }
        Ok(Self {
            disk,
            path: path.to_owned(),
            file,
            header,
            binding,
            waiting: Vec::new(),
            count: 0,
            chain: Binding::chain_start(),
            batch: Vec::new(),
            failed: false,
        })
    }

    /// Refuses a `path` on the block device `under_test` itself, and otherwise says where the journal lies.
    ///
    /// # Errors
    /// [`JournalError::SameDevice`]; or where the paths cannot be looked at.
    pub fn refuse_same_device(path: &Path, under_test: &Path) -> Result<JournalPlace, JournalError> {
        let home = std::fs::metadata(parent(path)).map_err(|error| cannot_create(path, error))?;
        let device = std::fs::metadata(under_test).map_err(|error| cannot_read(under_test, error))?;
        if sys::same_disk(path, &home, &device) {
            return Err(JournalError::SameDevice { path: shown(path) });
        }
        Ok(place(parent(path), under_test))
    }

    /// Reserves room for `bytes`, so that the disk does not fill up during a probe.
    ///
    /// # Errors
    /// [`JournalError::NoSpace`] if the room is not available.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), JournalError> {
        let free = self.disk.free_bytes(&self.path).map_err(|error| cannot_write(&self.path, error))?;
        let none = || JournalError::NoSpace { path: shown(&self.path), needed: Bytes(bytes), free: Bytes(free) };
        if free < bytes {
            return Err(none());
        }
        self.file.reserve(bytes).map_err(|error| {
            let full = JournalError::Write { path: shown(&self.path), source: error };
            if full.is_full() { none() } else { full }
        })
    }

    /// The path of the journal.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it lies in memory (tmpfs, ramfs), and so survives a killed process but not a power cut. False if that is
    /// unknown.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.file.is_volatile()
    }

    /// Removes a journal for which nothing was overwritten.
    pub fn abandon(self) {
        if self.count == 0 {
            let _ = self.disk.remove(&self.path);
        }
    }

    pub(crate) fn salt(&self) -> Salt {
        self.header.salt
    }

    pub(crate) fn device(&self) -> &Identity {
        &self.header.device
    }

    /// Its disk, where the journal is read through the open file.
    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        let disk = Arc::clone(&self.disk);
        match self.file.again() {
            Ok(file) => Arc::new(HeldDisk::new(disk, file)),
            Err(_) => disk,
        }
    }

    /// Adds the content at `offset`; it is durable only after [`Self::sync`].
    pub(crate) fn save(&mut self, offset: u64, content: &[u8]) -> Result<(), JournalError> {
        let length = content.len() as u64;
        let first = content.first().copied().unwrap_or(0);
        let number = self.count;
        let sum = if content.iter().all(|byte| *byte == first) {
            self.append(Head { kind: FILL, number, offset, length }, &[first])?
        } else {
            self.append(Head { kind: DATA, number, offset, length }, content)?
        };
        self.count += 1;
        self.chain = self.binding.chain(self.chain, sum);
        self.batch.extend_from_slice(&offset.to_le_bytes());
        self.batch.extend_from_slice(&length.to_le_bytes());
        if self.batch.len() >= MOST_BATCH * PLACE { self.sync() } else { Ok(()) }
    }

    /// Returns when everything that was saved is on its disk, with a commit mark behind it.
    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        if !self.batch.is_empty() {
            let payload = [&self.chain[..], &self.batch].concat();
            self.append(Head { kind: COMMIT, number: self.count, offset: 0, length: payload.len() as u64 }, &payload)?;
            self.batch.clear();
        }
        self.flush()?;
        let done = self.file.sync();
        self.settled(done)
    }

    fn append(&mut self, head: Head, payload: &[u8]) -> Result<[u8; SUM], JournalError> {
        let head = head.to_bytes(self.binding.marker());
        let sum = self.binding.record_sum(&head, payload);
        for part in [&head[..], payload, &sum] {
            self.waiting.extend_from_slice(part);
        }
        if self.waiting.len() >= BUFFER {
            self.flush()?;
        }
        Ok(sum)
    }

    fn flush(&mut self) -> Result<(), JournalError> {
        let done = if self.failed {
            Err(std::io::Error::other("an earlier write failed"))
        } else {
            self.file.append(&self.waiting)
        };
        self.waiting.clear();
        self.settled(done)
    }

    fn settled(&mut self, done: std::io::Result<()>) -> Result<(), JournalError> {
        self.failed |= done.is_err();
        done.map_err(|error| cannot_write(&self.path, error))
    }
}

/// Compares the disks below the directory `home` with those below the device `under_test`.
fn place(home: &Path, under_test: &Path) -> JournalPlace {
    let root = Sysroot::real();
    match (StorageBelow::of_directory(&root, home), StorageBelow::of_device(&root, under_test)) {
        (Ok(home), Ok(device)) => match (device.shared(&home), home.unknown.as_ref().or(device.unknown.as_ref())) {
            (Some(disk), _) => JournalPlace::SameDisk(disk.to_owned()),
            (None, Some(why)) => JournalPlace::Unknown(why.clone()),
            (None, None) => JournalPlace::Apart,
        },
        (Err(error), _) | (_, Err(error)) => JournalPlace::Unknown(error.what()),
    }
}

/// The record that marks everything as restored and read back, while the device was attached by this name.
pub(super) fn restored_mark(binding: &Binding, count: u64, attachment: Option<&str>) -> Vec<u8> {
    let name = attachment.filter(|name| name.len() <= MOST_ATTACHMENT).unwrap_or_default().as_bytes();
    let head = Head { kind: RESTORED, number: count, offset: 0, length: name.len() as u64 }.to_bytes(binding.marker());
    [&head[..], name, &binding.record_sum(&head, name)].concat()
}
