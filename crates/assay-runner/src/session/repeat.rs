//! One repeat: it is planned, made, taken over and judged.

use std::mem::discriminant;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::{Finding, Warning};
use assay_core::outcome::{Failure, Outcome};
use assay_core::record::{Measurement, Record};
use assay_core::suite::{Analysis, SuiteWorkload, members};
use assay_core::together::Together;
use assay_core::units::nanoseconds;
use assay_core::workload::{Op, Pattern, Workload};
use assay_engine::{EngineKind, RepeatReport, RepeatSpec, Target, wall_clock};
use assay_original::Subject;

use super::begin::Session;
use super::turn::{Entry, Next, Place, Turn, complete, told_at_end};
use crate::adaptive::{self, AdaptiveStop};
use crate::budget::Share;
use crate::choose::Instrument;
use crate::crosscheck::{self, Order};
use crate::evidence::{efficiency, judge_shape, keep};
use crate::journal::Journal;
use crate::judge::judge;
use crate::offered::{between, offered};
use crate::pace::Pace;
use crate::proof::{self, Proof};
use crate::resume::lasted_ns;
use crate::soak;
use crate::summary::{batching, estimate, half_width, repeat, replace_findings};
use crate::timeout::{NoAnswer, SLOW, SYNC, no_thread, within};

/// Operations of an open loop that are begun later than this share of their latency falsify it.
const LATE_SHARE: f64 = 0.05;
/// A repeat holds at least so many pauses of a workload with think time.
const LEAST_PAUSES: u32 = 10;
/// What is left of a soak lasts at least this long.
const SHORTEST_SOAK: Duration = Duration::from_secs(1);

/// A repeat as it will run.
pub(super) struct Planned {
    /// Of the workload in the suite.
    index: usize,
    pub(super) instrument: Instrument,
    pub(super) spec: RepeatSpec,
    target: Arc<Target>,
    /// What a tool works on that is no engine.
    subject: Subject,
    soak: bool,
    /// Ends it when it is known well enough, where that was asked for.
    stop: Option<AdaptiveStop>,
}

/// A repeat that ran.
struct Made {
    report: RepeatReport,
    started: String,
    started_ns: u64,
    /// What the device's own counters say; `None` without a device.
    proof: Option<Proof>,
    /// For how long the process was stopped meanwhile.
    suspended: Duration,
    /// What happened to the host meanwhile.
    findings: Vec<Finding>,
}

impl Planned {
    /// Whether fio runs the same: it counts the latency of an open loop from the submission, and pauses and what runs
    /// beside a workload in its own way.
    fn has_peer(&self) -> bool {
        let workload = &self.spec.workload;
        !self.soak && workload.arrivals.is_none() && workload.think.is_none() && workload.together.is_none()
    }
}

