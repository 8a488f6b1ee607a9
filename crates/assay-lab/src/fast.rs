//! Devices in memory: so fast that the overhead of the instrument shows, and disks for journals.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_verify::probe::{Disk, DiskFile};

use super::host::Missing;
use super::mount::LoopDevice;
use crate::mount::Mount;

/// An ext4 file system on a loop device over memory, without limits.
#[derive(Debug)]
pub struct FastDevice {
    mount: Mount,
    device: LoopDevice,
    directory: tempfile::TempDir,
}

impl FastDevice {
    /// Makes a device of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("fast.img");
        std::fs::File::create(&image).and_then(|file| file.set_len(bytes)).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        let mount = Mount::ext4(device.path(), &directory.path().join("mnt"))?;
        Ok(Self { mount, device, directory })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.path()
    }

    /// Its block device.
    #[must_use]
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// A directory beside the mount, for results.
    #[must_use]
    pub fn beside(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}

/// A bare loop device over memory, filled with random bytes, so that two tools read the same content.
#[derive(Debug)]
pub struct FilledDevice {
    device: LoopDevice,
    directory: tempfile::TempDir,
}

impl FilledDevice {
    /// Makes a device of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("filled.img");
        let mut file = std::fs::File::create(&image).map_err(fail)?;
        let random = std::fs::File::open("/dev/urandom").map_err(fail)?;
        std::io::copy(&mut std::io::Read::take(random, bytes), &mut file).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        Ok(Self { device, directory })
    }

    /// Path of the device.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.device.path()
    }

    /// A directory beside the image, for results.
    #[must_use]
    pub fn beside(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}

// A disk for journals in memory: campaigns restore some thousand media, sector by sector.

/// Files in memory. They never fail, and are gone with the last handle.
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk(Arc<Mutex<BTreeMap<PathBuf, MemoryFile>>>);

#[derive(Debug, Clone, Default)]
struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryDisk {
    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, MemoryFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for MemoryDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut files = self.files();
        if files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Box::new(files.entry(path.to_owned()).or_default().clone()))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let files = self.files();
        let file = files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(file.clone()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files().remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_directory_of(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl MemoryFile {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskFile for MemoryFile {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        self.bytes().extend_from_slice(data);
        Ok(())
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes();
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let length = buffer.len().min(bytes.len() - from);
        buffer[..length].copy_from_slice(&bytes[from..from + length]);
        Ok(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reserve(&mut self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        true
    }
}
