//! The few operations on files that the journal needs, so that tests can put a disk behind it that
//! fails at any of them.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use assay_engine::FileExt;

use crate::sys;

/// The disk that holds journals.
pub trait Disk: std::fmt::Debug + Send + Sync {
    /// A new file, readable by its owner alone.
    ///
    /// # Errors
    /// Where something stands at `path`, or the system refuses.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// A regular file that is there, to be read and, where its disk allows it, appended to.
    ///
    /// # Errors
    /// Where there is none, or the system refuses.
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

    /// Reads from byte `at`; how many bytes, fewer than asked for at the end.
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

    /// Takes room for `bytes` beforehand, where the file system can; the length stays.
    ///
    /// # Errors
    /// Where there is not so much room.
    fn reserve(&mut self, bytes: u64) -> io::Result<()>;

    /// Whether it lies in memory and is lost with the power. False where that cannot be told.
    fn is_volatile(&self) -> bool;
}

/// The file systems of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

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

    fn is_volatile(&self) -> bool {
        sys::is_volatile(&self.0)
    }
}
