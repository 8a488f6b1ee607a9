//! The repeats: which comes next, how long it may take, what came of it.

use std::mem::discriminant;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::{Finding, Warning};
use assay_core::outcome::{Failure, Outcome};
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::suite::{Analysis, SuiteWorkload};
use assay_core::workload::{Op, Stop, Workload};
use assay_device::ProofMeter;
use assay_engine::{Control, EngineKind, NullCost, RepeatReport, RepeatSpec, Target, Trouble};

use crate::area::Area;
use crate::budget::{Budget, PLANNED_SLOT, Share, weight};
use crate::choose::Engines;
use crate::crosscheck;
use crate::emit::{Emitter, wall_clock};
use crate::evidence::{Witness, efficiency, judge_shape, keep};
use crate::journal::Journal;
use crate::judge::judge;
use crate::pace::Pace;
use crate::patience::{NoAnswer, SLOW, SYNC, no_thread, within};
use crate::proof::{self, Proof};
use crate::pursuit::{self, Pursuit};
use crate::resume::{as_before, lasted_ns};
use crate::soak;
use crate::summary::{estimate, repeat};
use crate::sweep::bus_reached;
use crate::vitals::Vitals;
use crate::watch::Watch;

/// What is left of a soak lasts at least this long.
const SHORTEST_SOAK: Duration = Duration::from_secs(1);
/// A repeat in which the process was stopped is made again this often: somebody who stops it over and over
/// (cpulimit(1) does, ten times a second) does not get a figure.
const MOST_AGAIN: u32 = 3;

/// Everything that stays the same over the repeats.
pub(crate) struct Bench<'a> {
    pub(crate) area: &'a Area,
    pub(crate) engines: &'a Engines,
    pub(crate) meter: Option<&'a ProofMeter>,
    pub(crate) watch: &'a Watch,
    pub(crate) witness: &'a Witness,
    pub(crate) null: Option<NullCost>,
    pub(crate) control: &'a Control,
    pub(crate) seed: u64,
    pub(crate) span: u64,
    pub(crate) repeats: u32,
    /// Relative half width over the repeats that is wished for, instead of a number of repeats.
    pub(crate) confidence: Option<f64>,
    /// Whether fio runs every workload too, in turns.
    pub(crate) crosscheck: bool,
    /// Without a completion for this long, the medium hangs.
    pub(crate) hang_after: Duration,
    /// What the devices were like at the start.
    pub(crate) vitals: &'a Vitals,
    /// Kernel names of the disks under the area.
    pub(crate) disks: &'a [String],
}

/// A workload with its state over the repeats.
struct Entry {
    asked: SuiteWorkload,
    /// As it runs here; settled before the first repeat, so that all repeats are alike.
    fitted: Option<SuiteWorkload>,
    index: usize,
    proof: Proof,
    /// Larger blocks than one that reaches what the bus allows.
    left_out: bool,
}

