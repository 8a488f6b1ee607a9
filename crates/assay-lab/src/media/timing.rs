//! Timing of operations, on a virtual clock.

use std::ops::Range;

/// Duration of operations, on a medium that performs one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Nanoseconds of every read, and of every write.
    pub operation_ns: u64,
    /// Further nanoseconds of a read that does not begin where the last read ended.
    pub random_read_ns: u64,
    /// Further nanoseconds of a write that does not begin where the last write ended: the controller of a card then
    /// copies the rest of an erase block.
    pub random_write_ns: u64,
    /// Nanoseconds of a flush.
    pub flush_ns: u64,
    /// Bytes per second of reading; at least 1.
    pub read_bytes_per_second: u64,
    /// Bytes per second of writing; at least 1.
    pub write_bytes_per_second: u64,
    /// Ranges where operations take this many times as long.
    pub slow: Vec<(Range<u64>, u32)>,
}

impl Timing {
    /// A microSD card on SDR25: 23 MB/s, 0.7 ms for a random read, 5 ms for a random write.
    #[must_use]
    pub fn card() -> Self {
        Self {
            operation_ns: 200_000,
            random_read_ns: 500_000,
            random_write_ns: 5_000_000,
            flush_ns: 1_000_000,
            read_bytes_per_second: 23_000_000,
            write_bytes_per_second: 15_000_000,
            slow: Vec::new(),
        }
    }

    /// The slowest cards: a random write takes 0.2 s.
    #[must_use]
    pub fn slow_card() -> Self {
        Self {
            random_write_ns: 200_000_000,
            read_bytes_per_second: 10_000_000,
            write_bytes_per_second: 4_000_000,
            ..Self::card()
        }
    }

    /// An SSD on SATA: 550 MB/s, 0.1 ms for a random read.
    #[must_use]
    pub fn ssd() -> Self {
        Self {
            operation_ns: 20_000,
            random_read_ns: 80_000,
            random_write_ns: 40_000,
            flush_ns: 500_000,
            read_bytes_per_second: 550_000_000,
            write_bytes_per_second: 500_000_000,
            slow: Vec::new(),
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.read_bytes_per_second == 0 || self.write_bytes_per_second == 0 {
            return Err("a timing is at least a byte per second");
        }
        Ok(())
    }
}

/// Virtual clock of a medium.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    timing: Timing,
    elapsed_ns: u64,
    read_end: u64,
    write_end: u64,
}

impl Clock {
    pub(super) fn new(timing: Timing) -> Self {
        Self { timing, elapsed_ns: 0, read_end: 0, write_end: 0 }
    }

    pub(super) fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    pub(super) fn spend(&mut self, ns: u64) {
        self.elapsed_ns = self.elapsed_ns.saturating_add(ns);
    }

    pub(super) fn read(&mut self, offset: u64, length: usize) {
        let random = if offset == self.read_end { 0 } else { self.timing.random_read_ns };
        self.read_end = offset + length as u64;
        self.operation(random, self.timing.read_bytes_per_second, offset..self.read_end);
    }

    pub(super) fn write(&mut self, offset: u64, length: usize) {
        let random = if offset == self.write_end { 0 } else { self.timing.random_write_ns };
        self.write_end = offset + length as u64;
        self.operation(random, self.timing.write_bytes_per_second, offset..self.write_end);
    }

    pub(super) fn flush(&mut self) {
        self.spend(self.timing.flush_ns);
    }

    fn operation(&mut self, random_ns: u64, rate: u64, range: Range<u64>) {
        let moving = u128::from(range.end - range.start) * 1_000_000_000 / u128::from(rate);
        let ns = self.timing.operation_ns + random_ns + u64::try_from(moving).unwrap_or(u64::MAX / 2);
        let meets = |(slow, _): &&(Range<u64>, u32)| slow.start < range.end && range.start < slow.end;
        let factor = self.timing.slow.iter().filter(meets).map(|(_, factor)| *factor).max().unwrap_or(1);
        self.spend(ns.saturating_mul(u64::from(factor)));
    }
}
