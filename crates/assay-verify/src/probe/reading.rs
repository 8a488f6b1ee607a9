//! A block device opened for reading, to find whose stamps are on it.

use std::fs::File;
use std::io;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use assay_engine::AlignedBuffer;

use super::contract::{Device, Fault};
use super::transfer::{TRANSFER, read_at};
use crate::sys;

/// A block device opened for reading past the page cache, even if it is in use.
#[derive(Debug)]
pub struct ReadDevice {
    file: File,
    bytes: u64,
    block_bytes: u32,
    buffer: AlignedBuffer,
}

impl ReadDevice {
    /// Opens it.
    ///
    /// # Errors
    /// Where it is no block device, or the kernel refuses.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = sys::open_to_read(path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        let block_bytes = sys::block_bytes(&file)?;
        Ok(Self { file, bytes, block_bytes, buffer: AlignedBuffer::new(TRANSFER)? })
    }
}

impl Device for ReadDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        read_at(&self.file, &mut self.buffer, offset, buffer)
    }

    fn write_at(&mut self, _offset: u64, _data: &[u8]) -> Result<(), Fault> {
        Err(Fault::ReadOnly)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}
