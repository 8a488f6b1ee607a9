//! A real block device.

use std::fs::File;
use std::io;

use assay_device::DeviceError;
use assay_device::guard::RawPermit;
use assay_device::owned::Caching;
use assay_engine::{AlignedBuffer, FileExt};

use super::contract::{Device, Fault};
use super::transfer::{TRANSFER, read_at};

/// A block device, held exclusively, past the page cache.
#[derive(Debug)]
pub struct BlockDevice {
    permit: RawPermit,
    file: File,
    block_bytes: u32,
    buffer: AlignedBuffer,
}

impl BlockDevice {
    /// Opens the device that the guards allowed.
    ///
    /// # Errors
    /// Where the kernel refuses: in use, permission, gone.
    pub fn open(permit: &RawPermit) -> Result<Self, DeviceError> {
        let file = permit.held().reopen(Caching::Direct)?;
        Self::of(permit, file).map_err(|source| DeviceError::Unreadable {
            path: assay_core::text::harmless(&permit.path().display().to_string()),
            source,
        })
    }

    fn of(permit: &RawPermit, file: File) -> io::Result<Self> {
        let block_bytes = crate::sys::block_bytes(&file)?;
        Ok(Self { permit: permit.clone(), file, block_bytes, buffer: AlignedBuffer::new(TRANSFER)? })
    }
}

impl Device for BlockDevice {
    fn bytes(&self) -> u64 {
        self.permit.held().bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        read_at(&self.file, &mut self.buffer, offset, buffer)
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

    fn present(&mut self) -> bool {
        self.permit.held().present()
    }
}
