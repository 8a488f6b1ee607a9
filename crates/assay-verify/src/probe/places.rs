//! Reading and writing the places of a journal on a device that may err.
//!
//! An error may take seconds. So a place with errors costs a few operations and not one for each block, and a device
//! with errors only is given up after a few places.

use super::contract::{Device, Fault};
use super::journal::ByteRange;
use super::stamp::SECTOR_LEN;

/// After this many places in a row that could not be read, or written, the device is tested elsewhere.
pub(super) const STREAK: u32 = 3;

/// The content of a place by sector; `None` for sectors that cannot be read.
pub(super) type Sectors = Vec<Option<Vec<u8>>>;

/// A device whose places are read and written.
pub(super) struct Places<'d, D> {
    device: &'d mut D,
    /// Bytes that the device took.
    pub(super) written_bytes: u64,
    /// Places in a row that could not be read at all.
    unread: u32,
    /// Places in a row that could not be written at all.
    pub(super) refused: u32,
    /// A place where at least one block was read.
    answered: Option<u64>,
}

impl<'d, D: Device> Places<'d, D> {
    pub(super) fn new(device: &'d mut D) -> Self {
        Self { device, written_bytes: 0, unread: 0, refused: 0, answered: None }
    }

    pub(super) fn present(&mut self) -> bool {
        self.device.present()
    }

    /// Bytes of a block, at least those of a sector.
    pub(super) fn block_bytes(&self) -> usize {
        (self.device.block_bytes() as usize).max(SECTOR_LEN)
    }

    /// Reads the sectors of a place. On an error it is read in halves. If its first and its last block have errors,
    /// nothing else of it is read.
    ///
    /// # Errors
    /// A fault of the device as a whole. [`Fault::AllErrors`] if several places in a row, and the ends of the device,
    /// cannot be read.
    pub(super) fn read(&mut self, place: ByteRange) -> Result<Sectors, Fault> {
        let mut whole = vec![0; place.length as usize];
        let mut readable = vec![true; whole.len() / SECTOR_LEN];
        let block = self.block_bytes();
        self.read_part(place.offset, &mut whole, &mut readable, block)?;
        if readable.iter().any(|readable| *readable) {
            (self.unread, self.answered) = (0, Some(place.offset));
        } else {
            self.unread += 1;
            if self.unread >= STREAK && !self.reads_anywhere(block)? {
                return Err(Fault::AllErrors);
            }
        }
        let sectors = whole.chunks_exact(SECTOR_LEN).zip(readable);
        Ok(sectors.map(|(sector, readable)| readable.then(|| sector.to_vec())).collect())
    }

    fn read_part(&mut self, offset: u64, buffer: &mut [u8], readable: &mut [bool], block: usize) -> Result<(), Fault> {
        if self.took_place(|device| device.read_at(offset, buffer))? {
            return Ok(());
        }
        let blocks = buffer.len() / block;
        if blocks <= 1 {
            readable.fill(false);
            return Ok(());
        }
        let last = (blocks - 1) * block;
        let first_reads = self.took_place(|device| device.read_at(offset, &mut buffer[..block]))?;
        let last_reads = self.took_place(|device| device.read_at(offset + last as u64, &mut buffer[last..]))?;
        let in_block = block / SECTOR_LEN;
        if !first_reads && !last_reads {
            readable.fill(false);
            return Ok(());
        }
        readable[..in_block].fill(first_reads);
        readable[last / SECTOR_LEN..].fill(last_reads);
        if blocks == 2 {
            return Ok(());
        }
        // Between the ends, in halves.
        let middle = (blocks / 2).clamp(1, blocks - 1) * block;
        for (from, to) in [(block, middle), (middle, last)] {
            if from < to {
                let part = &mut readable[from / SECTOR_LEN..to / SECTOR_LEN];
                self.read_part(offset + from as u64, &mut buffer[from..to], part, block)?;
            }
        }
        Ok(())
    }