impl Session<'_> {
    /// Makes one repeat of the workload at `index` and of those that run at the same time; by both instruments in
    /// turns where that was asked for.
    pub(super) fn repeat(&mut self, entries: &mut [Entry], index: usize, turn: Turn) -> Next {
        let group = members(&self.request.suite.workloads, index);
        let mut planned = Vec::with_capacity(group.len());
        self.fit(entries, group.clone(), turn);
        for member in group.clone() {
            let beside = self.beside(entries, member);
            match self.plan(&mut entries[member], beside, turn) {
                Ok(Some(one)) => planned.push(one),
                Ok(None) => return Next::Go,
                Err(outcome) => {
                    self.draft.end(outcome);
                    return Next::End;
                }
            }
        }
        for (member, planned) in group.clone().zip(&planned) {
            self.announce(&entries[member], turn, planned);
            if !planned.spec.workload.direct
                && let Err(error) = forget_cached(&planned.target, self.request.hang_after)
            {
                let outcome = self.failed(Failure::Host, no_thread(&error), Some(&planned.spec.workload.name));
                self.draft.end(outcome);
                return Next::End;
            }
        }
        let peer = self.request.crosscheck.and_then(|peer| peer.instrument(entries[index].asked.original));
        let peer = peer.filter(|_| planned.iter().all(Planned::has_peer));
        let peer_first = crosscheck::peer_first(turn.round);
        let mut theirs = None;
        if let (Some(peer), true) = (peer, peer_first) {
            theirs = crosscheck::run_peer(self, peer, &planned[0].spec, &planned[0].subject);
        }
        let made = self.make(&mut planned);
        let mut outcome = Outcome::Completed;
        for ((member, planned), made) in group.clone().zip(&mut planned).zip(&made) {
            let ended = self.take_over(&mut entries[member], turn, planned, made);
            outcome = if outcome == Outcome::Completed { ended } else { outcome };
        }
        if let (Some(peer), false, Outcome::Completed) = (peer, peer_first, &outcome) {
            theirs = crosscheck::run_peer(self, peer, &planned[0].spec, &planned[0].subject);
        }
        let counts = !self.control.stopped() && made[0].suspended.is_zero();
        if let (Some(peer), Some(theirs), true) = (peer, theirs, counts) {
            let version = self.engines.version(peer);
            let order = if peer_first { Order::PeerFirst } else { Order::PeerLast };
            crosscheck::add(self.draft.fill(), index, (peer, version), order, &made[0].report, &theirs);
        }
        for (member, made) in group.zip(made) {
            self.judge(&entries[member], made.findings);
        }
        self.draft.fill().settings.elapsed_ns = self.emitter.elapsed_ns();
        match outcome {
            Outcome::Completed => Next::Go,
            Outcome::Failed { failure: Failure::Suspended, .. } => Next::Again,
            outcome => {
                self.draft.end(outcome);
                Next::End
            }
        }
    }

    /// The repeat of `turn` as the medium can do it in its share of time and bytes; `None` where nothing worth
    /// measuring is left of them.
    pub(super) fn plan(
        &self,
        entry: &mut Entry,
        beside: Option<Together>,
        turn: Turn,
    ) -> Result<Option<Planned>, Outcome> {
        let record = self.record();
        let alignment = self.alignment();
        let place = Place::of(&self.request.suite.workloads, entry.index, record.settings.span_bytes);
        let span = place.span_bytes;
        let fitted = entry.fitted.get_or_insert_with(|| self.pace.fit(&entry.asked, turn.slot, span, alignment));
        if no_room(fitted, span) {
            return Ok(None);
        }
        let Some(mut share) = self.budget.share(fitted, turn.slot, turn.weights) else { return Ok(None) };
        let soak = fitted.analysis == Analysis::Soak;
        let mut stop = None;
        if soak {
            // The first second counts: a cache is emptiest then.
            let lasted = Duration::from_nanos(lasted_ns(&record.measurements[entry.index]));
            let duration = (share.duration + share.ramp).saturating_sub(lasted).max(SHORTEST_SOAK);
            share = Share { ramp: Duration::ZERO, duration, ..share };
        } else if let (Some(wish), false) = (self.request.confidence, self.engines.are_originals()) {
            let (stretched, limits) = adaptive::stretch(share, fitted.op, wish);
            share = stretched;
            stop = Some(AdaptiveStop::new(limits));
        }
        let target = self.target_for(fitted)?;
        let mut share = limit_cached(share, fitted, target.direct(), record);
        if !fitted.direct && fitted.op == Op::Read && fitted.pattern == Pattern::Sequential {
            // A second pass would come out of the page cache.
            share = Share { ramp: Duration::ZERO, max_bytes: Some(span), ..share };
        }
        let Ok(arrivals) = offered(fitted, &record.measurements, entry.index) else { return Ok(None) };
        if arrivals.is_some() {
            // What is due at the end of the measured part is waited for, up to a quarter of its length.
            share.duration = share.duration.mul_f64(0.8);
        }
        if too_thoughtful(fitted, share.duration) {
            return Ok(None);
        }
        let workload = Workload { arrivals, together: beside, ..complete(fitted, place, target.direct(), Some(share)) };
        let Some(instrument) = self.engines.for_workload(&workload, fitted.original) else { return Ok(None) };
        let subject = self.subject(fitted, turn, share.max_bytes, &target);
        let spec = RepeatSpec {
            workload,
            target: (!instrument.is_null()).then(|| Arc::clone(&target)),
            seed: self.request.seed ^ ((entry.index as u64 + 1) << 32),
            repeat: turn.round,
            repeats: self.request.suite.most_repeats(),
            hang_after: hang_after(&self.pace, fitted, self.request.hang_after)
                + between(arrivals).min(share.ramp + share.duration)
                + fitted.think.map_or(Duration::ZERO, |think| Duration::from_nanos(think.pause_ns)),
            sample_every: Duration::from_secs(1),
            wait_for: known_wait(&record.measurements[entry.index]),
        };
        Ok(Some(Planned { index: entry.index, instrument, spec, target, subject, soak, stop }))
    }

    /// What a tool works on that runs this workload in place of an engine.
    fn subject(&self, workload: &SuiteWorkload, turn: Turn, may_write: Option<u64>, target: &Target) -> Subject {
        if !self.engines.has_originals() {
            return Subject::default();
        }
        // A tool that checks what it reads writes that first, and reads have no share of the bytes to write.
        let to_come = u64::from(turn.total.saturating_sub(turn.done).max(1));
        let write_bytes = may_write.unwrap_or_else(|| self.budget.write_left() / (2 * to_come));
        self.area.subject(
            target,
            Subject {
                device: self.record().medium.device.clone(),
                time: turn.slot,
                operation: self.pace.expected(workload).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
                write_bytes,
                ..Subject::default()
            },
        )
    }

    pub(super) fn alignment(&self) -> u64 {
        u64::from(self.area.alignment().unwrap_or(512))
    }

    /// Settles how the workloads of a group run here, before each says what runs beside it.
    fn fit(&self, entries: &mut [Entry], group: Range<usize>, turn: Turn) {
        let area = self.record().settings.span_bytes;
        for entry in &mut entries[group] {
            let span = Place::of(&self.request.suite.workloads, entry.index, area).span_bytes;
            entry.fitted.get_or_insert_with(|| self.pace.fit(&entry.asked, turn.slot, span, self.alignment()));
        }
    }

    /// What runs beside a workload, as it runs here.
    fn beside(&self, entries: &[Entry], index: usize) -> Option<Together> {
        let group = entries[index].asked.group.clone()?;
        let title = |entry: &Entry| {
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
        self.area.cached().map_err(|error| self.failed(Failure::Other, error.to_string(), Some(&workload.name)))
    }

    /// Sets the measurement up for its first repeat, and tells that a repeat begins.
    fn announce(&mut self, entry: &Entry, turn: Turn, planned: &Planned) {
        let workload = &planned.spec.workload;
        let measurement = &mut self.draft.fill().measurements[entry.index];
        if measurement.repeats.is_empty() {
            set_up(measurement, &entry.asked, workload, planned.instrument);
        }
        // That direct I/O is impossible is said once for the run.
        if !entry.asked.direct && self.area.target.direct() {
            measurement.warn(Finding::CachedByRequest);
        }
        self.emitter.emit(EventKind::RepeatStarted {
            workload: workload.name.clone(),
            title: workload.title(),
            repeat: turn.round + 1,
            repeats: planned.spec.repeats,
            planned_ns: workload.stop.ramp_ns + workload.stop.duration_ns,
            done: turn.done,
            total: turn.total,
            left_ns: nanoseconds(self.budget.left()),
        });
    }

    /// Runs the repeat of workloads at the same time, with sensors and the device's counters read meanwhile.
    fn make(&mut self, planned: &mut [Planned]) -> Vec<Made> {
        let (started, started_ns) = (wall_clock(), self.emitter.elapsed_ns());
        let suspended = self.control.suspended();
        let mark = self.witness.before();
        let before = proof::read(self.meter.as_deref());
        // A soak runs alone.
        let soak = planned.iter().find(|planned| planned.soak).map(|planned| planned.index);
        let mut journal = soak.map(|_| Journal::new(&started, started_ns));
        let mut stops: Vec<Option<&mut AdaptiveStop>> = Vec::with_capacity(planned.len());
        let mut work = Vec::with_capacity(planned.len());
        let subject = planned.first().map(|planned| planned.subject.clone()).unwrap_or_default();
        for planned in planned.iter_mut() {
            work.push((planned.instrument, &planned.spec));
            stops.push(planned.stop.as_mut());
        }
        let reports = self.engines.run(&work, &subject, &self.control, &mut |number, sample| {
            let record = self.draft.fill();
            let name = &work[number].1.workload.name;
            self.watch.sample(sample, name, &mut record.sensors, &self.budget, &mut self.emitter);
            if let (Some(journal), Some(index)) = (&mut journal, soak) {
                journal.sample(sample, index, record, self.area.scratch_path(), &mut self.emitter);
            }
            // It does not count any more.
            if self.control.suspended() > suspended {
                return ControlFlow::Break(());
            }
            stops[number].as_mut().map_or(ControlFlow::Continue(()), |stop| stop.sample(sample))
        });
        let after = proof::read(self.meter.as_deref());
        self.area.remove_original();
        let mut findings = self.witness.after(&mark);
        let suspended = self.control.suspended() - suspended;
        if !suspended.is_zero() {
            // Others had the processors to themselves meanwhile.
            findings.retain(|finding| !matches!(finding, Finding::LoadOfOthers { .. }));
            findings.push(Finding::Suspended { suspended_ns: nanoseconds(suspended) });
            if let (Some(index), Some(report)) = (soak, reports.first()) {
                // It goes on for what it lacks, as one does that was resumed.
                let lasted = report.samples.iter().map(|s| s.interval_ns).sum::<u64>();
                let after_ns = lasted_ns(&self.record().measurements[index]) + lasted;
                findings.push(Finding::SoakPaused { after_ns, rested_ns: nanoseconds(suspended) });
            }
        }
        let null = work.iter().any(|(instrument, _)| instrument.is_null());
        let proofs: Vec<Option<Proof>> = match (before, after) {
            (Some(before), Some(after)) if !null => {
                reports.iter().map(|report| Some(Proof::between(&before, &after, &reports, report))).collect()
            }
            _ => vec![None; reports.len()],
        };
        let made = |(report, proof)| {
            let (started, findings) = (started.clone(), findings.clone());
            Made { report, started, started_ns, proof, suspended, findings }
        };
        reports.into_iter().zip(proofs).map(made).collect()
    }

    /// Counts what was moved, and adds the repeat to its measurement.
    fn take_over(&mut self, entry: &mut Entry, turn: Turn, planned: &mut Planned, made: &Made) -> Outcome {
        let Made { report, .. } = made;
        let workload = &planned.spec.workload;
        self.watch.collect(&mut self.draft.fill().sensors, &self.emitter);
        self.budget.wrote(report.written_bytes);
        let settings = &mut self.draft.fill().settings;
        settings.written_bytes += report.written_bytes;
        settings.read_bytes += report.read_bytes;
        let mut outcome = self.outcome_of(report, workload, &planned.target);
        let closed = workload.arrivals.is_none();
        if made.suspended.is_zero() && closed {
            // One in flight is what a full queue is judged by; a deeper queue is at least as fast.
            self.pace.note(workload.op, workload.pattern, workload.block_bytes, workload.sync.each(), report.iops);
        } else if !made.suspended.is_zero() && outcome == Outcome::Completed {
            outcome = self.failed(Failure::Suspended, String::new(), Some(&workload.name));
        }
        if let (Outcome::Completed, Some(proof)) = (&outcome, made.proof) {
            entry.proof.add(proof);
        }
        let proof_ratio = made.proof.and_then(|proof| proof.ratio());
        let planned_ns = workload.stop.duration_ns;
        let cut = workload.together.is_some() && report.window_ns < planned_ns / 2;
        let cut = cut.then_some(Finding::EndedByNeighbour { lasted_ns: report.window_ns, planned_ns });
        let mean = report.histogram.mean().filter(|mean| report.late_ns > LATE_SHARE * mean);
        let late = mean.map(|mean| Finding::BegunLate { late_ns: report.late_ns, share: report.late_ns / mean });
        let mut finished = repeat(report, &made.started, made.started_ns, proof_ratio, outcome.clone());
        if let Some(stop) = planned.stop.take() {
            stop.note(&mut finished);
        }
        let (disks, seed, record) = (&self.disks, self.request.seed, self.draft.fill());
        let measurement = &mut record.measurements[entry.index];
        if measurement.repeats.is_empty() {
            measurement.batching = report.batching.as_ref().and_then(batching).map(Box::new);
        }
        measurement.repeats.push(finished);
        // A repeat that is made again is not finished.
        if !matches!(outcome, Outcome::Failed { failure: Failure::Suspended, .. }) {
            self.emitter.emit(EventKind::RepeatFinished {
                workload: workload.name.clone(),
                repeat: turn.round + 1,
                iops: report.iops,
                bytes_per_second: report.bytes_per_second,
                p99_ns: report.histogram.quantile(0.99),
                proof_ratio,
                half_width: half_width(measurement, self.interval),
            });
        }
        if let (Some(cut), Outcome::Completed) = (cut, &outcome) {
            replace_findings(measurement, |f| matches!(f, Finding::EndedByNeighbour { .. }), Some(cut));
        }
        if let Some(late) = late {
            replace_findings(measurement, |f| matches!(f, Finding::BegunLate { .. }), Some(late));
        }
        if planned.soak {
            measurement.soak = soak::judge(measurement, &record.sensors, disks, seed).map(Box::new);
        }
        outcome
    }

    /// Estimates and judges the measurement anew, and tells what was not told of it before.
    fn judge(&mut self, entry: &Entry, findings: Vec<Finding>) {
        let record = self.draft.fill();
        let measurement = &mut record.measurements[entry.index];
        let known: Vec<Warning> = measurement.warnings.clone();
        estimate(measurement, self.interval);
        judge(measurement, record.medium.bus.as_ref(), Some(self.null), entry.proof);
        keep(measurement, findings);
        // A soak looks for change itself.
        if entry.asked.analysis != Analysis::Soak {
            judge_shape(measurement);
        }
        efficiency(measurement, &record.sensors);
        // What is judged anew after each repeat is told once; few operations may yet become enough.
        let same = |a: &Warning, b: &Warning| discriminant(&a.finding) == discriminant(&b.finding);
        let untold = |w: &&Warning| !known.iter().any(|k| same(k, w)) && !told_at_end(&w.finding);
        for warning in measurement.warnings.iter().filter(untold) {
            let workload = Some(measurement.workload.name.clone());
            self.emitter.emit(EventKind::Warning { workload, warning: warning.clone() });
        }
    }
}

