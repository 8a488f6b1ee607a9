//! Adaptive stopping: a repeat ends when its rate is steady, and repeats end when their interval is narrow enough.

use std::ops::ControlFlow;
use std::time::Duration;

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};
use assay_core::soak::{Steady, SteadyStatus};
use assay_core::suite::{LEAST_REPEATS, Suite, SuiteWorkload};
use assay_core::workload::Op;
use assay_engine::LiveSample;
use assay_stats::steady::{Bin, Steadiness, SteadyEnd, SteadyLimits, StopRule};

use crate::budget::Share;
use crate::judge::EDGE_OPERATIONS;

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
    // Fewer tell nothing of whether the queue was as deep as asked for.
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
    use assay_core::finding::Over;
    use assay_core::suite::Suite;
    use assay_core::workload::Workload;

    use super::*;

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
