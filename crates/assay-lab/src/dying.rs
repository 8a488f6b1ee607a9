//! A device that is unplugged.

use assay_verify::probe::{Device, Fault};

/// A device that works for a number of operations. The write that meets the end is torn, and every later operation
/// fails.
#[derive(Debug, Clone)]
pub struct Dying<D> {
    inner: D,
    left: u64,
    dead: bool,
}

impl<D: Device> Dying<D> {
    /// A device that works for `operations` reads and writes.
    pub fn new(inner: D, operations: u64) -> Self {
        Self { inner, left: operations, dead: false }
    }

    /// The device, plugged in again.
    pub fn revive(self) -> D {
        self.inner
    }

    /// Counts one operation; returns false if the device is unplugged.
    fn lives(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        true
    }
}

impl<D: Device> Device for Dying<D> {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.inner.block_bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if !self.lives() {
            self.dead = true;
            return Err(Fault::Gone);
        }
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        if !self.lives() {
            if !self.dead {
                self.dead = true;
                self.inner.write_at(offset, &data[..data.len() / 1024 * 512])?;
            }
            return Err(Fault::Gone);
        }
        self.inner.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        if self.dead { Err(Fault::Gone) } else { self.inner.sync() }
    }

    fn present(&mut self) -> bool {
        !self.dead && self.inner.present()
    }
}