/// Runs all workloads of the suite: rounds of the reading ones, then rounds of the writing ones,
/// so that no read follows a write that the medium is still busy with.
pub(crate) fn measure(
    bench: &Bench<'_>,
    workloads: &[SuiteWorkload],
    record: &mut Record,
    budget: &mut Budget,
    pace: &mut Pace,
    emitter: &mut Emitter<'_>,
) {
    if record.measurements.is_empty() {
        let empty = |w| Measurement::empty(complete(w, bench.span, bench.area.target.direct(), None), "none");
        record.measurements = workloads.iter().map(empty).collect();
    }
    // A run that goes on has some of them already.
    let done: Vec<u32> = record.measurements.iter().map(completed).collect();
    let mut entries: Vec<Entry> = workloads
        .iter()
        .zip(&record.measurements)
        .enumerate()
        .map(|(index, (asked, before))| Entry {
            asked: asked.clone(),
            fitted: as_before(asked, before),
            index,
            proof: Proof::of(before),
            left_out: false,
        })
        .collect();

    let rounds = rounds(bench, budget, &done);
    let order: Vec<(usize, u32)> = [false, true]
        .into_iter()
        .flat_map(|writes| {
            let group: Vec<usize> =
                entries.iter().filter(|e| (e.asked.op != Op::Read) == writes).map(|e| e.index).collect();
            (0..rounds).flat_map(move |round| group.clone().into_iter().map(move |index| (index, round)))
        })
        .filter(|&(index, round)| round >= done[index])
        .collect();
    // The count goes on where an interrupted run ended.
    let before: u32 = done.iter().map(|done| (*done).min(rounds)).sum();
    let total = before + u32::try_from(order.len()).unwrap_or(u32::MAX);

    let usual = budget.slot(pursuit::LEAST_REPEATS * u32::try_from(entries.len()).unwrap_or(u32::MAX));
    let (mut done, mut tries) = (0, 0);
    while let Some(&(index, round)) = order.get(done) {
        if bench.control.stopped() {
            break;
        }
        if let Some(at) = bus_reached(workloads, index, &record.measurements) {
            entries[index].left_out = true;
            record.measurements[index].warn(Finding::SweepStopped { at_block_bytes: at });
            done += 1;
            continue;
        }
        let turn = turn(bench, &entries, &order[done..], &record.measurements, budget, usual);
        let Some((slot, weights)) = turn else {
            done += 1;
            continue;
        };
        let turn = Turn { round, done: before + done as u32, total, slot, weights };
        let entry = &mut entries[index];
        match one(bench, entry, turn, record, budget, pace, emitter) {
            Next::Again if tries < MOST_AGAIN => tries += 1,
            Next::Go | Next::Again => (done, tries) = (done + 1, 0),
            Next::End => break,
        }
        emitter.checkpoint(record, bench.area.scratch_path());
    }
    for entry in &entries {
        let measurement = &mut record.measurements[entry.index];
        let planned = bench.confidence.map_or(bench.repeats, |_| bench.repeats.min(pursuit::LEAST_REPEATS));
        if !entry.left_out {
            note_missing(measurement, planned, &record.outcome);
        }
        if let (Some(wish), Outcome::Running) = (bench.confidence, &record.outcome) {
            pursuit::conclude(measurement, wish);
        }
        for warning in measurement.warnings.iter().filter(|w| told_at_end(&w.finding)) {
            let workload = Some(measurement.workload.name.clone());
            emitter.emit(EventKind::Warning { workload, warning: warning.clone() });
        }
    }
    // A workload without a single repeat has nothing to say except why.
    emitter.checkpoint(record, bench.area.scratch_path());
}

/// How many rounds are made: as many as were asked for, or fewer where a repeat of each would be too short. Whoever
/// measures until it is known decides that by itself.
fn rounds(bench: &Bench<'_>, budget: &Budget, done: &[u32]) -> u32 {
    let sides = if bench.crosscheck { 2 } else { 1 };
    match bench.confidence {
        None => budget.rounds(done, bench.repeats, PLANNED_SLOT * sides),
        Some(_) => bench.repeats,
    }
}

/// Time for the first of the repeats to come, and the weights of all of them in the write budget; `None` where
/// it is not made.
fn turn(
    bench: &Bench<'_>,
    entries: &[Entry],
    order: &[(usize, u32)],
    measurements: &[Measurement],
    budget: &Budget,
    usual: Duration,
) -> Option<(Duration, u64)> {
    let &(index, round) = order.first()?;
    // Repeats beyond the least number are planned for only when it comes to them.
    let extra = bench.confidence.is_some() && round >= pursuit::LEAST_REPEATS;
    let ahead = || order.iter().filter(|(_, r)| bench.confidence.is_none() || extra || *r < pursuit::LEAST_REPEATS);
    let left = u32::try_from(ahead().count()).unwrap_or(u32::MAX);
    let weights: u64 = ahead().map(|(i, _)| weight(&entries[*i].asked)).sum();
    let asked = &entries[index].asked;
    let slot = match bench.confidence {
        None => budget.slot(left),
        Some(wish) if extra && pursuit::reached(&measurements[index], wish) => return None,
        Some(_) if extra => {
            let first = order.iter().filter(|(_, r)| *r < pursuit::LEAST_REPEATS);
            let reserved = first.map(|(i, _)| usual.min(pursuit::longest(&entries[*i].asked))).sum();
            pursuit::extra_slot(asked, budget.left(), reserved, usual)?
        }
        Some(_) => pursuit::slot(asked, budget.left(), left),
    };
    // Both instruments get the same share.
    let sides = if bench.crosscheck { 2 } else { 1 };
    Some((slot / sides, weights * u64::from(sides)))
}

#[derive(Clone, Copy)]
struct Turn {
    round: u32,
    done: u32,
    total: u32,
    slot: Duration,
    /// Weights in the write budget of all repeats to come, this one included.
    weights: u64,
}

enum Next {
    Go,
    /// The process was stopped meanwhile: the same once more.
    Again,
    End,
}