/// For how many completions at once the next repeat waits: as the first one chose, so that all are alike.
fn known_wait(measurement: &Measurement) -> Option<u32> {
    let chosen = measurement.batching.as_ref().map_or(1, |batching| batching.wait_for);
    (!measurement.repeats.is_empty()).then_some(chosen)
}

/// Whether a part of the area has no room for the blocks of all jobs: of several sizes none is made smaller, and
/// those of others lie behind the part of a group's member.
pub(super) fn no_room(workload: &SuiteWorkload, span: u64) -> bool {
    let bounded = !workload.blocks.is_empty() || workload.group.is_some();
    bounded && workload.block.0.saturating_mul(u64::from(workload.jobs.max(1))) > span
}

/// Whether fewer than [`LEAST_PAUSES`] pauses fit into a repeat: its rate would be that of where it began.
pub(super) fn too_thoughtful(workload: &SuiteWorkload, duration: Duration) -> bool {
    workload.think.is_some_and(|think| Duration::from_nanos(think.pause_ns).saturating_mul(LEAST_PAUSES) > duration)
}

/// Says by what a measurement is made, and how that differs from what was asked for.
fn set_up(measurement: &mut Measurement, asked: &SuiteWorkload, workload: &Workload, instrument: Instrument) {
    let as_asked = Workload {
        block_bytes: asked.mean_block(),
        queue_depth: asked.queue_depth,
        jobs: asked.jobs,
        ..workload.clone()
    };
    measurement.workload = workload.clone();
    measurement.engine = instrument.name().to_owned();
    if as_asked != *workload {
        measurement.warn(Finding::ScaledDown { asked: as_asked.title(), used: workload.title() });
        measurement.requested = Some(as_asked.into());
    }
    if instrument == Instrument::Engine(EngineKind::Sync) && workload.queue_depth > 1 {
        measurement.warn(Finding::DepthByThreads { threads: workload.queue_depth * workload.jobs });
    }
}

