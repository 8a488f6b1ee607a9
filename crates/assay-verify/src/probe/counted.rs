//! Counts the bytes moved to and from a device where it happens, whether or not an operation succeeds.

use super::contract::{Device, Fault};

/// A device whose bytes are counted.
pub(super) struct Counted<'d, D> {
    device: &'d mut D,
    pub(super) written_bytes: u64,
    pub(super) read_bytes: u64,
}

impl<'d, D: Device> Counted<'d, D> {
    pub(super) fn new(device: &'d mut D) -> Self {
        Self { device, written_bytes: 0, read_bytes: 0 }
    }
}

impl<D: Device> Device for Counted<'_, D> {
    fn bytes(&self) -> u64 {
        self.device.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.device.block_bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.read_bytes += buffer.len() as u64;
        self.device.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.written_bytes += data.len() as u64;
        self.device.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.device.sync()
    }

    fn present(&mut self) -> bool {
        self.device.present()
    }
}
