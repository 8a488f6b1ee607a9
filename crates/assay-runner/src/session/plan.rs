//! What a repeat will be, in the time and the bytes that are left.

use std::sync::Arc;
use std::time::Duration;

use assay_core::finding::{Finding, Shortfall};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record};
use assay_core::suite::{Analysis, LEAST_REPEATS, PARTS, Suite, SuiteWorkload, members, part};
use assay_core::units::nanoseconds;
use assay_core::workload::{Op, Pattern, Stop, Together, Workload};
use assay_engine::{RepeatSpec, Target};
use assay_original::ToolSubject;

use super::run::Session;
use crate::budget;
use crate::budget::{AdaptiveStop, Share};
use crate::choose::Instrument;
use crate::judge::Proof;
use crate::pace::{Pace, offered, time_between};
use crate::request::lasted_ns;
use crate::timeout::SLOW;

/// Fewest pauses in a repeat of a workload with think time.
const LEAST_PAUSES: u32 = 10;
/// What is left of a soak lasts at least this long.
const SHORTEST_SOAK: Duration = Duration::from_secs(1);

/// A repeat as it will run.
pub(super) struct Planned {
    /// Of the workload in the suite.
    pub(super) index: usize,
    pub(super) instrument: Instrument,
    pub(super) spec: RepeatSpec,
    pub(super) target: Arc<Target>,
    /// What a tool works on that is no engine.
    pub(super) subject: ToolSubject,
    pub(super) soak: bool,
    /// Ends it when it is known well enough, where that was asked for.
    pub(super) stop: Option<AdaptiveStop>,
}

impl Planned {
    /// Whether fio runs the same: it counts the latency of an open loop from the submission, and pauses and what runs
    /// beside a workload in its own way.
    pub(super) fn has_peer(&self) -> bool {
        let workload = &self.spec.workload;
        let alone = workload.think.is_none() && workload.together.is_none();
        // What it has beyond its blocks is done in another way by fio, or in the order of its own generator.
        !self.soak && workload.arrivals.is_none() && alone && workload.refined.is_empty()
    }
}

impl Session<'_> {
    /// The repeat of `turn` as the medium can do it in its share of time and bytes; `None` where nothing worth
    /// measuring is left of them.
    pub(super) fn plan(
        &self,
        entry: &mut LoadEntry,
        beside: Option<Together>,
        turn: Turn,
    ) -> Result<Option<Planned>, Outcome> {
        let (index, record) = (entry.index, self.record());
        let place = MeasuredPart::for_workload(&self.request.suite.workloads, index, self.draft.settings().span_bytes);
        let span = place.span_bytes;
        self.fitted(entry, turn.slot);
        entry.cannot = self.cannot_run_common(entry, span, turn.slot);
        if entry.cannot.is_some() {
            return Ok(None);
        }
        let fitted = self.fitted(entry, turn.slot);
        if no_room(fitted, span) {
            return Ok(None);
        }
        let Some(mut share) = self.budget.share(fitted, turn.slot, turn.weights) else { return Ok(None) };
        share.max_bytes = share.max_bytes.map(|bytes| turn.may_write.unwrap_or(bytes));
        let soak = fitted.analysis == Analysis::Soak;
        let mut stop = None;
        if soak {
            // The first second counts: a cache is emptiest then.
            let lasted = Duration::from_nanos(lasted_ns(&record.measurements[index]));
            let duration = (share.duration + share.ramp).saturating_sub(lasted).max(SHORTEST_SOAK);
            share = Share { ramp: Duration::ZERO, duration, ..share };
        } else if let (Some(wish), false) = (self.request.confidence, self.engines.are_originals()) {
            let (stretched, limits) = budget::stretch(share, fitted.op, wish);
            share = stretched;
            stop = Some(AdaptiveStop::new(limits));
        }
        let target = self.target_for(fitted)?;
        let mut share = limit_cached(share, fitted, target.direct(), record);
        if !fitted.direct && fitted.op == Op::Read && fitted.pattern == Pattern::Sequential {
            // A second pass would come out of the page cache.
            share = Share { ramp: Duration::ZERO, max_bytes: Some(span), ..share };
        }
        let Ok(arrivals) = offered(fitted, &record.measurements, index) else { return Ok(None) };
        if arrivals.is_some() {
            // What is due at the end of the measured part is waited for, up to a quarter of its length.
            share.duration = share.duration.mul_f64(0.8);
        }
        if has_too_few_pauses(fitted, share.duration) {
            return Ok(None);
        }
        let workload = Workload { arrivals, together: beside, ..complete(fitted, place, target.direct(), Some(share)) };
        let Some(instrument) = self.engines.for_workload(&workload, fitted.original) else { return Ok(None) };
        let subject = self.subject(fitted, turn, share.max_bytes, &target);
        let spec = RepeatSpec {
            workload,
            target: (!instrument.is_null()).then(|| Arc::clone(&target)),
            seed: self.request.seed ^ ((index as u64 + 1) << 32),
            repeat: spread(turn.round, &self.request.suite),
            repeats: self.request.suite.most_repeats(),
            hang_after: hang_after(&self.pace, fitted, self.request.hang_after)
                + time_between(arrivals).min(share.ramp + share.duration)
                + fitted.think.map_or(Duration::ZERO, |think| Duration::from_nanos(think.pause_ns)),
            sample_every: Duration::from_secs(1),
            wait_for: self.known_wait(&record.measurements[index]),
            begin_at_ns: None,
        };
        Ok(Some(Planned { index, instrument, spec, target, subject, soak, stop }))
    }

    /// For how many completions at once the next repeat waits: as the first one chose, so that all are alike. Where
    /// another instrument runs the same, for one as it does.
    fn known_wait(&self, measurement: &Measurement) -> Option<u32> {
        let chosen = measurement.batching.as_ref().map_or(1, |batching| batching.wait_for);
        (completed(measurement) > 0 || self.request.engine.crosscheck().is_some()).then_some(chosen)
    }

    /// What a tool works on that runs this workload in place of an engine.
    fn subject(&self, workload: &SuiteWorkload, turn: Turn, may_write: Option<u64>, target: &Target) -> ToolSubject {
        if !self.engines.has_originals() {
            return ToolSubject::default();
        }
        // A tool that checks what it reads writes that first, and reads have no share of the bytes to write.
        let to_come = u64::from(turn.total.saturating_sub(turn.done).max(1));
        let write_bytes = may_write.unwrap_or_else(|| self.budget.write_left() / (2 * to_come));
        self.area.subject(
            target,
            ToolSubject {
                device: self.record().medium.device.clone(),
                time: turn.slot,
                operation: self.pace.expected(workload).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
                write_bytes,
                ..ToolSubject::default()
            },
        )
    }

    pub(super) fn alignment(&self) -> u64 {
        u64::from(self.area.alignment().unwrap_or(512))
    }

    /// The workload as it runs here, settled before its first repeat.
    pub(super) fn fitted<'e>(&self, entry: &'e mut LoadEntry, slot: Duration) -> &'e SuiteWorkload {
        let area = self.draft.settings().span_bytes;
        let span = MeasuredPart::for_workload(&self.request.suite.workloads, entry.index, area).span_bytes;
        entry.fitted.get_or_insert_with(|| self.pace.fit(&entry.asked, slot, span, self.alignment()))
    }

    /// What runs beside a workload, as it runs here.
    pub(super) fn beside(&self, entries: &[LoadEntry], index: usize) -> Option<Together> {
        let group = entries[index].asked.group.clone()?;
        let title = |entry: &LoadEntry| {
            let fitted = entry.fitted.as_ref().unwrap_or(&entry.asked);
            let arrivals = offered(fitted, &self.record().measurements, entry.index).ok().flatten();
            Workload { arrivals, ..fitted.load() }.title()
        };
        let others = members(&self.request.suite.workloads, index).filter(|other| *other != index);
        Some(Together { group, beside: others.map(|other| title(&entries[other])).collect() })
    }

    /// The area as the workload asks for it: direct, or through the page cache.
    fn target_for(&self, workload: &SuiteWorkload) -> Result<Arc<Target>, Outcome> {
        if workload.direct || !self.area.target.direct() {
            return Ok(Arc::clone(&self.area.target));
        }
        self.area.cached().map_err(|error| self.failed(RunFailure::Other, error.to_string(), Some(&workload.name)))
    }
}

