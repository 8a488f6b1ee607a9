//! A real block device.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_device::DeviceError;
use assay_device::guard::RawPermit;
use assay_engine::AlignedBuffer;
use rustix::fs::OFlags;

use super::contract::{Device, Fault};

/// Bytes of one transfer.
const TRANSFER: usize = 1 << 20;

/// A block device, opened exclusively, past the page cache.
#[derive(Debug)]
pub struct BlockDevice {
    path: PathBuf,
    file: File,
    rdev: u64,
    bytes: u64,
    block_bytes: u32,
    buffer: AlignedBuffer,
}

impl BlockDevice {
    /// Opens the device that the guards allowed.
    ///
    /// # Errors
    /// Where the kernel refuses: in use, permission, gone.
    pub fn open(permit: &RawPermit) -> Result<Self, DeviceError> {
        let file = permit.open(OFlags::DIRECT.bits() as i32)?;
        Self::of(permit.path(), file).map_err(|source| DeviceError::Unreadable {
            path: assay_core::text::harmless(&permit.path().display().to_string()),
            source,
        })
    }

    fn of(path: &Path, mut file: File) -> io::Result<Self> {
        let bytes = file.seek(SeekFrom::End(0))?;
        let block_bytes = rustix::fs::ioctl_blksszget(&file)?;
        let rdev = file.metadata()?.rdev();
        Ok(Self { path: path.to_owned(), file, rdev, bytes, block_bytes, buffer: AlignedBuffer::new(TRANSFER)? })
    }
}

impl Device for BlockDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        for (part, at) in buffer.chunks_mut(TRANSFER).zip((offset..).step_by(TRANSFER)) {
            let aligned = &mut self.buffer.as_mut_slice()[..part.len()];
            self.file.read_exact_at(aligned, at).map_err(|error| Fault::from_io(&error))?;
            part.copy_from_slice(aligned);
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        for (part, at) in data.chunks(TRANSFER).zip((offset..).step_by(TRANSFER)) {
            let aligned = &mut self.buffer.as_mut_slice()[..part.len()];
            aligned.copy_from_slice(part);
            self.file.write_all_at(aligned, at).map_err(|error| Fault::from_io(&error))?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.file.sync_all().map_err(|error| Fault::from_io(&error))
    }

    /// The name still leads to the same device, and it still has its size: the kernel removes the
    /// node, or sets the size to zero, when the medium is taken out.
    fn present(&mut self) -> bool {
        let same = std::fs::metadata(&self.path).is_ok_and(|now| now.rdev() == self.rdev);
        same && self.file.seek(SeekFrom::End(0)).is_ok_and(|bytes| bytes == self.bytes)
    }
}