fn one(
    bench: &Bench<'_>,
    entry: &mut Entry,
    turn: Turn,
    record: &mut Record,
    budget: &mut Budget,
    pace: &mut Pace,
    emitter: &mut Emitter<'_>,
) -> Next {
    let alignment = u64::from(bench.area.alignment().unwrap_or(512));
    let span = entry.asked.span.map_or(bench.span, |s| s.0.min(bench.span));
    let fitted = entry.fitted.get_or_insert_with(|| pace.fit(&entry.asked, turn.slot, span, alignment)).clone();
    let Some(mut share) = budget.share(&fitted, turn.slot, turn.weights) else { return Next::Go };
    let mut pursuit = None;
    if fitted.analysis == Analysis::Soak {
        // The first second counts: a cache is emptiest then.
        let lasted = Duration::from_nanos(lasted_ns(&record.measurements[entry.index]));
        let duration = (share.duration + share.ramp).saturating_sub(lasted).max(SHORTEST_SOAK);
        share = Share { ramp: Duration::ZERO, duration, ..share };
    } else if let Some(wish) = bench.confidence {
        let (stretched, limits) = pursuit::stretch(share, fitted.op, wish);
        share = stretched;
        pursuit = Some(Pursuit::new(limits));
    }
    let direct = bench.area.target.direct() && fitted.direct;
    let target =
        if direct || !bench.area.target.direct() { Ok(Arc::clone(&bench.area.target)) } else { bench.area.cached() };
    let target = match target {
        Ok(target) => target,
        Err(error) => {
            record.outcome = failed(Failure::Other, error.to_string(), &fitted.name, budget, emitter);
            return Next::End;
        }
    };
    let workload = complete(&fitted, span, direct, Some(limit_cached(share, &fitted, direct, record)));
    let engine = bench.engines.for_workload(&workload);
    let measurement = &mut record.measurements[entry.index];
    prepare(measurement, entry, &workload, engine);
    // Impossible direct I/O is told once for the run.
    if !fitted.direct && bench.area.target.direct() {
        measurement.warn(Finding::CachedByRequest);
    }

    emitter.emit(EventKind::RepeatStarted {
        workload: workload.name.clone(),
        title: workload.title(),
        repeat: turn.round + 1,
        repeats: bench.repeats,
        planned_ns: workload.stop.ramp_ns + workload.stop.duration_ns,
        done: turn.done,
        total: turn.total,
        left_ns: nanos(budget.left()),
    });
    if !direct && let Err(error) = forget_cached(&target, bench.hang_after) {
        record.outcome = failed(Failure::Host, no_thread(&error), &fitted.name, budget, emitter);
        return Next::End;
    }
    let spec = RepeatSpec {
        workload: workload.clone(),
        engine,
        target: (engine != EngineKind::Null).then(|| Arc::clone(&target)),
        seed: bench.seed ^ ((entry.index as u64 + 1) << 32),
        repeat: turn.round,
        repeats: bench.repeats,
        hang_after: pace.hang_after(&fitted, bench.hang_after),
        sample_every: Duration::from_secs(1),
    };
    let checked = bench.crosscheck && fitted.analysis != Analysis::Soak;
    let peer_first = crosscheck::peer_first(turn.round);
    let mut theirs =
        if checked && peer_first { crosscheck::run_peer(bench, &spec, record, budget, emitter) } else { None };
    let started = wall_clock();
    let started_ns = emitter.elapsed_ns();
    let suspended = bench.control.suspended();
    let mark = bench.witness.before();
    let before = proof::read(bench.meter);
    let mut journal = (fitted.analysis == Analysis::Soak).then(|| Journal::new(&started, started_ns));
    let report = bench.engines.run(&spec, bench.control, &mut |sample| {
        bench.watch.sample(sample, &workload.name, &mut record.sensors, budget, emitter);
        if let Some(journal) = &mut journal {
            journal.sample(sample, entry.index, record, bench.area.scratch_path(), emitter);
        }
        // It does not count any more.
        if bench.control.suspended() > suspended {
            return ControlFlow::Break(());
        }
        pursuit.as_mut().map_or(ControlFlow::Continue(()), |pursuit| pursuit.sample(sample))
    });
    let after = proof::read(bench.meter);
    let mut meanwhile = bench.witness.after(&mark);
    let suspended = bench.control.suspended() - suspended;
    if !suspended.is_zero() {
        // Others had the processors to themselves meanwhile.
        meanwhile.retain(|finding| !matches!(finding, Finding::LoadOfOthers { .. }));
        meanwhile.push(Finding::Suspended { suspended_ns: nanos(suspended) });
    }
    bench.watch.collect(&mut record.sensors, emitter);
    budget.wrote(report.written_bytes);
    record.settings.written_bytes += report.written_bytes;
    record.settings.read_bytes += report.read_bytes;
    let rate = if report.iops > 0.0 { report.iops } else { 0.0 };
    // One in flight is what a full queue is judged by; a deeper queue is at least as fast.
    if suspended.is_zero() {
        pace.note(workload.op, workload.pattern, workload.block_bytes, workload.sync.each(), rate);
    }

    let this = match (before, after) {
        (Some(before), Some(after)) if engine != EngineKind::Null => Some(Proof::between(&before, &after, &report)),
        _ => None,
    };
    let outcome = match outcome_of(&report, bench, &workload, budget, emitter, &target) {
        Outcome::Completed if !suspended.is_zero() => {
            failed(Failure::Suspended, String::new(), &workload.name, budget, emitter)
        }
        outcome => outcome,
    };
    if let (Outcome::Completed, Some(this)) = (&outcome, this) {
        entry.proof.add(this);
    }
    let ratio = this.and_then(|p| p.ratio());
    // A repeat that is made again is not finished.
    if !matches!(outcome, Outcome::Failed { failure: Failure::Suspended, .. }) {
        emitter.emit(EventKind::RepeatFinished {
            workload: workload.name.clone(),
            repeat: turn.round + 1,
            iops: report.iops,
            bytes_per_second: report.bytes_per_second,
            p99_ns: report.histogram.quantile(0.99),
            proof_ratio: ratio,
        });
    }
    let measurement = &mut record.measurements[entry.index];
    let mut finished = repeat(&report, started, started_ns, ratio, outcome.clone());
    if let Some(pursuit) = pursuit {
        pursuit.note(&mut finished);
    }
    measurement.repeats.push(finished);
    if fitted.analysis == Analysis::Soak {
        if !suspended.is_zero() {
            // It goes on for what it lacks, as one does that was resumed.
            let after_ns = lasted_ns(measurement);
            meanwhile.push(Finding::SoakPaused { after_ns, rested_ns: nanos(suspended) });
        }
        measurement.soak = soak::judge(measurement, &record.sensors, bench.disks, bench.seed);
    }
    if checked && !peer_first && outcome == Outcome::Completed {
        theirs = crosscheck::run_peer(bench, &spec, record, budget, emitter);
    }
    if let Some(theirs) = theirs.filter(|_| !bench.control.stopped() && suspended.is_zero()) {
        crosscheck::add(record, entry.index, bench.engines.fio_version(), peer_first, &report, &theirs);
    }
    let measurement = &mut record.measurements[entry.index];
    let known: Vec<Warning> = measurement.warnings.clone();
    estimate(measurement);
    judge(measurement, record.medium.bus.as_ref(), bench.null, entry.proof);
    keep(measurement, meanwhile);
    // A soak looks for change itself.
    if fitted.analysis != Analysis::Soak {
        judge_shape(measurement);
    }
    efficiency(measurement, &record.sensors);
    // What is judged anew after each repeat is told once; few operations may yet become enough.
    let same = |a: &Warning, b: &Warning| discriminant(&a.finding) == discriminant(&b.finding);
    let untold = |w: &&Warning| !known.iter().any(|k| same(k, w)) && !told_at_end(&w.finding);
    for warning in measurement.warnings.iter().filter(untold) {
        emitter.emit(EventKind::Warning { workload: Some(workload.name.clone()), warning: warning.clone() });
    }
    record.settings.elapsed_ns = emitter.elapsed_ns();
    match outcome {
        Outcome::Completed => Next::Go,
        Outcome::Failed { failure: Failure::Suspended, .. } => Next::Again,
        outcome => {
            record.outcome = outcome;
            Next::End
        }
    }
}

