//! Counts what crosses.

use crate::probe::{Device, Fault};

/// Bytes and operations that were asked of a device.
#[derive(Debug, Clone)]
pub struct Counting<D> {
    inner: D,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Reads and writes.
    pub operations: u64,
}

impl<D: Device> Counting<D> {
    /// Begins at zero.
    pub fn new(inner: D) -> Self {
        Self { inner, read_bytes: 0, written_bytes: 0, operations: 0 }
    }

    /// The device under it.
    pub fn inner(&self) -> &D {
        &self.inner
    }
}

impl<D: Device> Device for Counting<D> {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.read_bytes += buffer.len() as u64;
        self.operations += 1;
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.written_bytes += data.len() as u64;
        self.operations += 1;
        self.inner.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.inner.sync()
    }

    fn present(&mut self) -> bool {
        self.inner.present()
    }
}