    /// Whether a block can be read at a place that was read before, or at an end of the device.
    fn reads_anywhere(&mut self, block: usize) -> Result<bool, Fault> {
        let mut buffer = vec![0; block];
        let end = (self.device.bytes() / block as u64).saturating_sub(1) * block as u64;
        for at in self.answered.into_iter().chain([0, end]) {
            if self.took_place(|device| device.read_at(at / block as u64 * block as u64, &mut buffer))? {
                self.unread = 0;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes `data`, whole blocks, at `offset`. If the device refuses, each half is tried, unless it refuses the first
    /// and the last block. Returns whether it took everything.
    ///
    /// # Errors
    /// A fault of the device as a whole.
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> Result<bool, Fault> {
        let before = self.written_bytes;
        let good = self.write_part(offset, data, self.block_bytes())?;
        self.refused = if self.written_bytes > before { 0 } else { self.refused + 1 };
        Ok(good)
    }

    fn write_part(&mut self, offset: u64, data: &[u8], block: usize) -> Result<bool, Fault> {
        if self.took_place(|device| device.write_at(offset, data))? {
            self.written_bytes += data.len() as u64;
            return Ok(true);
        }
        let blocks = data.len() / block;
        if blocks <= 1 {
            return Ok(false);
        }
        let last = (blocks - 1) * block;
        let before = self.written_bytes;
        for (from, to) in [(0, block), (last, data.len())] {
            if self.took_place(|device| device.write_at(offset + from as u64, &data[from..to]))? {
                self.written_bytes += (to - from) as u64;
            }
        }
        if self.written_bytes == before {
            return Ok(false);
        }
        let mut good = self.written_bytes == before + (block + data.len() - last) as u64;
        let middle = (blocks / 2).clamp(1, blocks - 1) * block;
        for (from, to) in [(block, middle), (middle, last)] {
            if from < to {
                good &= self.write_part(offset + from as u64, &data[from..to], block)?;
            }
        }
        Ok(good)
    }

    /// Flushes the device. Returns false if that fails with an error of the medium.
    pub(super) fn settle(&mut self) -> Result<bool, Fault> {
        self.took_place(|device| device.sync())
    }

    /// Whether an operation succeeded; false if the medium errs at this place.
    fn took_place(&mut self, operation: impl FnOnce(&mut D) -> Result<(), Fault>) -> Result<bool, Fault> {
        match operation(self.device) {
            Ok(()) => Ok(true),
            Err(Fault::Medium) if self.device.present() => Ok(false),
            Err(Fault::Medium) => Err(Fault::Gone),
            Err(fault) => Err(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errs in some blocks, and counts operations.
    struct Errs {
        bytes: u64,
        bad: fn(u64) -> bool,
        operations: u32,
    }

    impl Device for Errs {
        fn bytes(&self) -> u64 {
            self.bytes
        }
        fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
            self.operations += 1;
            let mut sectors = offset / 512..(offset + buffer.len() as u64) / 512;
            buffer.fill(7);
            if sectors.any(self.bad) { Err(Fault::Medium) } else { Ok(()) }
        }
        fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
            self.read_at(offset, &mut data.to_vec())
        }
        fn sync(&mut self) -> Result<(), Fault> {
            Ok(())
        }
    }

    const MIB: u64 = 1 << 20;

    fn place(index: u64) -> ByteRange {
        ByteRange { offset: index * MIB, length: MIB }
    }

    #[test]
    fn a_device_that_only_errs_is_given_up_after_a_few_operations() {
        let mut device = Errs { bytes: 64 * MIB, bad: |_| true, operations: 0 };
        let mut places = Places::new(&mut device);
        let read = (0..64).find_map(|index| places.read(place(index)).err());
        assert_eq!(read, Some(Fault::AllErrors));
        let data = vec![0; MIB as usize];
        (0..STREAK).for_each(|index| assert!(!places.write(u64::from(index) * MIB, &data).unwrap()));
        assert_eq!((places.refused, places.written_bytes), (STREAK, 0));
        assert!(device.operations <= 24, "{}", device.operations);
    }

    #[test]
    fn one_bad_sector_costs_itself_alone() {
        let mut device = Errs { bytes: 64 * MIB, bad: |sector| sector == 3000, operations: 0 };
        let mut places = Places::new(&mut device);
        let read = places.read(place(1)).unwrap();
        let bad: Vec<usize> = (0..read.len()).filter(|sector| read[*sector].is_none()).collect();
        assert_eq!(bad, [3000 - 2048]);
        let good = places.write(MIB, &vec![0; MIB as usize]).unwrap();
        assert_eq!((good, places.written_bytes), (false, MIB - 512));
        assert!(device.operations <= 100, "{}", device.operations);
    }

    #[test]
    fn a_part_that_errs_does_not_give_up_the_rest() {
        let mut device = Errs { bytes: 64 * MIB, bad: |sector| (8 * 2048..40 * 2048).contains(&sector), operations: 0 };
        let mut places = Places::new(&mut device);
        for index in (0..64).rev() {
            let sectors = places.read(place(index)).unwrap();
            assert_eq!(sectors[5].is_none(), (8..40).contains(&index), "{index}");
        }
    }
}