fn completed(measurement: &Measurement) -> u32 {
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed).count();
    u32::try_from(completed).unwrap_or(u32::MAX)
}

/// What may yet change with every repeat.
fn told_at_end(finding: &Finding) -> bool {
    matches!(finding, Finding::FewOperations { .. } | Finding::CrosscheckDiffers { .. })
}

/// Sets the measurement up for its first repeat.
fn prepare(measurement: &mut Measurement, entry: &Entry, workload: &Workload, engine: EngineKind) {
    if !measurement.repeats.is_empty() {
        return;
    }
    let as_asked = Workload {
        block_bytes: entry.asked.block.0,
        queue_depth: entry.asked.queue_depth,
        jobs: entry.asked.jobs,
        ..workload.clone()
    };
    measurement.workload = workload.clone();
    measurement.engine = engine.name().to_owned();
    if as_asked != *workload {
        measurement.warn(Finding::ScaledDown { asked: as_asked.title(), used: workload.title() });
        measurement.requested = Some(as_asked);
    }
    if engine == EngineKind::Sync && workload.queue_depth > 1 {
        measurement.warn(Finding::DepthByThreads { threads: workload.queue_depth * workload.jobs });
    }
}

/// The workload complete with span and stop rule.
fn complete(w: &SuiteWorkload, span: u64, direct: bool, share: Option<Share>) -> Workload {
    Workload {
        name: w.name.clone(),
        op: w.op,
        read_percent: w.read_percent,
        pattern: w.pattern,
        block_bytes: w.block.0,
        queue_depth: w.queue_depth,
        jobs: w.jobs,
        span_bytes: span,
        direct: direct && w.direct,
        sync: w.sync,
        stop: share.map_or(Stop { ramp_ns: 0, duration_ns: 0, max_bytes: None }, |s| Stop {
            ramp_ns: nanos(s.ramp),
            duration_ns: nanos(s.duration),
            max_bytes: s.max_bytes,
        }),
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

fn outcome_of(
    report: &RepeatReport,
    bench: &Bench<'_>,
    workload: &Workload,
    budget: &Budget,
    emitter: &Emitter<'_>,
    target: &Arc<Target>,
) -> Outcome {
    let look = |failure, write, words: String| match bench.vitals.examine(failure, write, target) {
        (failure, Some(why)) => (failure, format!("{words}; {why}")),
        (failure, None) => (failure, words),
    };
    let (failure, detail) = match &report.trouble {
        None if bench.control.stopped() => (Failure::Interrupted, String::new()),
        None => return Outcome::Completed,
        Some(Trouble::Io { write, offset, errno: 0 }) => {
            let op = if *write { "write" } else { "read" };
            look(Failure::IoError, *write, format!("{op} at offset {offset} moved fewer bytes than asked"))
        }
        Some(Trouble::Io { write, offset, errno }) => {
            let words = std::io::Error::from_raw_os_error(*errno);
            let op = if *write { "write" } else { "read" };
            look(Failure::from_errno(*errno), *write, format!("{op} at offset {offset}: {words}"))
        }
        Some(Trouble::Sync { errno }) => {
            let words = std::io::Error::from_raw_os_error(*errno);
            look(Failure::from_errno(*errno), true, format!("sync: {words}"))
        }
        Some(Trouble::Hung { after }) => {
            (Failure::Hung, format!("nothing completed for {}", assay_core::units::span(*after)))
        }
        Some(Trouble::Setup(message)) => (Failure::Host, message.clone()),
        Some(Trouble::Peer(message)) => (Failure::Other, message.clone()),
    };
    failed(failure, detail, &workload.name, budget, emitter)
}

fn failed(failure: Failure, detail: String, workload: &str, budget: &Budget, emitter: &Emitter<'_>) -> Outcome {
    Outcome::Failed {
        failure,
        detail,
        workload: Some(workload.to_owned()),
        elapsed_ns: emitter.elapsed_ns(),
        written_bytes: budget.written(),
    }
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

/// Says why a workload has fewer repeats than planned.
fn note_missing(measurement: &mut Measurement, planned: u32, outcome: &Outcome) {
    let ran = completed(measurement);
    if ran >= planned {
        return;
    }
    // Where the run did not finish, its outcome says why.
    if matches!(outcome, Outcome::Failed { .. }) {
        return;
    }
    let suspended = |r: &Repeat| matches!(r.outcome, Outcome::Failed { failure: Failure::Suspended, .. });
    let reason = match measurement.repeats.last() {
        Some(last) if suspended(last) => "the process was stopped again and again",
        _ => "the time or write budget was used up",
    };
    measurement.warn(Finding::FewerRepeats { planned, ran, reason: reason.to_owned() });
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Pace {
    /// How long nothing may complete.
    fn hang_after(&self, workload: &SuiteWorkload, usual: Duration) -> Duration {
        match self.expected(workload) {
            Some(seconds) if seconds > 1.0 => usual * SLOW,
            _ => usual,
        }
    }
}
