//! Repeats that begin together with those of other hosts.

use std::fmt;
use std::time::Duration;

use assay_core::cluster::{ClusterPart, CommonStart, Look, SettledBy, Standing};
use assay_core::medium::Mounted;
use assay_engine::{Control, monotonic, sleep_until};

/// How long before a common start the repeat is made ready: buffers, threads, the first look at counters and sensors.
pub const SET_UP: Duration = Duration::from_millis(400);

/// A repeat of a run. All hosts have them in this order, though some may leave some out: rounds of reads, then of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepeatStep {
    /// 0 where it reads, 1 where it writes.
    pub stage: u32,
    /// Number of the repeat, from 0.
    pub round: u32,
    /// Number of the workload in the suite, from 0.
    pub workload: u32,
}

/// A common start, as this host has to know it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// When to begin, by [`monotonic`] on this host, in nanoseconds.
    pub at_ns: u64,
    /// The same on the clock that all hosts compare with, since their run began, in nanoseconds.
    pub planned_ns: i64,
    /// How far off that clock both may be, in nanoseconds; `None` where no clocks were compared.
    pub bound_ns: Option<u64>,
    /// Hosts that begin together.
    pub nodes: u32,
}

impl Start {
    /// What to note of a repeat that began at `began_ns` by this host's clock.
    pub(crate) fn met(&self, began_ns: u64) -> CommonStart {
        let late = i128::from(began_ns) - i128::from(self.at_ns);
        let began_ns = i64::try_from(i128::from(self.planned_ns) + late).unwrap_or(i64::MAX);
        CommonStart { planned_ns: self.planned_ns, began_ns, bound_ns: self.bound_ns, nodes: self.nodes }
    }
}

/// A workload as this host can run it, by a first look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AbleLoad {
    /// Block in bytes.
    pub block_bytes: u64,
    /// Queue depth of each job.
    pub queue_depth: u32,
    /// Jobs.
    pub jobs: u32,
    /// How long one operation of the block that the suite asks for takes; `None` where nothing is known.
    pub look: Option<Look>,
}

/// What a host can do, said before its first repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Ability {
    /// Each workload, in the order of the suite.
    pub loads: Vec<AbleLoad>,
    /// Bytes of its test area.
    pub area_bytes: u64,
    /// Time of the suite.
    pub budget: Duration,
    /// Where the target lies.
    pub mounted: Mounted,
}

/// A workload as all hosts run it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonLoad {
    /// Block in bytes.
    pub block_bytes: u64,
    /// Queue depth of each job.
    pub queue_depth: u32,
    /// Jobs.
    pub jobs: u32,
    /// Operations of this host over those of the typical one in the same time; `None` where either is not known.
    pub to_typical: Option<f64>,
    /// Where this host stands.
    pub standing: Standing,
}

/// What all hosts run.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonLoads {
    /// Who settled it.
    pub by: SettledBy,
    /// Hosts that had said what they can do.
    pub nodes: u32,
    /// Bytes of the test area.
    pub area_bytes: u64,
    /// Each workload, in the order of the suite.
    pub loads: Vec<CommonLoad>,
}

/// What a host is to do that is ready for a repeat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Word {
    /// Begin it together with others.
    Begin(Start),
    /// Begin it by itself.
    Alone,
    /// Leave it out: the others are past it.
    Skip,
}

/// Where hosts agree what to run, and when to begin.
pub trait Rendezvous: fmt::Debug {
    /// Says what this host can do before its first repeat, and waits for what all are to run, or for `control` to end the
    /// run. `None` where each runs what it can.
    fn settle(&mut self, _able: &Ability, _control: &Control) -> Option<CommonLoads> {
        None
    }

    /// Says that this host is ready for a repeat, and waits for the word to begin, or for `control` to end the run.
    fn ready(&mut self, step: RepeatStep, control: &Control) -> Word;

    /// The part that this host had, for its record; `None` where there was no coordinator. `whole` says that all was
    /// measured: a coordinator that is lost after that took nothing from the record.
    fn part(&mut self, whole: bool) -> Option<ClusterPart>;
}

/// Sleeps until it is time to make the repeat ready, or `control` ends the run.
pub(crate) fn sleep_until_set_up(start: &Start, control: &Control) {
    const TICK_NS: u64 = 50_000_000;
    let at_ns = start.at_ns.saturating_sub(SET_UP.as_nanos() as u64);
    while monotonic() < at_ns && !control.stopped() {
        sleep_until(at_ns.min(monotonic() + TICK_NS));
    }
}

/// For how long `wait` took.
pub(crate) fn timed<T>(wait: impl FnOnce() -> T) -> (T, Duration) {
    let before = monotonic();
    let waited = wait();
    (waited, Duration::from_nanos(monotonic() - before))
}
