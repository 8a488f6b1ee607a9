//! How long a measurement goes on: the time and bytes that are left, and adaptive stopping. A repeat ends when its rate is
//! steady; repeats end when their interval is narrow enough.

use std::ops::ControlFlow;
use std::time::Duration;

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};
use assay_core::soak::{Steady, SteadyStatus};
use assay_core::suite::{LEAST_REPEATS, Suite, SuiteWorkload, leaders};
use assay_core::workload::{Op, Pattern};
use assay_engine::{Control, LiveSample, Moment};
use assay_stats::steady::{Bin, Steadiness, SteadyEnd, SteadyLimits, StopRule};

use crate::judge::EDGE_OPERATIONS;

/// Share of the time budget that writing the test area may take.
const LAYOUT_SHARE: f64 = 0.2;
/// Share of the write budget that the test area may take where the suite writes more afterwards.
const LAYOUT_BYTES_SHARE: u64 = 4;
/// Kept back for draining, syncing and cleaning up at the end.
const RESERVE_SHARE: f64 = 0.05;
/// Warm-up at most, and its share of a repeat.
const RAMP: Duration = Duration::from_millis(500);
const RAMP_SHARE: f64 = 0.15;
/// A repeat shorter than this says nothing.
const LEAST_REPEAT: Duration = Duration::from_millis(100);

/// Least slot of time that makes such a repeat, its warm-up included: 100 ms / (1 - 15 %), rounded up.
const LEAST_SLOT: Duration = Duration::from_millis(118);
/// What is planned for it, with what is done before and after a repeat: files are opened, a queue drains, writes are synced.
pub(crate) const PLANNED_SLOT: Duration = Duration::from_millis(250);

/// The least time budget in which `repeats` repeats fit one after the other, in whole seconds.
pub(crate) fn least_budget(repeats: u32) -> Duration {
    let seconds = PLANNED_SLOT.as_secs_f64() * f64::from(repeats) / (1.0 - LAYOUT_SHARE - RESERVE_SHARE);
    Duration::from_secs(seconds.ceil() as u64)
}

/// What is planned for a repeat of a workload whose length the suite does not say, where programs share its time.
const USUAL_REPEAT: Duration = Duration::from_secs(5);

/// The time of a suite that its workloads have; programs have the rest. It is shared by how long they would take, but a
/// repeat of each workload has its time.
pub(crate) fn workloads_time(suite: &Suite) -> Duration {
    if suite.programs.is_empty() {
        return suite.budget;
    }
    let leaders = leaders(&suite.workloads);
    let programs: Duration = suite.programs.iter().map(|p| p.duration).sum();
    let workloads: Duration = leaders.iter().map(|at| suite.workloads[*at].duration.unwrap_or(USUAL_REPEAT)).sum();
    let share = workloads.as_secs_f64() / (programs + workloads).as_secs_f64().max(1e-9);
    let least = least_budget(u32::try_from(leaders.len()).unwrap_or(u32::MAX / 2));
    suite.budget.mul_f64(share.min(1.0)).max(least).min(suite.budget)
}

/// The bytes of a suite that its workloads may write: half, where programs write too.
pub(crate) fn workloads_bytes(suite: &Suite) -> u64 {
    if suite.programs_write() { suite.max_write.0 / 2 } else { suite.max_write.0 }
}

/// The longest that a repeat of a workload takes, its warm-up included, where the repeats of the suite share its time
/// alike and its test area is there at once.
#[must_use]
pub fn longest_repeat(suite: &Suite, workload: &SuiteWorkload) -> Duration {
    let turns = leaders(&suite.workloads).len();
    let repeats = suite.repeats.saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX));
    let share = workloads_time(suite).mul_f64(1.0 - RESERVE_SHARE) / repeats.max(1);
    workload.duration.map_or(share, |wanted| wanted.min(share))
}

/// Time and bytes of one run.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    start: Moment,
    time: Duration,
    /// Time in which nothing was done but to wait: it is no part of the budget.
    waited: Duration,
    max_write: u64,
    /// Bytes written before the run was interrupted: reported, but not counted against the limit.
    before: u64,
    written: u64,
    /// Knows the time for which the process was stopped, which does not count.
    control: Control,
}

