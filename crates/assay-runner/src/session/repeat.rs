//! One repeat: it is made, taken over and judged.

use std::mem::discriminant;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::{Finding, Size, Warning};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Measurement;
use assay_core::suite::{Analysis, SuiteWorkload, members};
use assay_core::units::nanoseconds;
use assay_core::workload::{Op, Workload};
use assay_engine::{EngineKind, LiveSample, RepeatReport, Target, monotonic, wall_clock};
use assay_stats::{geometric, geometric_until_known};

use super::plan::{LoadEntry, Next, Planned, Turn, completed, reported_at_end};
use super::run::Session;
use crate::budget::AdaptiveStop;
use crate::choose::Instrument;
use crate::crosscheck::Order;
use crate::emit::Journal;
use crate::evidence::{efficiency, judge_shape, keep};
use crate::judge::{Proof, judge};
use crate::request::lasted_ns;
use crate::summary::{Interval, batching, estimate, half_width, repeat_of_window, replace_findings};
use crate::timeout::{NoAnswer, SYNC, no_thread, within};
use crate::together::{RepeatStep, Start, Word, sleep_until_set_up, timed};
use crate::{crosscheck, judge, summary};

/// Operations of an open loop that are begun later than this share of their latency falsify it.
const LATE_SHARE: f64 = 0.05;

/// A repeat that ran.
struct Made {
    report: RepeatReport,
    started: String,
    started_ns: u64,
    /// What the device's own counters say; `None` without a device.
    proof: Option<Proof>,
    /// For how long the process was stopped meanwhile.
    suspended: Duration,
    /// Whether the run was to end meanwhile.
    stopped: bool,
    /// What happened to the host meanwhile.
    findings: Vec<Finding>,
}