/// Whether fewer than [`LEAST_PAUSES`] pauses fit into a repeat: its rate would be that of where it began.
fn has_too_few_pauses(workload: &SuiteWorkload, duration: Duration) -> bool {
    workload.think.is_some_and(|think| Duration::from_nanos(think.pause_ns).saturating_mul(LEAST_PAUSES) > duration)
}

/// Cached writes go to memory at once and to the medium in the final sync, which nothing bounds:
/// so no more is written than the medium took while the area was laid out.
fn limit_cached(mut share: Share, workload: &SuiteWorkload, direct: bool, record: &Record) -> Share {
    let layout = record.settings().and_then(|settings| settings.layout.as_ref());
    if let (false, Some(bytes), Some(layout)) = (direct, share.max_bytes, layout) {
        let rate = layout.bytes as f64 / (layout.elapsed_ns.max(1) as f64 / 1e9);
        let least = workload.block.0 * u64::from(workload.queue_depth) * u64::from(workload.jobs);
        share.max_bytes = Some(bytes.min((rate * share.duration.as_secs_f64()) as u64).max(least));
    }
    share
}

/// How long nothing may complete.
fn hang_after(pace: &Pace, workload: &SuiteWorkload, usual: Duration) -> Duration {
    match pace.expected(workload) {
        Some(seconds) if seconds > 1.0 => usual * SLOW,
        _ => usual,
    }
}

// What the order of repeats and a repeat tell each other, and what both ask of a workload.

/// A workload with its state over the repeats.
pub(super) struct LoadEntry {
    pub(super) asked: SuiteWorkload,
    /// As it runs here; settled before the first repeat, so that all repeats are alike.
    pub(super) fitted: Option<SuiteWorkload>,
    /// What runs here is what all hosts of the run do.
    pub(super) common: bool,
    /// Repeats that were left out, as the other hosts were past them.
    pub(super) passed: u32,
    /// Why what all hosts run cannot be run here.
    pub(super) cannot: Option<Shortfall>,
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
pub(super) struct MeasuredPart {
    pub(super) offset_bytes: u64,
    pub(super) span_bytes: u64,
}

impl MeasuredPart {
    /// That of the workload at `index` of a suite, in an area of `area_bytes`.
    pub(super) fn for_workload(workloads: &[SuiteWorkload], index: usize, area_bytes: u64) -> Self {
        let (offset_bytes, most) = part(workloads, index, area_bytes);
        let span_bytes = workloads[index].span.map_or(most, |span| span.0.min(most));
        Self { offset_bytes, span_bytes }
    }
}

/// The workload complete with its place and stop rule.
pub(super) fn complete(w: &SuiteWorkload, place: MeasuredPart, direct: bool, share: Option<Share>) -> Workload {
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
