//! What a program is given, and what comes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::finding::Shortfall;
use assay_device::Counters;
use assay_device::owned::OwnDir;
use assay_engine::Control;

use crate::system::processor_time;
use crate::tree::SourceTree;
use crate::trouble::ProgramTrouble;

/// What a program works with.
pub struct Work {
    /// Directory of its own for files; none on a raw device.
    pub place: Option<Arc<OwnDir>>,
    /// Tells it to end.
    pub control: Control,
    /// Counts its steps: where it stands still the medium hangs.
    pub beat: Arc<AtomicU64>,
    /// When it ends, finished or not.
    pub deadline: Instant,
    /// Seed of what is drawn.
    pub seed: u64,
    /// The source tree.
    pub tree: Arc<SourceTree>,
    /// The counters of the block devices under its directory; none where there are no such devices.
    pub counters: Box<dyn Fn() -> Option<Counters> + Send + Sync>,
}

impl Work {
    /// Tells that it goes on; true where time is up.
    ///
    /// # Errors
    /// Where the end was asked for.
    pub(crate) fn step(&self) -> Result<bool, ProgramTrouble> {
        self.beat.fetch_add(1, Ordering::Relaxed);
        if self.control.stopped() {
            return Err(ProgramTrouble::Stopped);
        }
        Ok(Instant::now() >= self.deadline)
    }

    /// The directory for files.
    pub(crate) fn place(&self) -> Result<&OwnDir, ProgramTrouble> {
        self.place.as_deref().ok_or(ProgramTrouble::LeftOut(Shortfall::RawDevice))
    }

    /// Now, by all clocks.
    pub(crate) fn mark(&self) -> Mark {
        Mark { counters: (self.counters)(), processor: processor_time(), at: Instant::now() }
    }

    /// What passed since `mark`.
    pub(crate) fn since(&self, mark: &Mark) -> Timed {
        let (elapsed, processor) = (mark.at.elapsed(), Some(processor_time().saturating_sub(mark.processor)));
        let crossed = mark.counters.zip((self.counters)()).map(|(before, after)| after - before);
        Timed { elapsed, processor, crossed }
    }
}

/// A moment.
pub(crate) struct Mark {
    counters: Option<Counters>,
    processor: Duration,
    at: Instant,
}

/// What the measured part of a program took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timed {
    /// Time.
    pub elapsed: Duration,
    /// Processor time of this process, over all threads; none where another one did the work.
    pub processor: Option<Duration>,
    /// What the block devices counted; none where there are none.
    pub crossed: Option<Counters>,
}

/// One repeat of a program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    /// Its figures; the first is the usual one.
    pub figures: Vec<ProgramFigure>,
    /// Threads that worked.
    pub threads: u32,
    /// Bytes written to files, measured or not.
    pub written_bytes: u64,
    /// The source tree that it worked on, in words.
    pub tree: Option<String>,
}

/// A figure of a repeat; more of it is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramFigure {
    /// How it differs from the usual figure; empty for that.
    pub of: &'static str,
    /// Its value.
    pub value: f64,
    /// Unit of the value.
    pub unit: &'static str,
    /// What the measured part took.
    pub timed: Timed,
}

impl ProgramFigure {
    /// The usual figure of a program: so much in that time.
    pub(crate) fn rate(amount: f64, timed: Timed, unit: &'static str) -> Self {
        Self { of: "", value: amount / timed.elapsed.as_secs_f64().max(1e-9), unit, timed }
    }
}