impl Session<'_> {
    /// Makes one repeat of the workload at `index` and of those that run at the same time; by both instruments in
    /// turns where that was asked for.
    pub(super) fn repeat(&mut self, entries: &mut [LoadEntry], index: usize, turn: Turn) -> Next {
        let group = members(&self.request.suite.workloads, index);
        let mut planned = Vec::with_capacity(group.len());
        // All of a group are settled before each says what runs beside it.
        for member in group.clone() {
            self.fitted(&mut entries[member], turn.slot);
        }
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
            if let Err(outcome) = self.forget(&entries[member], planned) {
                self.draft.end(outcome);
                return Next::End;
            }
        }
        let peer = self.request.engine.crosscheck().and_then(|peer| peer.instrument(entries[index].asked.original));
        let peer = peer.filter(|_| planned.iter().all(Planned::has_peer));
        let peer_first = crosscheck::peer_first(turn.round);
        let mut theirs = None;
        if let (Some(peer), true) = (peer, peer_first) {
            theirs = crosscheck::run_peer(self, peer, &planned[0].spec, &planned[0].subject);
        }
        let start = match self.begin_together(&mut planned, turn) {
            Word::Begin(start) => Some(start),
            Word::Alone => None,
            Word::Skip => {
                group.for_each(|member| entries[member].passed += 1);
                return Next::Go;
            }
        };
        let made = self.make(&mut planned);
        let mut outcome = Outcome::Completed;
        for ((member, planned), made) in group.clone().zip(&mut planned).zip(&made) {
            let ended = self.take_over(&mut entries[member], turn, planned, made);
            self.note_start(member, start, made);
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
        self.draft.change_settings(|settings| settings.elapsed_ns = self.emitter.elapsed_ns());
        match outcome {
            Outcome::Completed => Next::Go,
            Outcome::Failed { failure: RunFailure::Suspended, .. } => Next::Again,
            outcome => {
                self.draft.end(outcome);
                Next::End
            }
        }
    }

    /// Sets the measurement up for its first repeat, and tells that a repeat begins.
    fn announce(&mut self, entry: &LoadEntry, turn: Turn, planned: &Planned) {
        let workload = &planned.spec.workload;
        let measurement = &mut self.draft.fill().measurements[entry.index];
        if measurement.repeats.is_empty() {
            set_up(measurement, (&entry.asked, entry.common), workload, planned.instrument);
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

    /// Drops the page cache before a workload that uses it. What cannot be dropped may answer reads, and is recorded as a finding.
    fn forget(&mut self, entry: &LoadEntry, planned: &Planned) -> Result<(), Outcome> {
        let workload = &planned.spec.workload;
        if workload.direct {
            return Ok(());
        }
        match forget_cached(&planned.target, self.request.hang_after) {
            Err(error) => Err(self.failed(RunFailure::Host, no_thread(&error), Some(&workload.name))),
            Ok(forgotten) => {
                let measurement = &mut self.draft.fill().measurements[entry.index];
                let is_warned =
                    measurement.warnings.iter().any(|w| matches!(w.finding, Finding::CacheNotDropped { .. }));
                if let Some(finding) = not_dropped(workload, forgotten.as_ref()).filter(|_| !is_warned) {
                    measurement.warn(finding);
                    let event = measurement.warnings.last().map(|warning| EventKind::warning(workload, warning));
                    event.into_iter().for_each(|event| self.emitter.emit(event));
                }
                Ok(())
            }
        }
    }

    /// Waits until the other hosts are ready, where there are any: when to begin, or not at all.
    fn begin_together(&mut self, planned: &mut [Planned], turn: Turn) -> Word {
        let number = planned.first().and_then(|planned| u32::try_from(planned.index).ok());
        let Some((rendezvous, workload)) = self.rendezvous.as_deref_mut().zip(number) else { return Word::Alone };
        let writes = planned.iter().any(|planned| planned.spec.workload.writes());
        let step = RepeatStep { stage: u32::from(writes), round: turn.round, workload };
        let control = &self.control;
        let (word, waited) = timed(|| {
            let word = rendezvous.ready(step, control);
            if let Word::Begin(start) = &word {
                sleep_until_set_up(start, control);
            }
            word
        });
        let at_ns = if let Word::Begin(start) = word { Some(start.at_ns) } else { None };
        // It is made ready in the last part of this time, and a host by itself begins then.
        let ahead = at_ns.map_or(0, |at_ns| at_ns.saturating_sub(monotonic()));
        self.waited_for_others(waited + Duration::from_nanos(ahead));
        planned.iter_mut().for_each(|planned| planned.spec.begin_at_ns = at_ns);
        word
    }

    /// Adds time spent waiting for other hosts to the record. It counts against no budget.
    pub(super) fn waited_for_others(&mut self, time: Duration) {
        self.budget.waited(time);
        self.whole.waited(time);
        self.draft.change_settings(|settings| *settings.waited_ns.get_or_insert(0) += nanoseconds(time));
    }

    /// Notes when the repeat began that was to begin together with others.
    fn note_start(&mut self, member: usize, start: Option<Start>, made: &Made) {
        let common = start.zip(made.report.began_ns).map(|(start, began_ns)| Box::new(start.met(began_ns)));
        if let Some(repeat) = self.draft.fill().measurements[member].repeats.last_mut() {
            repeat.common_start = common;
        }
    }

    /// Runs the repeat of workloads at the same time, with sensors and the device's counters read meanwhile.
    fn make(&mut self, planned: &mut [Planned]) -> Vec<Made> {
        let (started, started_ns) = (wall_clock(), self.emitter.elapsed_ns());
        let suspended = self.control.suspended();
        let mark = self.host_monitor.before();
        let before = judge::read(self.meter.as_deref());
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
        let unprepared = work.first().and_then(|(instrument, _)| self.area.prepare_for(*instrument));
        let mut on_sample = |number: usize, sample: &LiveSample| {
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
        };
        let reports = match unprepared {
            Some(trouble) => vec![RepeatReport { trouble: Some(trouble), ..RepeatReport::default() }],
            None => self.engines.run(&work, &subject, &self.control, &mut on_sample),
        };
        let stopped = self.control.stopped();
        let after = judge::read(self.meter.as_deref());
        self.area.remove_original();
        let mut findings = self.host_monitor.after(&mark);
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
            Made { report, started, started_ns, proof, suspended, stopped, findings }
        };
        reports.into_iter().zip(proofs).map(made).collect()
    }

    /// Counts what was moved, and adds the repeat to its measurement.
    fn take_over(&mut self, entry: &mut LoadEntry, turn: Turn, planned: &mut Planned, made: &Made) -> Outcome {
        let Made { report, .. } = made;
        let workload = &planned.spec.workload;
        self.watch.collect(&mut self.draft.fill().sensors, &self.emitter);
        self.budget.wrote(report.written_bytes);
        self.draft.change_settings(|settings| {
            settings.written_bytes += report.written_bytes;
            settings.read_bytes += report.read_bytes;
        });
        let mut outcome = self.outcome_of((report, made.stopped), workload, &planned.target);
        let closed = workload.arrivals.is_none();
        if made.suspended.is_zero() && closed {
            // One in flight is what a full queue is judged by; a deeper queue is at least as fast.
            self.pace.note(workload.op, workload.pattern, workload.block_bytes, workload.sync.each(), report.iops);
        } else if !made.suspended.is_zero() && outcome == Outcome::Completed {
            outcome = self.failed(RunFailure::Suspended, String::new(), Some(&workload.name));
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
        let mut finished = repeat_of_window(report, &made.started, made.started_ns, proof_ratio, outcome.clone());
        if let Some(stop) = planned.stop.take() {
            stop.note(&mut finished);
        }
        let interval = self.interval(entry);
        let (disks, seed, record) = (&self.disks, self.request.seed, self.draft.fill());
        let measurement = &mut record.measurements[entry.index];
        if completed(measurement) == 0 && outcome == Outcome::Completed {
            measurement.batching = report.batching.as_ref().and_then(batching).map(Box::new);
        }
        measurement.repeats.push(finished);
        // A repeat that is made again is not finished.
        if !matches!(outcome, Outcome::Failed { failure: RunFailure::Suspended, .. }) {
            self.emitter.emit(EventKind::RepeatFinished {
                workload: workload.name.clone(),
                repeat: turn.round + 1,
                iops: report.iops,
                bytes_per_second: report.bytes_per_second,
                p99_ns: report.histogram.quantile(0.99),
                proof_ratio,
                half_width: half_width(measurement, interval),
            });
        }
        if let (Some(cut), Outcome::Completed) = (cut, &outcome) {
            replace_findings(measurement, |f| matches!(f, Finding::EndedByNeighbour { .. }), Some(cut));
        }
        if let Some(late) = late {
            replace_findings(measurement, |f| matches!(f, Finding::BegunLate { .. }), Some(late));
        }
        if planned.soak {
            measurement.soak = summary::judge_soak(measurement, &record.sensors, disks, seed).map(Box::new);
        }
        outcome
    }

    /// The interval over repeats, by whether their number is decided by what they show.
    pub(super) fn interval(&self, entry: &LoadEntry) -> Interval {
        let open = self.request.confidence.is_some() || entry.settled.is_some_and(|settled| settled.open);
        if open { geometric_until_known } else { geometric }
    }

    /// Estimates and judges the measurement anew, and tells what was not told of it before.
    fn judge(&mut self, entry: &LoadEntry, findings: Vec<Finding>) {
        let interval = self.interval(entry);
        let record = self.draft.fill();
        let measurement = &mut record.measurements[entry.index];
        let known: Vec<Warning> = measurement.warnings.clone();
        estimate(measurement, &interval);
        judge(measurement, &record.medium, Some(self.null), entry.proof);
        keep(measurement, findings);
        // A soak looks for change itself.
        if entry.asked.analysis != Analysis::Soak {
            judge_shape(measurement);
        }
        efficiency(measurement, &record.sensors);
        // A finding that is judged anew after each repeat is kept once; few operations may yet become enough.
        let same = |a: &Warning, b: &Warning| discriminant(&a.finding) == discriminant(&b.finding);
        let untold = |w: &&Warning| !known.iter().any(|k| same(k, w)) && !reported_at_end(&w.finding);
        for warning in measurement.warnings.iter().filter(untold) {
            self.emitter.emit(EventKind::warning(&measurement.workload, warning));
        }
    }
}

/// Says by what a measurement is made, and how that differs from what was asked for.
fn set_up(
    measurement: &mut Measurement,
    (asked, by_all): (&SuiteWorkload, bool),
    workload: &Workload,
    instrument: Instrument,
) {
    let as_asked = Workload {
        block_bytes: asked.mean_block(),
        queue_depth: asked.queue_depth,
        jobs: asked.jobs,
        ..workload.clone()
    };
    measurement.workload = workload.clone().into();
    measurement.engine = instrument.name().to_owned();
    if as_asked != *workload {
        let size = |w: &Workload| Size::Load { block_bytes: w.block_bytes, queue_depth: w.queue_depth, jobs: w.jobs };
        let (asked_size, used_size) = (size(&as_asked), size(workload));
        measurement.warn(Finding::ScaledDown { program: None, asked_size, used_size, by_all });
        measurement.requested = Some(as_asked.into());
    }
    if instrument == Instrument::Engine(EngineKind::Sync) && workload.queue_depth > 1 {
        measurement.warn(Finding::DepthByThreads { threads: workload.queue_depth * workload.jobs });
    }
    if workload.priorities.differ() {
        measurement.warn(Finding::SeveralPriorities);
    }
}

/// Empties the page cache of what was written and read before; the system's answer, or none where that takes too long and
/// the repeat finds out.
///
/// # Errors
/// Where there is no thread for it: figures out of the cache would be none of the medium.
fn forget_cached(target: &Arc<Target>, hang_after: Duration) -> std::io::Result<Option<std::io::Result<()>>> {
    let target = Arc::clone(target);
    let forgotten = within(hang_after * SYNC, move || {
        // What is not written yet is not dropped, which is no error of the call.
        target.sync().and_then(|()| target.drop_cache())
    });
    match forgotten {
        Err(NoAnswer::NoThread(error)) => Err(error),
        Ok(answer) => Ok(Some(answer)),
        Err(NoAnswer::Late) => Ok(None),
    }
}

/// What a cache that could not be emptied means for a workload: what it writes goes into the cache in any case.
fn not_dropped(workload: &Workload, forgotten: Option<&std::io::Result<()>>) -> Option<Finding> {
    let error = forgotten?.as_ref().err().filter(|_| workload.op != Op::Write)?;
    Some(Finding::CacheNotDropped { reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use assay_core::workload::Pattern;

    use super::*;

    /// Windows drops nothing, as some file systems of Linux do; who only writes reads nothing of it.
    #[test]
    fn a_cache_that_was_not_emptied_is_told_of_workloads_that_read() {
        let of = |op, forgotten: Option<&std::io::Result<()>>| {
            not_dropped(&Workload::new("w", op, Pattern::Random, 4096), forgotten)
        };
        let refused = Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "nothing is dropped here"));
        let expected = Some(Finding::CacheNotDropped { reason: "nothing is dropped here".to_owned() });
        assert_eq!(of(Op::Read, Some(&refused)), expected);
        assert_eq!(of(Op::Mixed, Some(&refused)), expected);
        assert_eq!(of(Op::Write, Some(&refused)), None);
        assert_eq!(of(Op::Read, Some(&Ok(()))), None);
        assert_eq!(of(Op::Read, None), None, "the repeat finds out");
    }
}
