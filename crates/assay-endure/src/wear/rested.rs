//! Reading slices, and what the last cycle wrote after a rest.

use std::time::Instant;

use assay_core::endurance::FailureKind;

use super::{Left, Reading, Step, Wear};
use crate::entry::{Entry, SliceRested};
use crate::journal::JournalError;
use crate::layout::{PAGE_BYTES, Phase, Task, chunks};
use crate::log::Keep;
use crate::map::{COLUMNS, column};
use crate::medium::Medium;
use crate::resting::Clock;

impl<M: Medium, K: Keep> Wear<M, K> {
    /// With another clock than that of the host.
    #[must_use]
    pub fn timed_by(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Reads a slice chunk by chunk. `each` is called after each chunk, and says whether to go on.
    pub(super) fn read_slice(
        &mut self,
        task: Task,
        goes_on: &mut dyn FnMut(u64) -> bool,
        reading: &mut Reading,
        each: &mut dyn FnMut(&mut Self, &mut Reading) -> Result<bool, Left>,
    ) -> Result<(), Left> {
        let pages = self.state.layout().slice(task.slice(self.state.layout().unit));
        let mut next = chunks(&pages).skip(1);
        for (start, end) in chunks(&pages) {
            if !goes_on((start - pages.start) * PAGE_BYTES) {
                return Err(Left::Stopped);
            }
            let ahead = next.next();
            let done = (start - pages.start) * PAGE_BYTES;
            let runs = self.read_chunk(task, start..end, ahead, &mut || goes_on(done), reading)?;
            self.count(start..end, &runs, reading);
            if !each(self, reading)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a slice of what the last cycle wrote, after a rest: the one at this place of the first reading's order. What
    /// does not hold is logged for itself and is no wear.
    ///
    /// # Errors
    /// Where the log cannot be written.
    pub fn read_rested(&mut self, index: u64, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<Step, JournalError> {
        let Some(cycle) = self.state.rested_cycle() else { return Ok(Step::Ended(self.state.end())) };
        let task = Task { cycle, phase: Phase::Read, index };
        match self.read_rested_slice(task, goes_on) {
            Ok(()) => Ok(Step::Done(task)),
            Err(left) => left.into_step(),
        }
    }

    fn read_rested_slice(&mut self, task: Task, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<(), Left> {
        let began = Instant::now();
        self.medium.latencies();
        let slice = task.slice(self.state.layout().unit);
        let (pages, cells) = (self.state.layout().slice(slice), self.state.layout().cells_of(slice));
        let counts = vec![[0; COLUMNS]; (cells.end - cells.start) as usize];
        let mut reading = Reading { first_cell: cells.start, counts, failures: Vec::new(), transient: 0, healed: 0 };
        let mut lost = [0; FailureKind::ALL.len()];
        self.read_slice(task, goes_on, &mut reading, &mut |_, reading| {
            for run in reading.failures.drain(..) {
                lost[column(run.kind)] += run.sectors.end - run.sectors.start;
            }
            Ok(true)
        })?;
        let kinds = 0..FailureKind::ALL.len();
        let failing: u64 = reading.counts.iter().flat_map(|cell| kinds.clone().map(|kind| u64::from(cell[kind]))).sum();
        let (elapsed_ns, latencies) = (began.elapsed().as_nanos() as u64, self.medium.latencies());
        self.finish(&Entry::Rested(SliceRested {
            index: task.index,
            at: self.clock.now(),
            bytes: (pages.end - pages.start) * PAGE_BYTES,
            elapsed_ns,
            latencies,
            transient: reading.transient,
            worn: failing.saturating_sub(lost.iter().sum()),
            lost,
        }))
    }
}
