//! The model medium, a gate that holds its operations, and the medium behind a real block device.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_core::verification::SECTOR_BYTES;
use assay_verify::probe::{Device, ProbeFault};
use rustix::io::Errno;

use super::address::Direction;
use super::cache::{Caches, Flash};
use super::failure::{Admission, Clock, Failure, Hang, Health};
use super::spec::{MediumSpec, SpecError};
use crate::fake::Backing;

/// A medium in memory, made from a [`MediumSpec`]; only written data take memory.
#[derive(Debug, Clone)]
pub struct ModelMedium {
    spec: MediumSpec,
    flash: Flash,
    caches: Caches,
    health: Health,
    gate: Gate,
    clock: Clock,
    traffic: Traffic,
}

/// Counters of a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Read operations, failed ones included.
    pub reads: u64,
    /// Write operations, failed ones included.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Operations that every device rejects: not in whole blocks, or outside of the announced size.
    pub rejected: u64,
}

/// State of a medium, for [`ModelMedium::changed_since`].
#[derive(Debug, Clone)]
pub struct Snapshot(Flash);

impl MediumSpec {
    /// Makes the medium.
    ///
    /// # Errors
    /// If the parameters contradict each other.
    pub fn build(&self) -> Result<ModelMedium, SpecError> {
        self.check().map_err(SpecError)?;
        Ok(ModelMedium::new(self))
    }
}

impl ModelMedium {
    fn new(spec: &MediumSpec) -> Self {
        Self {
            flash: Flash::new(spec),
            caches: Caches::new(&spec.caches, spec.seed ^ 3),
            health: Health::new(spec.failure.clone()),
            gate: Gate::default(),
            clock: Clock::new(spec.timing.clone()),
            traffic: Traffic::default(),
            spec: spec.clone(),
        }
    }

    /// Its parameters.
    #[must_use]
    pub fn spec(&self) -> &MediumSpec {
        &self.spec
    }

    /// The counters.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Time on its clock, in nanoseconds.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.clock.elapsed_ns()
    }

    /// The gate where operations wait during a hang; a test may also close and open it.
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// Whether it has failed, by its [`MediumSpec::failure`] or by [`Self::fail`].
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.health.has_failed()
    }

    /// Whether it has failed, with an effect on an operation. A device shows nothing if it drops data that it already
    /// holds, or if it would refuse writes and no more writes come.
    #[must_use]
    pub fn has_shown_failure(&self) -> bool {
        match self.health.state() {
            Some(Failure::DropsWrites) => self.flash.has_lost_writes(),
            Some(Failure::ReadOnly | Failure::WriteErrors) => self.health.has_refused(),
            _ => self.has_failed(),
        }
    }

    /// Whether a write found no memory in its [`MediumSpec::pool`].
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.flash.is_exhausted()
    }

    /// Makes it fail now.
    pub fn fail(&mut self, failure: Failure) {
        self.health.fail(failure);
        self.meet_failure();
    }

    /// Cuts and restores the power: caches lose dirty data, a medium that was gone or hung answers again, and clock and
    /// counters restart from zero.
    pub fn power_cycle(&mut self) {
        self.caches.lose_power();
        self.health.plug_in();
        self.clock = Clock::new(self.spec.timing.clone());
        self.traffic = Traffic::default();
    }

    /// Its state. A snapshot of a new medium is cheap, otherwise it copies all written data.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.settled())
    }

    /// First bytes of the sectors that their owner will read differently than at the snapshot once the caches are
    /// written back, ascending. All cells that were ever written are compared, through the addresses that read them.
    /// Cells that read differently each time are left out, and so are those that cannot be read. This affects neither
    /// clock nor counters.
    #[must_use]
    pub fn changed_since(&self, before: &Snapshot) -> Vec<u64> {
        let sectors = if self.caches.write_back() {
            self.settled().changed_since(&before.0)
        } else {
            self.flash.changed_since(&before.0)
        };
        let mut changed: Vec<u64> = sectors.into_iter().map(|sector| sector * SECTOR_BYTES).collect();
        changed.retain(|offset| !self.errs(Direction::Read, *offset, SECTOR_BYTES));
        changed
    }

    /// The memory after a write-back of the caches. A full pool loses data that do not fit.
    fn settled(&self) -> Flash {
        let mut flash = self.flash.clone();
        let _ = self.caches.clone().settle(&mut flash);
        flash
    }

    /// Admits an operation; returns how many of its bytes.
    fn enter(&mut self, direction: Direction, offset: u64, length: usize) -> Result<usize, ProbeFault> {
        loop {
            self.gate.pass();
            let admission = self.health.admit(direction, offset, length);
            self.meet_failure();
            match admission {
                Admission::Admitted => break Ok(length),
                Admission::Partly(bytes) => break Ok(bytes),
                Admission::Refused(fault) => break Err(fault),
                Admission::Waits => self.gate.close(),
                Admission::TimesOut(ns) => {
                    self.clock.spend(ns);
                    break Err(ProbeFault::Medium);
                }
            }
        }
    }

    /// After the failure the memory also drops dirty data from the caches.
    fn meet_failure(&mut self) {
        self.flash.drops_writes = self.health.state() == Some(Failure::DropsWrites);
    }

    /// Rejects operations that every device rejects, and those in bad places.
    fn accept(&mut self, direction: Direction, offset: u64, length: usize) -> Result<(), ProbeFault> {
        let block = u64::from(self.spec.block_bytes);
        let end = offset.saturating_add(length as u64);
        if length == 0 || !offset.is_multiple_of(block) || !end.is_multiple_of(block) || end > self.spec.announced_bytes
        {
            self.traffic.rejected += 1;
            return Err(ProbeFault::Medium);
        }
        if self.errs(direction, offset, length as u64) { Err(ProbeFault::Medium) } else { Ok(()) }
    }

    fn errs(&self, direction: Direction, offset: u64, length: u64) -> bool {
        let meets = |range: &Range<u64>| range.start < offset + length && offset < range.end;
        self.spec.errors.iter().any(|(range, on)| on.concerns(direction) && meets(range))
    }
}