/// Cached writes go to memory at once and to the medium in the final sync, which nothing bounds:
/// so no more is written than the medium took while the area was laid out.
fn limit_cached(mut share: Share, workload: &SuiteWorkload, direct: bool, record: &Record) -> Share {
    if let (false, Some(bytes), Some(layout)) = (direct, share.max_bytes, &record.settings.layout) {
        let rate = layout.bytes as f64 / (layout.elapsed_ns.max(1) as f64 / 1e9);
        let least = workload.block.0 * u64::from(workload.queue_depth) * u64::from(workload.jobs);
        share.max_bytes = Some(bytes.min((rate * share.duration.as_secs_f64()) as u64).max(least));
    }
    share
}

/// Empties the page cache of what was written and read before. Where that takes too long the repeat finds out.
///
/// # Errors
/// Where there is no thread for it: figures out of the cache would be none of the medium.
fn forget_cached(target: &Arc<Target>, hang_after: Duration) -> std::io::Result<()> {
    let target = Arc::clone(target);
    let forgotten = within(hang_after * SYNC, move || {
        let _ = target.sync();
        let _ = target.drop_cache();
    });
    match forgotten {
        Err(NoAnswer::NoThread(error)) => Err(error),
        Ok(()) | Err(NoAnswer::Late) => Ok(()),
    }
}

/// How long nothing may complete.
fn hang_after(pace: &Pace, workload: &SuiteWorkload, usual: Duration) -> Duration {
    match pace.expected(workload) {
        Some(seconds) if seconds > 1.0 => usual * SLOW,
        _ => usual,
    }
}