/// What one repeat may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) ramp: Duration,
    pub(crate) duration: Duration,
    pub(crate) max_bytes: Option<u64>,
}

impl Budget {
    pub(crate) fn new(time: Duration, max_write: u64) -> Self {
        let waited = Duration::ZERO;
        Self {
            start: Control::default().now(),
            time,
            waited,
            max_write,
            before: 0,
            written: 0,
            control: Control::default(),
        }
    }

    /// The same for a resumed run that wrote `before` bytes already.
    pub(crate) fn after(self, before: u64) -> Self {
        Self { before, ..self }
    }

    /// The same without time for which `control` says that the process was stopped.
    pub(crate) fn under(self, control: &Control) -> Self {
        Self { start: control.now(), control: control.clone(), ..self }
    }

    /// Most bytes that the test area may have.
    pub(crate) fn area_bytes(&self, suite_writes: bool) -> u64 {
        if suite_writes { self.max_write / LAYOUT_BYTES_SHARE } else { self.max_write }
    }

    /// When writing the test area must end.
    pub(crate) fn layout_time(&self) -> Duration {
        self.time.mul_f64(LAYOUT_SHARE)
    }

    /// Time in which the run waited for others does not count.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.waited += time;
    }

    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Bytes written by the run, parts before an interruption included.
    pub(crate) fn written(&self) -> u64 {
        self.before + self.written
    }

    /// Bytes written by this part of the run.
    pub(crate) fn written_now(&self) -> u64 {
        self.written
    }

    /// Bytes that may yet be written.
    pub(crate) fn write_left(&self) -> u64 {
        self.max_write.saturating_sub(self.written)
    }

    /// Time left for repeats.
    pub(crate) fn left(&self) -> Duration {
        (self.time.mul_f64(1.0 - RESERVE_SHARE) + self.waited).saturating_sub(self.control.elapsed(&self.start))
    }

    /// How many rounds the time left allows, where each workload has made some of the `most` repeats that are
    /// planned; a repeat takes `least` or longer. One at least, however little time is left.
    pub(crate) fn rounds(&self, done: &[u32], most: u32, least: Duration) -> u32 {
        let missing = |rounds: u32| done.iter().map(|done| rounds.saturating_sub(*done)).sum::<u32>();
        let left = self.left();
        (1..=most).rev().find(|rounds| least.saturating_mul(missing(*rounds)) <= left).unwrap_or(1)
    }

    /// Time for one of `repeats_left` equal repeats; as long as there is time, enough for a repeat.
    pub(crate) fn slot(&self, repeats_left: u32) -> Duration {
        let left = self.left();
        (left / repeats_left.max(1)).max(LEAST_SLOT.min(left))
    }

    /// The same for the first repeat of one of `workloads`: it has the least time even where the others took more than was
    /// planned, so that none is left out. All of them together may go over the time by what is planned for as many.
    pub(crate) fn first_slot(&self, slot: Duration, workloads: usize) -> Duration {
        let over = PLANNED_SLOT.saturating_mul(u32::try_from(workloads).unwrap_or(u32::MAX));
        let time = self.time.saturating_add(self.waited);
        let is_late = self.control.elapsed(&self.start) > time.saturating_add(over);
        if is_late { slot } else { slot.max(LEAST_SLOT) }
    }

    /// The share of the next repeat: its slot of time, and its weight of the bytes left.
    /// `weights_left` is the sum over all repeats still to come, this one included. `None` where
    /// nothing worth measuring is left.
    pub(crate) fn share(&self, workload: &SuiteWorkload, slot: Duration, weights_left: u64) -> Option<Share> {
        let slot = workload.duration.map_or(slot, |wanted| wanted.min(slot));
        let ramp = RAMP.min(slot.mul_f64(RAMP_SHARE));
        let duration = slot.saturating_sub(ramp);
        if duration < LEAST_REPEAT {
            return None;
        }
        let max_bytes = match workload.op {
            Op::Read => None,
            Op::Write | Op::Mixed => {
                let share =
                    u128::from(self.write_left()) * u128::from(weight(workload)) / u128::from(weights_left.max(1));
                let bytes = share as u64;
                if bytes < workload.block.0 * u64::from(workload.queue_depth) * u64::from(workload.jobs) {
                    return None;
                }
                Some(bytes)
            }
        };
        Some(Share { ramp, duration, max_bytes })
    }
}

