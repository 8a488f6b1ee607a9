//! A disk for journals in memory: campaigns restore some thousand media, sector by sector.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_verify::probe::{Disk, DiskFile};

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
