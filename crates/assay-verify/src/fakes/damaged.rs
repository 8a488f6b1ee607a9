//! A device with bad places.

use std::ops::Range;

use crate::probe::{BLOCK, Device, Fault};

/// What a bad place does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Reads and writes fail.
    Errs,
    /// Reads give something else than what was written.
    Corrupts,
}

/// Bad ranges over a device.
#[derive(Debug, Clone)]
pub struct Damaged<D> {
    inner: D,
    bad: Vec<(Range<u64>, Damage)>,
}

impl<D: Device> Damaged<D> {
    /// `bad` ranges are byte offsets.
    pub fn new(inner: D, bad: Vec<(Range<u64>, Damage)>) -> Self {
        Self { inner, bad }
    }

    /// The device under it.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    fn errs(&self, offset: u64, length: usize) -> bool {
        let end = offset + length as u64;
        self.bad.iter().any(|(range, damage)| *damage == Damage::Errs && range.start < end && offset < range.end)
    }
}

impl<D: Device> Device for Damaged<D> {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if self.errs(offset, buffer.len()) {
            return Err(Fault::Medium);
        }
        self.inner.read_at(offset, buffer)?;
        let end = offset + buffer.len() as u64;
        for (range, damage) in &self.bad {
            let (from, to) = (range.start.max(offset), range.end.min(end));
            if *damage == Damage::Corrupts && from < to {
                // The same garbage each time: dead cells stand as they are.
                for (index, byte) in buffer[(from - offset) as usize..(to - offset) as usize].iter_mut().enumerate() {
                    let at = from + index as u64;
                    *byte = ((at / BLOCK) as u8) ^ (at as u8).rotate_left(3) ^ 0x5a;
                }
            }
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        if self.errs(offset, data.len()) {
            return Err(Fault::Medium);
        }
        self.inner.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.inner.sync()
    }

    fn present(&mut self) -> bool {
        self.inner.present()
    }
}