/// How much of the write budget a repeat of this workload gets, relative to the others: a
/// sequential stream needs more bytes than single synced blocks for the same time.
pub(crate) fn weight(workload: &SuiteWorkload) -> u64 {
    match (workload.op, workload.pattern) {
        (Op::Read, _) => 0,
        _ if workload.sync.each() => 1,
        (_, Pattern::Sequential) => 8,
        (_, Pattern::Random) if workload.queue_depth > 1 || workload.jobs > 1 => 4,
        (_, Pattern::Random) => 2,
    }
}

/// More repeats than this are not worth their wear: the medium does not repeat itself.
pub const MOST_REPEATS: u32 = 10;
/// Fewest unsteady repeats that make a workload erratic.
const ERRATIC: u32 = 2;
/// What the test area and the end of a run take of a budget, reserve included.
const AROUND: f64 = 1.4;

/// The rule for one kind of operation. A write is known well enough at 10 %: its repeats differ
/// by as much, so that a closer look at one of them would be time spent for nothing.
pub(crate) fn limits(op: Op, wish: f64) -> SteadyLimits {
    match op {
        Op::Read => SteadyLimits { half_width: wish, ..SteadyLimits::READ },
        Op::Write | Op::Mixed => {
            SteadyLimits { half_width: wish.max(SteadyLimits::WRITE.half_width), ..SteadyLimits::WRITE }
        }
    }
}

/// Longest that one repeat of a workload can last.
pub(crate) fn longest(workload: &SuiteWorkload) -> Duration {
    let cap = Duration::from_secs_f64(limits(workload.op, 1.0).cap);
    workload.duration.map_or(cap, |d| d.min(cap))
}

/// Time that a suite needs at most where nothing becomes steady and no repeat agrees with another.
#[must_use]
pub fn longest_time(suite: &Suite) -> Duration {
    suite.workloads.iter().map(|w| longest(w) * MOST_REPEATS).sum::<Duration>().mul_f64(AROUND)
}

/// Time for the next of `LEAST_REPEATS` repeats; `left` of them are still to come.
pub(crate) fn slot(workload: &SuiteWorkload, time: Duration, left: u32) -> Duration {
    longest(workload).min(time / left.max(1))
}

/// Time for a repeat beyond the least number; `None` where `reserved` is needed for what is still
/// to come.
pub(crate) fn extra_slot(
    workload: &SuiteWorkload,
    time: Duration,
    reserved: Duration,
    usual: Duration,
) -> Option<Duration> {
    let usual = usual.min(longest(workload));
    let free = time.saturating_sub(reserved).min(longest(workload));
    (free >= usual).then_some(free)
}

/// The share of a repeat, with the warm-up of the rule.
pub(crate) fn stretch(share: Share, op: Op, wish: f64) -> (Share, SteadyLimits) {
    let limits = limits(op, wish).within((share.ramp + share.duration).as_secs_f64());
    let ramp = Duration::from_secs_f64(limits.ramp);
    (Share { ramp, duration: Duration::from_secs_f64(limits.cap) - ramp, ..share }, limits)
}

/// One repeat under the rule.
pub(crate) struct AdaptiveStop {
    rule: StopRule,
    ended: Option<SteadyEnd>,
}

impl AdaptiveStop {
    pub(crate) fn new(limits: SteadyLimits) -> Self {
        Self { rule: StopRule::new(limits), ended: None }
    }

