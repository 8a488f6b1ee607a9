//! Writing a journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::units::Bytes;
use assay_core::verification::SECTOR_BYTES;
use assay_device::{StorageBelow, Sysroot};
use serde::{Deserialize, Serialize};

use super::disk::{
    Disk, DiskFile, HeldDisk, JournalError, SystemDisk, cannot_create, cannot_read, cannot_write, parent, shown,
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
    pub fn create(path: &Path, device: &JournalIdentity, salt: Salt) -> Result<Self, JournalError> {
        Self::create_on(Arc::new(SystemDisk), path, device, salt)
    }

    /// The same on `disk`.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        device: &JournalIdentity,
        salt: Salt,
    ) -> Result<Self, JournalError> {
        let fail = |error| cannot_create(path, error);
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let header = Header { device: device.clone(), salt, created, sector_bytes: SECTOR_BYTES, part_bytes: PART };
        let text = serde_json::to_vec(&header).map_err(|error| fail(error.into()))?;
        let mut start = MAGIC.to_vec();
        start.extend_from_slice(&(text.len() as u32).to_le_bytes());
        start.extend_from_slice(&text);
        let binding = Binding::of_header(&start);
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

    pub(crate) fn device(&self) -> &JournalIdentity {
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

// The bytes of a journal: `docs/decisions/006-journal.md`.

/// First bytes of a journal; the digit is the version of the format.
pub(super) const MAGIC: &[u8; 16] = b"assay-undo-log-2";
/// Bytes of a checksum: the first half of a BLAKE3 hash.
pub(super) const SUM: usize = 16;
/// Most bytes of one record's place: the probe saves at most this at once.
pub(super) const PART: u64 = 1 << 20;
/// Most bytes of the header's text.
pub(super) const MOST_HEADER: usize = 1 << 16;
/// Most places between two commit marks; [`super::Journal`] syncs by itself when this many wait.
pub(super) const MOST_BATCH: usize = 1 << 15;
/// Bytes of a place in a commit mark: offset and length.
pub(super) const PLACE: usize = 16;

/// A saved part, byte for byte.
pub(super) const DATA: u8 = 1;
/// A saved part of one repeated byte.
pub(super) const FILL: u8 = 2;
/// Everything was restored and read back. The payload is the attachment of the device at that time.
pub(super) const RESTORED: u8 = 3;
/// Most bytes of an attachment's name.
pub(super) const MOST_ATTACHMENT: usize = 256;
/// Everything before this was handed to the disk at once. The payload is the running hash, and the places since the
/// previous commit mark.
pub(super) const COMMIT: u8 = 4;

/// Which device a journal belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalIdentity {
    /// Announced size in bytes.
    pub bytes: u64,
    /// Path or name by which it was opened, for people.
    pub name: String,
    /// Serial number, if the device reports one. It is for people, since readers report their own.
    pub serial: Option<String>,
    /// Identifies the time for which the device is attached now. A different name means that it was attached anew, and
    /// may have been without power meanwhile. `None` if the system does not tell.
    #[serde(skip)]
    pub attachment: Option<String>,
}

/// The header of a journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) device: JournalIdentity,
    pub(crate) salt: Salt,
    /// Seconds since 1970 at which it was made.
    pub(crate) created: u64,
    /// Smallest unit that carries a stamp, in bytes.
    pub(crate) sector_bytes: u64,
    /// Most bytes of one record.
    pub(crate) part_bytes: u64,
}

/// Binds the records of one journal together, so that no record of another journal is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Binding {
    hash: [u8; 32],
}

impl Binding {
    /// The binding of a whole header, up to its checksum.
    pub(super) fn of_header(header: &[u8]) -> Self {
        Self { hash: *blake3::hash(header).as_bytes() }
    }

    /// The header's checksum.
    pub(super) fn sum(&self) -> &[u8] {
        &self.hash[..SUM]
    }

    /// First bytes of each record. After damage, the next record is found by them.
    pub(super) fn marker(&self) -> [u8; 8] {
        let mut marker = [0; 8];
        marker.copy_from_slice(&self.hash[SUM..SUM + 8]);
        marker
    }

    /// Checksum of a record.
    pub(super) fn record_sum(&self, head: &[u8], payload: &[u8]) -> [u8; SUM] {
        cut(blake3::Hasher::new_keyed(&self.hash).update(head).update(payload).finalize())
    }

    /// The running hash after one more record of saved data.
    pub(super) fn chain(&self, before: [u8; SUM], sum: [u8; SUM]) -> [u8; SUM] {
        cut(blake3::Hasher::new_keyed(&self.hash).update(&before).update(&sum).finalize())
    }

    /// The running hash before any record.
    pub(super) fn chain_start() -> [u8; SUM] {
        [0; SUM]
    }
}

fn cut(hash: blake3::Hash) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&hash.as_bytes()[..SUM]);
    sum
}

/// Bytes of a record's head.
pub(super) const HEAD: usize = 33;

/// The header of a record, before its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: u8,
    /// Records of saved data before this one.
    pub(super) number: u64,
    /// First byte of the place on the device; 0 for marks.
    pub(super) offset: u64,
    /// Bytes of the place; of the payload for a commit mark.
    pub(super) length: u64,
}

impl Head {
    pub(super) fn to_bytes(self, marker: [u8; 8]) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&marker);
        head[8] = self.kind;
        head[9..17].copy_from_slice(&self.number.to_le_bytes());
        head[17..25].copy_from_slice(&self.offset.to_le_bytes());
        head[25..33].copy_from_slice(&self.length.to_le_bytes());
        head
    }

    /// Parses a head; `None` if the bytes are none.
    pub(super) fn from_bytes(bytes: &[u8], marker: [u8; 8]) -> Option<Self> {
        let head: &[u8; HEAD] = bytes.first_chunk()?;
        let word = |at: usize| head[at..].first_chunk().map(|bytes: &[u8; 8]| u64::from_le_bytes(*bytes));
        let (kind, number, offset, length) = (head[8], word(9)?, word(17)?, word(25)?);
        let commit = SUM as u64..=(SUM + MOST_BATCH * PLACE) as u64;
        let sound = match kind {
            DATA | FILL => length > 0 && length <= PART && offset.checked_add(length).is_some(),
            COMMIT => commit.contains(&length) && (length - SUM as u64).is_multiple_of(PLACE as u64),
            RESTORED => length <= MOST_ATTACHMENT as u64,
            _ => false,
        };
        (head[..8] == marker && sound).then_some(Self { kind, number, offset, length })
    }

    /// Bytes of the payload.
    pub(super) fn stored(&self) -> usize {
        match self.kind {
            DATA | COMMIT | RESTORED => self.length as usize,
            FILL => 1,
            _ => 0,
        }
    }
}