impl Device for ModelMedium {
    fn bytes(&self) -> u64 {
        match self.health.state() {
            Some(Failure::Shrinks(bytes)) => bytes.min(self.spec.announced_bytes),
            _ => self.spec.announced_bytes,
        }
    }

    fn block_bytes(&self) -> u32 {
        self.spec.block_bytes
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        self.traffic.reads += 1;
        self.traffic.read_bytes += buffer.len() as u64;
        self.clock.read(offset, buffer.len());
        self.accept(Direction::Read, offset, buffer.len())?;
        self.enter(Direction::Read, offset, buffer.len())?;
        self.caches.read(&mut self.flash, offset / SECTOR_BYTES, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        self.traffic.writes += 1;
        self.traffic.written_bytes += data.len() as u64;
        self.clock.write(offset, data.len());
        self.accept(Direction::Write, offset, data.len())?;
        let (mut at, mut left) = (offset, data);
        // A write that meets the failure is done in part; the rest is subject to the failure.
        while !left.is_empty() {
            let (now, later) = left.split_at(self.enter(Direction::Write, at, left.len())?);
            self.flash.carry(at / SECTOR_BYTES, now);
            self.caches.write(&mut self.flash, at / SECTOR_BYTES, now)?;
            at += now.len() as u64;
            left = later;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.traffic.flushes += 1;
        self.clock.flush();
        self.gate.pass();
        match self.health.state() {
            Some(Failure::Gone) => Err(ProbeFault::Gone),
            Some(Failure::AllErrors) => Err(ProbeFault::Medium),
            Some(Failure::Hangs(Hang::TimesOut(ns))) => {
                self.clock.spend(ns);
                Err(ProbeFault::Medium)
            }
            _ => self.caches.flush(&mut self.flash),
        }
    }

    fn present(&mut self) -> bool {
        self.health.state() != Some(Failure::Gone)
    }
}

// A model medium behind a real block device, and a gate that holds its operations.

/// A model medium that the kernel reads and writes through a [`crate::FakeCard`], and that a test inspects and makes
/// fail. Clones share the medium.
#[derive(Debug, Clone)]
pub struct SharedMedium {
    medium: Arc<Mutex<ModelMedium>>,
    // Separate, since a hanging operation holds the lock.
    gate: Gate,
}

impl SharedMedium {
    /// Shares `medium`.
    #[must_use]
    pub fn new(medium: ModelMedium) -> Self {
        Self { gate: medium.gate(), medium: Arc::new(Mutex::new(medium)) }
    }

    /// Calls `act` with the medium; waits while it hangs.
    pub fn with<T>(&self, act: impl FnOnce(&mut ModelMedium) -> T) -> T {
        act(&mut self.medium.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes it fail now.
    pub fn fail(&self, failure: Failure) {
        self.with(|medium| medium.fail(failure));
    }

    /// The gate where its operations wait during a hang; a test may also close and open it.
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }
}

impl Backing for SharedMedium {
    fn bytes(&self) -> u64 {
        self.with(|medium| medium.bytes())
    }

    fn block_bytes(&self) -> u32 {
        self.with(|medium| medium.block_bytes())
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.with(|medium| medium.read_at(offset, buffer)).map_err(error)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(|medium| medium.write_at(offset, data)).map_err(error)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(Device::sync).map_err(error)
    }
}

fn error(fault: ProbeFault) -> io::Error {
    match fault {
        ProbeFault::ReadOnly => Errno::ROFS,
        ProbeFault::Gone => Errno::NODEV,
        ProbeFault::Denied => Errno::PERM,
        ProbeFault::Medium
        | ProbeFault::AllErrors
        | ProbeFault::WriteErrors
        | ProbeFault::DropsWrites
        | ProbeFault::Hung
        | ProbeFault::Exchanged => Errno::IO,
    }
    .into()
}

// A gate that holds operations until a test releases them.

/// Operations of a medium wait while its gate is closed. Clones share the gate, so a test can release another thread.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<GateShared>);

#[derive(Debug, Default)]
struct GateShared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    waiting: usize,
}

impl Gate {
    /// Makes operations wait from now on.
    pub fn close(&self) {
        self.lock().closed = true;
    }

    /// Releases all waiting operations, and lets later ones pass.
    pub fn open(&self) {
        self.lock().closed = false;
        self.0.changed.notify_all();
    }

    /// Waits until an operation is held; returns false if none came within `most`.
    #[must_use]
    pub fn wait_until_blocked(&self, most: Duration) -> bool {
        let end = Instant::now() + most;
        let mut state = self.lock();
        while state.waiting == 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns when the gate is open.
    pub(super) fn pass(&self) {
        let mut state = self.lock();
        if !state.closed {
            return;
        }
        state.waiting += 1;
        self.0.changed.notify_all();
        while state.closed {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