    /// Takes a sample; breaks when the repeat has lasted long enough.
    pub(crate) fn sample(&mut self, sample: &LiveSample) -> ControlFlow<()> {
        // What is drained after the decision no longer counts.
        if self.ended.is_none() {
            let seconds = sample.interval_ns as f64 / 1e9;
            self.ended = self.rule.push(Bin { seconds, operations: sample.operations, bytes: sample.bytes });
        }
        if self.ended.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Writes into the repeat what the rule saw.
    pub(crate) fn note(self, repeat: &mut Repeat) {
        let SteadyEnd { status, seen } = self.ended.unwrap_or_else(|| self.rule.finish());
        if let Some(seen) = seen.filter(|s| s.dropped > 0.0) {
            repeat.iops = seen.operations_per_second;
            repeat.bytes_per_second = seen.bytes_per_second;
        }
        let of = |value: fn(&Steadiness) -> f64| seen.as_ref().map(value).filter(|v| v.is_finite());
        let truncated_ns = seen.map_or(0, |s| (s.dropped * 1e9) as u64);
        let (half_width, drift, lag1) = (of(|s| s.half_width), of(|s| s.drift), of(|s| s.lag1));
        repeat.steady = Some(Box::new(Steady { status, half_width, drift, lag1, truncated_ns }));
    }
}

/// Whether the repeats agree as well as was wished for.
pub(crate) fn reached(measurement: &Measurement, wish: f64) -> bool {
    let n = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed).count();
    n >= LEAST_REPEATS as usize
        && measurement.iops.as_ref().and_then(|e| e.relative_half_width()).is_some_and(|h| h <= wish)
}

/// Whether more repeats would tell nothing more that was asked for: they agree as well as was wished for, are steady and
/// have operations enough.
pub(crate) fn known(measurement: &Measurement, wish: f64) -> bool {
    let doubtful = |finding: &Finding| {
        matches!(
            finding,
            Finding::FewOperations { .. }
                | Finding::Drift { .. }
                | Finding::TwoSpeeds { .. }
                | Finding::UnevenRepeats { .. }
        )
    };
    let counted = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
    let operations: u64 = counted.map(|r| r.operations).sum();
    // Fewer tell nothing about whether the queue was as deep as asked for.
    reached(measurement, wish)
        && operations >= measurement.workload.depth() * EDGE_OPERATIONS
        && !measurement.warnings.iter().any(|w| doubtful(&w.finding))
}

/// What the measurement says of itself when its last repeat is done.
pub(crate) fn conclude(measurement: &mut Measurement, wish: f64) {
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let of = count(completed.clone().count());
    let unsteady = |r: &&Repeat| r.steady.as_ref().is_some_and(|s| s.status == SteadyStatus::Unsteady);
    let repeats = count(completed.filter(unsteady).count());
    if of == 0 {
        return;
    }
    if repeats >= ERRATIC {
        measurement.warn(Finding::Unsteady { repeats, of });
    }
    if !reached(measurement, wish) {
        let reached = measurement.iops.as_ref().and_then(|e| e.relative_half_width());
        measurement.warn(Finding::NotReached { asked: wish, reached, repeats: of });
    }
}

// When a sweep over block sizes has shown all of the medium that the bus lets through.

/// Fewest block sizes of the same kind that make a sweep.
const LEAST_SWEEP: usize = 3;

