//! Failures during operation, and the timing of operations on a virtual clock.

use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;
use assay_verify::probe::ProbeFault;

use super::address::Direction;

/// A failure and its trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailurePlan {
    /// The trigger.
    pub trigger: Trigger,
    /// The behaviour from then on.
    pub failure: Failure,
}

/// The trigger of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// This many bytes were written; the write that reaches the limit is done up to there.
    AfterWritten(u64),
    /// This many reads and writes were done.
    AfterOperations(u64),
    /// A read or write of any of these byte addresses.
    AtTouch(Range<u64>),
}

/// The behaviour after the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Writes are refused, as by a card whose controller has no spare blocks left.
    ReadOnly,
    /// Writes fail with `EIO`.
    WriteErrors,
    /// All operations fail with `EIO`.
    AllErrors,
    /// Writes succeed and change nothing.
    DropsWrites,
    /// No operation is answered.
    Hangs(Hang),
    /// The device is gone.
    Gone,
    /// The device shrinks to this many bytes; operations beyond fail.
    Shrinks(u64),
}

/// How the caller sees a hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hang {
    /// The call returns with its answer when the medium's [`super::Gate`] is opened; then the hang is over.
    Blocks,
    /// Each call returns an error at once, and takes this many nanoseconds on the medium's clock: the timeout of the
    /// kernel.
    TimesOut(u64),
}

/// The outcome of a read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    /// This many of its bytes are done, then the rest has to be admitted again.
    Partly(usize),
    Refused(ProbeFault),
    /// It waits at the gate, and is then admitted.
    Waits,
    /// It takes this many nanoseconds and then fails.
    TimesOut(u64),
}

/// Whether a medium has failed yet.
#[derive(Debug, Clone)]
pub(super) struct Health {
    plan: Option<FailurePlan>,
    state: Option<Failure>,
    /// Whether it ever failed; a hang may be over.
    failed: bool,
    /// Whether an operation was refused because of the failure.
    refused: bool,
    operations: u64,
    written_bytes: u64,
}

impl Health {
    pub(super) fn new(plan: Option<FailurePlan>) -> Self {
        Self { plan, state: None, failed: false, refused: false, operations: 0, written_bytes: 0 }
    }

    /// Fails now.
    pub(super) fn fail(&mut self, failure: Failure) {
        (self.state, self.failed, self.plan) = (Some(failure), true, None);
    }

    /// Ends a hang or a disconnection; other failures stay.
    pub(super) fn plug_in(&mut self) {
        if matches!(self.state, Some(Failure::Gone | Failure::Hangs(_))) {
            self.state = None;
        }
    }

    /// The present failure.
    pub(super) fn state(&self) -> Option<Failure> {
        self.state
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether an operation was refused.
    pub(super) fn has_refused(&self) -> bool {
        self.refused
    }

    /// Decides on an operation, and counts it if it is admitted.
    pub(super) fn admit(&mut self, direction: Direction, offset: u64, length: usize) -> Admission {
        let end = offset + length as u64;
        let left = match &self.plan {
            None => u64::MAX,
            Some(FailurePlan { trigger, .. }) => match trigger {
                Trigger::AfterWritten(most) => match direction {
                    Direction::Write => most.saturating_sub(self.written_bytes) / SECTOR_BYTES * SECTOR_BYTES,
                    Direction::Read if self.written_bytes >= *most => 0,
                    Direction::Read => u64::MAX,
                },
                Trigger::AfterOperations(most) if self.operations >= *most => 0,
                Trigger::AtTouch(range) if range.start < end && offset < range.end => 0,
                Trigger::AfterOperations(_) | Trigger::AtTouch(_) => u64::MAX,
            },
        };
        if left == 0
            && let Some(plan) = self.plan.take()
        {
            self.fail(plan.failure);
        }
        if (1..length as u64).contains(&left) {
            self.written_bytes += left;
            return Admission::Partly(left as usize);
        }
        let decided = self.decide(direction, end);
        self.refused |= matches!(decided, Admission::Refused(_));
        if decided == Admission::Admitted {
            self.operations += 1;
            self.written_bytes += if direction == Direction::Write { length as u64 } else { 0 };
        }
        decided
    }

    fn decide(&mut self, direction: Direction, end: u64) -> Admission {
        let writes = direction == Direction::Write;
        match self.state {
            None | Some(Failure::DropsWrites) => Admission::Admitted,
            Some(Failure::ReadOnly) if writes => Admission::Refused(ProbeFault::ReadOnly),
            Some(Failure::WriteErrors) if writes => Admission::Refused(ProbeFault::Medium),
            Some(Failure::ReadOnly | Failure::WriteErrors) => Admission::Admitted,
            Some(Failure::AllErrors) => Admission::Refused(ProbeFault::Medium),
            Some(Failure::Gone) => Admission::Refused(ProbeFault::Gone),
            Some(Failure::Shrinks(bytes)) if end > bytes => Admission::Refused(ProbeFault::Medium),
            Some(Failure::Shrinks(_)) => Admission::Admitted,
            Some(Failure::Hangs(Hang::TimesOut(ns))) => Admission::TimesOut(ns),
            Some(Failure::Hangs(Hang::Blocks)) => {
                self.state = None;
                Admission::Waits
            }
        }
    }
}

// Timing of operations, on a virtual clock.

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
