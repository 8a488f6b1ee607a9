//! The few file operations that the journal needs, so that tests can use a disk that fails at any of them.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_engine::FileExt;

use crate::sys;

/// The disk that holds journals.
pub trait Disk: std::fmt::Debug + Send + Sync {
    /// Creates a file that only its owner can read.
    ///
    /// # Errors
    /// Where `path` exists, or the system refuses.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens an existing regular file for reading and, if its disk allows, for appending.
    ///
    /// # Errors
    /// Where it does not exist, or the system refuses.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Removes a file.
    ///
    /// # Errors
    /// The system's answer.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in the directory that holds `path` survive a crash (fsync(2), notes).
    ///
    /// # Errors
    /// The system's answer.
    fn sync_directory_of(&self, path: &Path) -> io::Result<()>;

    /// Free bytes of the file system that will hold `path`.
    ///
    /// # Errors
    /// The system's answer.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// An open journal.
pub trait DiskFile: std::fmt::Debug + Send {
    /// Writes at the end.
    ///
    /// # Errors
    /// The system's answer; a part may have been written.
    fn append(&mut self, data: &[u8]) -> io::Result<()>;

    /// Reads from byte `at`. Returns the number of bytes, which is smaller than asked for at the end.
    ///
    /// # Errors
    /// The system's answer.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns when what was written survives a crash.
    ///
    /// # Errors
    /// The system's answer; what was written since the last success may be lost then, whatever a
    /// later call says (fsync(2), EIO).
    fn sync(&mut self) -> io::Result<()>;

    /// Reserves room for `bytes`, if the file system can; the length does not change.
    ///
    /// # Errors
    /// Where the room is not available.
    fn reserve(&mut self, bytes: u64) -> io::Result<()>;

    /// Gives back the room that was reserved and not used; the length does not change.
    ///
    /// # Errors
    /// The system's answer.
    fn give_back(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A second handle of the same file, whatever has its name now.
    ///
    /// # Errors
    /// Where a disk cannot do that, or the system refuses.
    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether it lies in memory and is lost without power. False if that is unknown.
    fn is_volatile(&self) -> bool;
}

/// The file systems of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

/// A disk with an open journal. Its content is read from the open file and not by name: the name may have been removed
/// since, its directory moved, or its disk unmounted.
#[derive(Debug)]
pub(super) struct HeldDisk {
    disk: Arc<dyn Disk>,
    held: Mutex<Box<dyn DiskFile>>,
}

/// Number of bytes within which two journals differ: their header has a salt.
const BEGINNING: usize = 1024;

impl HeldDisk {
    pub(super) fn new(disk: Arc<dyn Disk>, held: Box<dyn DiskFile>) -> Self {
        Self { disk, held: Mutex::new(held) }
    }
}

impl Disk for HeldDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.disk.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let again = self.held.lock().unwrap_or_else(PoisonError::into_inner).again();
        again.or_else(|_| self.disk.open(path))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        // If another file has taken the name, or no file has it, there is nothing to remove.
        let there = match self.disk.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            there => there?,
        };
        let (mut begins, mut begun) = ([0; BEGINNING], [0; BEGINNING]);
        there.read_at(0, &mut begins)?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).read_at(0, &mut begun)?;
        if begins == begun { self.disk.remove(path) } else { Ok(()) }
    }

    fn sync_directory_of(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_directory_of(path)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.disk.free_bytes(path)
    }
}

/// The directory that holds `path`.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(SystemFile(sys::create(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = sys::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Box::new(SystemFile(file)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_directory_of(&self, path: &Path) -> io::Result<()> {
        sys::sync_names(parent(path))
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        sys::free_bytes(parent(path))
    }
}

#[derive(Debug)]
struct SystemFile(File);

impl DiskFile for SystemFile {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        self.0.write_all(data)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.0.read_at(&mut buffer[done..], at + done as u64) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        sys::reserve(&self.0, bytes)
    }

    /// Setting the length that a file has frees what lies behind it (ftruncate(2) of ext4, XFS, btrfs, F2FS and tmpfs).
    fn give_back(&mut self) -> io::Result<()> {
        self.0.set_len(self.0.metadata()?.len())
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Self(self.0.try_clone()?)))
    }

    fn is_volatile(&self) -> bool {
        sys::is_volatile(&self.0)
    }
}

// Why a journal cannot be made, read or used.

/// Why a journal cannot be made, written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be made there.
    #[error("{path}: the journal cannot be made ({source}); choose another place with --journal")]
    Create {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// Its disk is too small for the most that a probe saves.
    #[error(
        "{path}: the journal needs up to {needed} and its file system has {free} free; make room, or choose another \
         place with --journal"
    )]
    NoSpace {
        /// The journal.
        path: String,
        /// Most bytes of the journal.
        needed: Bytes,
        /// Free bytes of the file system.
        free: Bytes,
    },
    /// Its disk refused while the probe was under way.
    #[error("{path}: the journal cannot be written ({source}); choose another place for the next one with --journal")]
    Write {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// Its disk fails to read it.
    #[error("{path}: the journal cannot be read ({source}); copy it to another disk, and keep the original")]
    Read {
        /// The journal.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// No file has this name.
    #[error("{path}: there is no such journal; `assay info DEVICE` names the one that belongs to a device")]
    Missing {
        /// The journal.
        path: String,
    },
    /// It would be lost with the device.
    #[error("{path}: lies on the device under test; put the journal on another disk")]
    SameDevice {
        /// The journal.
        path: String,
    },
    /// The file is not a journal, or its header is damaged.
    #[error("{path}: is not a journal of a probe, or its beginning is damaged; give the file that the probe named")]
    NotAJournal {
        /// The file.
        path: String,
    },
    /// A journal of another version.
    #[error(
        "{path}: is a journal of format {format}, and this version reads format 2; restore it with the version of assay that made it"
    )]
    OtherFormat {
        /// The file.
        path: String,
        /// The format's number, as the file says.
        format: char,
    },
}

impl JournalError {
    /// Whether its disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::NoSpace { .. } => true,
            Self::Create { source, .. } | Self::Write { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }
}

/// A journal's path, safe to show to people.
pub(super) fn shown(path: &Path) -> String {
    harmless(&path.display().to_string())
}

pub(super) fn cannot_create(path: &Path, source: io::Error) -> JournalError {
    JournalError::Create { path: shown(path), source }
}

pub(super) fn cannot_write(path: &Path, source: io::Error) -> JournalError {
    JournalError::Write { path: shown(path), source }
}

pub(crate) fn cannot_read(path: &Path, source: io::Error) -> JournalError {
    match source.kind() {
        io::ErrorKind::NotFound => JournalError::Missing { path: shown(path) },
        io::ErrorKind::InvalidInput => JournalError::NotAJournal { path: shown(path) },
        _ => JournalError::Read { path: shown(path), source },
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn reserved_room_is_given_back_and_no_byte_that_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let taken = || std::fs::metadata(&path).unwrap().blocks() * 512;
        let mut file = SystemDisk.create(&path).unwrap();
        file.append(&[7; 5000]).unwrap();
        file.sync().unwrap();
        let before = taken();
        file.reserve(8 << 20).unwrap();
        if taken() < 8 << 20 {
            println!(
                "SKIP: reserved_room_is_given_back_and_no_byte_that_was_written: the file system reserves no room"
            );
            return;
        }
        file.give_back().unwrap();
        assert!(taken() <= before + 65_536, "{} instead of {before}", taken());
        file.append(&[8; 10]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [vec![7; 5000], vec![8; 10]].concat());
    }
}