/// The block in bytes by which the sweep that this workload is part of reached what the bus allows,
/// where the workload's block is larger: it would show the bus again and nothing of the medium.
/// `measurements` stand in the order of the workloads.
pub(crate) fn bus_reached(workloads: &[SuiteWorkload], index: usize, measurements: &[Measurement]) -> Option<u64> {
    let asked = &workloads[index];
    let kind = |w: &SuiteWorkload| {
        let how = (w.queue_depth, w.jobs, w.sync, w.direct, w.rate.clone(), w.distribution.clone());
        let manner = (w.group.clone(), w.cpus.clone(), w.poll);
        let beside = (w.blocks.clone(), w.think, manner, w.refined.clone(), w.priorities.clone());
        (w.op, w.pattern, w.read_percent, how, beside)
    };
    let sweep = || workloads.iter().zip(measurements).filter(|(w, _)| kind(w) == kind(asked));
    if sweep().count() < LEAST_SWEEP {
        return None;
    }
    let reached = |(w, m): &(&SuiteWorkload, &Measurement)| m.bus_limited && w.block < asked.block;
    sweep().filter(reached).map(|(w, _)| w.block.0).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::asked;
    use assay_core::finding::Over;
    use assay_core::suite::Suite;
    use assay_core::units::{GIB, MIB};
    use assay_core::workload::Workload;

    fn workload(op: Op, pattern: Pattern) -> SuiteWorkload {
        asked(op, pattern, 4096, 1)
    }

    /// A node that waited for others had no least slot left for its last workloads.
    #[test]
    fn time_waited_for_others_leaves_the_first_repeats_their_time() {
        let mut budget = Budget::new(Duration::ZERO, GIB);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(budget.first_slot(Duration::ZERO, 0), Duration::ZERO, "the time is over");
        budget.waited(Duration::from_secs(3600));
        assert_eq!(budget.first_slot(Duration::ZERO, 0), LEAST_SLOT);
    }

    #[test]
    fn shares_never_add_up_to_more_than_was_allowed() {
        let mut budget = Budget::new(Duration::from_secs(90), GIB);
        assert_eq!(budget.area_bytes(true), 256 * MIB);
        budget.wrote(256 * MIB);
        let all = [workload(Op::Write, Pattern::Sequential), workload(Op::Write, Pattern::Random)];
        let mut weights: u64 = all.iter().map(weight).sum::<u64>() * 3;
        for _ in 0..3 {
            for w in &all {
                let share = budget.share(w, Duration::from_secs(4), weights).unwrap();
                budget.wrote(share.max_bytes.unwrap());
                weights -= weight(w);
            }
        }
        assert!(budget.written() <= GIB && budget.written() > GIB * 9 / 10, "{}", budget.written());
        assert_eq!(budget.share(&all[0], Duration::from_secs(4), 1), None, "nothing left");
        assert!(budget.share(&workload(Op::Read, Pattern::Random), Duration::from_secs(4), 1).is_some());
    }

    /// What was written before an interruption is reported, and not planned for twice.
    #[test]
    fn bytes_of_a_resumed_run_are_reported_and_do_not_count() {
        let mut budget = Budget::new(Duration::from_secs(90), GIB).after(3 * GIB);
        budget.wrote(5);
        assert_eq!(budget.written(), 3 * GIB + 5);
        let random = workload(Op::Write, Pattern::Random);
        let share = budget.share(&random, Duration::from_secs(4), weight(&random)).unwrap();
        assert_eq!(share.max_bytes, Some(GIB - 5));
    }

    #[test]
    fn stopped_time_is_not_in_the_budget() {
        let control = Control::default();
        let budget = Budget::new(Duration::from_secs(90), GIB).under(&control);
        let before = budget.left();
        control.beat(Duration::from_secs(60));
        assert!(budget.left() >= before, "{:?}", budget.left());
    }

    /// Nodes wait for each other before each repeat, in sum longer than a short suite takes.
    #[test]
    fn what_a_run_waited_for_others_takes_nothing_of_its_time() {
        let mut budget = Budget::new(Duration::from_secs(5), GIB);
        let (whole, wait) = (budget.left(), Duration::from_secs(60));
        budget.waited(wait);
        assert!(budget.left() > whole + wait.mul_f64(0.999), "{:?} of {whole:?}", budget.left());
        assert_eq!(budget.layout_time(), Duration::from_secs(1), "nor is it time for the test area");
    }

    /// Seven workloads of three repeats in 2 s: one round is made whole, and none is skipped for the last ones.
    #[test]
    fn short_budgets_have_fewer_rounds_and_every_workload_in_each() {
        let budget = |seconds| Budget::new(Duration::from_secs(seconds), GIB);
        assert_eq!(budget(3).rounds(&[0; 7], 3, PLANNED_SLOT), 1);
        assert_eq!(budget(4).rounds(&[0; 7], 3, PLANNED_SLOT), 2);
        assert_eq!(budget(90).rounds(&[0; 7], 3, PLANNED_SLOT), 3);
        assert_eq!(budget(1).rounds(&[0; 7], 3, PLANNED_SLOT), 1);
        assert_eq!(budget(1).rounds(&[2, 2, 2, 2, 2, 1, 1], 3, PLANNED_SLOT), 2, "what was done is not made again");
        assert_eq!([1, 4, 7].map(|repeats| least_budget(repeats).as_secs()), [1, 2, 3]);
        let slot = budget(1).slot(21);
        let least = budget(1).share(&workload(Op::Read, Pattern::Random), slot, 1);
        assert!(least.is_some_and(|share| share.duration >= LEAST_REPEAT));
    }

    /// Where earlier repeats or the test area took longer than planned, the last workload is not skipped.
    #[test]
    fn every_workload_has_a_first_repeat_though_the_time_is_over() {
        let late = Budget::new(Duration::ZERO, GIB);
        std::thread::sleep(Duration::from_millis(5));
        let read = workload(Op::Read, Pattern::Random);
        assert_eq!(late.left(), Duration::ZERO);
        let slot = late.first_slot(late.slot(1), 700);
        assert!(late.share(&read, slot, 1).is_some(), "{slot:?}");
        assert_eq!(late.first_slot(Duration::from_secs(4), 700), Duration::from_secs(4), "no shorter than it is");
        assert_eq!(late.first_slot(Duration::ZERO, 0), Duration::ZERO, "what is over by more than planned is left out");
    }

    #[test]
    fn too_little_time_is_no_repeat() {
        let budget = Budget::new(Duration::from_secs(90), GIB);
        assert_eq!(budget.share(&workload(Op::Read, Pattern::Random), Duration::from_millis(50), 1), None);
    }

    fn share(seconds: u64) -> Share {
        Share { ramp: Duration::from_millis(500), duration: Duration::from_secs(seconds), max_bytes: None }
    }

    #[test]
    fn a_short_budget_shrinks_the_rule_and_a_long_one_does_not_stretch_it() {
        let (long, limits) = stretch(share(600), Op::Read, 0.05);
        assert_eq!((long.ramp, long.duration), (Duration::from_secs(5), Duration::from_secs(55)));
        assert_eq!((limits.cap, limits.half_width), (60.0, 0.05));
        let (short, limits) = stretch(share(20), Op::Write, 0.02);
        assert!((short.ramp + short.duration).as_secs_f64() <= 20.6 && limits.half_width == 0.10, "{short:?}");
    }

    #[test]
    fn a_repeat_ends_when_it_is_steady_and_says_so() {
        let mut stop = AdaptiveStop::new(limits(Op::Read, 0.05));
        let sample =
            LiveSample { t_ns: 0, interval_ns: 1_000_000_000, operations: 900, bytes: 900, p50_ns: None, p99_ns: None };
        let seconds = (1..100).find(|_| stop.sample(&sample).is_break());
        assert_eq!(seconds, Some(25));
        assert!(stop.sample(&LiveSample { operations: 1, ..sample }).is_break(), "it stays ended");
        assert_eq!(stop.ended.map(|ended| ended.status), Some(SteadyStatus::Steady));
    }

    #[test]
    fn enough_is_known_of_repeats_that_agree_and_are_steady() {
        let of = |rates: &[f64], finding: Option<Finding>| {
            let mut m = crate::evidence::measurement(&rates.iter().map(std::slice::from_ref).collect::<Vec<_>>());
            crate::summary::estimate(&mut m, &assay_stats::geometric_until_known);
            finding.into_iter().for_each(|finding| m.warn(finding));
            known(&m, 0.05)
        };
        assert!(of(&[100.0, 101.0, 100.5], None));
        assert!(!of(&[100.0, 101.0], None), "too few");
        assert!(!of(&[100.0, 106.0, 103.0], None), "wider");
        for finding in [
            Finding::FewOperations { operations: 9 },
            Finding::Drift { change: -0.2, over: Over::Seconds },
            Finding::TwoSpeeds { ratio: 0.5, slow_share: 0.3, over: Over::Seconds },
            Finding::UnevenRepeats { ratio: 1.3 },
        ] {
            assert!(!of(&[100.0, 101.0, 100.5], Some(finding.clone())), "{finding:?}");
        }
        assert!(of(&[100.0, 101.0, 100.5], Some(Finding::CachedByRequest)));
    }

    #[test]
    fn a_measurement_says_that_it_was_unsteady_or_fell_short_of_the_wish() {
        let of = |statuses: &[SteadyStatus], last: Outcome| {
            let rates = [100.0, 140.0, 101.0, 99.0];
            let mut m = crate::evidence::measurement(&rates.each_ref().map(std::slice::from_ref)[..statuses.len()]);
            for (repeat, status) in m.repeats.iter_mut().zip(statuses) {
                let steady = Steady { status: *status, half_width: None, drift: None, lag1: None, truncated_ns: 0 };
                repeat.steady = Some(Box::new(steady));
            }
            m.repeats.last_mut().unwrap().outcome = last;
            crate::summary::estimate(&mut m, &assay_stats::geometric_until_known);
            conclude(&mut m, 0.05);
            m.warnings
                .iter()
                .map(|w| match w.finding {
                    Finding::Unsteady { repeats, of } => ("unsteady", repeats, of),
                    Finding::NotReached { repeats, .. } => ("not reached", 0, repeats),
                    ref other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        use SteadyStatus::{Steady as Even, Unsteady};
        assert_eq!(of(&[Even, Even, Unsteady], Outcome::Completed), [("not reached", 0, 3)]);
        let twice = [Even, Unsteady, Even, Unsteady];
        assert_eq!(of(&twice, Outcome::Completed), [("unsteady", 2, 4), ("not reached", 0, 4)]);
        assert_eq!(of(&twice, Outcome::Running), [("not reached", 0, 3)], "one was interrupted");
        assert_eq!(of(&[Unsteady], Outcome::Running), [], "none was completed");
    }

    #[test]
    fn extra_repeats_take_only_time_that_is_not_reserved() {
        let text = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"r\"\nop = \"read\"\npattern = \"random\"\nblock = \"4k\"\n[[workload]]\nname = \"w\"\nop = \"write\"\npattern = \"random\"\nblock = \"4k\"\n";
        let suite = Suite::parse(text, "x").unwrap();
        let read = &suite.workloads[0];
        let s = Duration::from_secs;
        assert_eq!(longest_time(&suite), s(3600).mul_f64(AROUND));
        assert_eq!(slot(read, s(30), 3), s(10));
        assert_eq!(slot(read, s(3000), 3), s(60));
        assert_eq!(extra_slot(read, s(100), s(80), s(10)), Some(s(20)));
        assert_eq!(extra_slot(read, s(85), s(80), s(10)), None);
    }

    fn sweep(blocks: &[&str]) -> (Vec<SuiteWorkload>, Vec<Measurement>) {
        let mut text =
            "name = \"s\"\nversion = 1\npurpose = \"p\"\nbudget = \"9s\"\nmax_write = \"1GiB\"\nrepeats = 1\n\
                        span = \"64MiB\"\n"
                .to_owned();
        for block in blocks {
            text += &format!(
                "[[workload]]\nname = \"r{block}\"\nop = \"read\"\npattern = \"random\"\nblock = \"{block}\"\n"
            );
        }
        let workloads = Suite::parse(&text, "t").unwrap().workloads;
        let empty = |w: &SuiteWorkload| Workload::new(&w.name, w.op, w.pattern, w.block.0);
        let measurements = workloads.iter().map(|w| Measurement::empty(empty(w), "sync")).collect();
        (workloads, measurements)
    }

    #[test]
    fn only_larger_blocks_of_a_sweep_are_left_out() {
        let (workloads, mut measurements) = sweep(&["4KiB", "64KiB", "16KiB", "256KiB"]);
        assert!((0..4).all(|i| bus_reached(&workloads, i, &measurements).is_none()));
        measurements[1].bus_limited = true;
        let left: Vec<_> = (0..4).map(|i| bus_reached(&workloads, i, &measurements)).collect();
        assert_eq!(left, [None, None, None, Some(65536)]);
        measurements[2].bus_limited = true;
        assert_eq!(bus_reached(&workloads, 3, &measurements), Some(16384), "the smallest that reached it");
        let mut others = workloads.clone();
        others[3].queue_depth = 32;
        assert_eq!(bus_reached(&others, 3, &measurements), None, "another kind of load");
    }

    #[test]
    fn two_sizes_are_no_sweep() {
        let (workloads, mut measurements) = sweep(&["4KiB", "1MiB"]);
        measurements[0].bus_limited = true;
        assert_eq!(bus_reached(&workloads, 1, &measurements), None);
    }
}
