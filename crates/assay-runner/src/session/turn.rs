//! What the order of repeats and a repeat tell each other, and what both ask of a workload.

use std::time::Duration;

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::suite::{LEAST_REPEATS, PARTS, Suite, SuiteWorkload, part};
use assay_core::units::nanoseconds;
use assay_core::workload::{Stop, Workload};

use crate::budget::Share;
use crate::proof::Proof;

/// A workload with its state over the repeats.
pub(super) struct Entry {
    pub(super) asked: SuiteWorkload,
    /// As it runs here; settled before the first repeat, so that all repeats are alike.
    pub(super) fitted: Option<SuiteWorkload>,
    /// What runs here is what all hosts of the run do.
    pub(super) common: bool,
    /// Repeats that were left out, as the other hosts were past them.
    pub(super) passed: u32,
    /// Why what all hosts run cannot be run here.
    pub(super) cannot: Option<&'static str>,
    /// Of the workload in the suite and of its measurement in the record.
    pub(super) index: usize,
    pub(super) proof: Proof,
    /// Larger blocks than one that reaches what the bus allows.
    pub(super) left_out: bool,
    /// How its repeats are made where their number is open; known from the first one on.
    pub(super) settled: Option<RepeatPlan>,
}

/// How all repeats of a workload are made, settled before the first of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RepeatPlan {
    /// The time of each.
    pub(super) slot: Duration,
    /// They are as long, and at most as many, as in a suite with a fixed number of them.
    pub(super) whole: bool,
    /// Their number is decided by what they show.
    pub(super) open: bool,
}

impl RepeatPlan {
    /// As in the part of the run before an interruption; `usual` is the longest that a short repeat could be.
    pub(super) fn before(measurement: &Measurement, usual: Duration, rounds: u32) -> Option<Self> {
        let stop = &measurement.workload.stop;
        let slot = Duration::from_nanos(stop.ramp_ns + stop.duration_ns);
        let whole = slot > usual.mul_f64(1.5);
        (!measurement.repeats.is_empty()).then_some(Self { slot, whole, open: !whole && rounds > LEAST_REPEATS })
    }

    /// Whether the repeat of this round may be made, by the length of the others.
    pub(super) fn has(self, round: u32, suite: &Suite) -> bool {
        !self.whole || round < suite.repeats
    }
}

/// One repeat to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// Number of the repeat, from 0.
    pub(super) round: u32,
    /// Repeats made by now, and all of them.
    pub(super) done: u32,
    pub(super) total: u32,
    /// The time it may take.
    pub(super) slot: Duration,
    /// Weights in the write budget of all repeats to come, this one included.
    pub(super) weights: u64,
    /// Bytes that it may write, where earlier repeats settled that.
    pub(super) may_write: Option<u64>,
}

/// What follows a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next one.
    Go,
    /// The process was stopped meanwhile: the same once more.
    Again,
    /// Nothing: the run ended.
    End,
}

/// What may yet change with every repeat.
pub(super) fn reported_at_end(finding: &Finding) -> bool {
    matches!(finding, Finding::FewOperations { .. } | Finding::CrosscheckDiffers { .. })
}

/// The part of the test area that a workload uses.
pub(super) struct Place {
    pub(super) offset_bytes: u64,
    pub(super) span_bytes: u64,
}

impl Place {
    /// That of the workload at `index` of a suite, in an area of `area_bytes`.
    pub(super) fn of(workloads: &[SuiteWorkload], index: usize, area_bytes: u64) -> Self {
        let (offset_bytes, most) = part(workloads, index, area_bytes);
        let span_bytes = workloads[index].span.map_or(most, |span| span.0.min(most));
        Self { offset_bytes, span_bytes }
    }
}

/// The workload complete with its place and stop rule.
pub(super) fn complete(w: &SuiteWorkload, place: Place, direct: bool, share: Option<Share>) -> Workload {
    Workload {
        span_bytes: place.span_bytes,
        offset_bytes: place.offset_bytes,
        direct: direct && w.direct,
        stop: share.map_or(Stop::OPEN, |s| Stop {
            ramp_ns: nanoseconds(s.ramp),
            duration_ns: nanoseconds(s.duration),
            max_bytes: s.max_bytes,
        }),
        ..w.load()
    }
}

/// Repeats that came to their end.
pub(super) fn completed(measurement: &Measurement) -> u32 {
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed).count();
    u32::try_from(completed).unwrap_or(u32::MAX)
}

/// The number of a repeat by where it begins in a sequential stream: the first ones are spread over all of it.
pub(super) fn spread(round: u32, suite: &Suite) -> u32 {
    match suite.enough {
        None => round,
        Some(_) => round % suite.repeats * PARTS + round / suite.repeats,
    }
}

/// Whether a part of the area has no room for the blocks of all jobs: of several sizes none is made smaller, and
/// those of others lie behind the part of a group's member.
pub(super) fn no_room(workload: &SuiteWorkload, span: u64) -> bool {
    let bounded = workload.has_sizes() || workload.refined.stride.is_some() || workload.group.is_some();
    bounded && workload.largest().saturating_mul(u64::from(workload.jobs.max(1))) > span
}
