//! Each step of a run, on the null engine.

use std::path::Path;
use std::time::Duration;

use assay_core::cluster::ClusterPart;
use assay_core::event::{Event, EventKind};
use assay_core::finding::{Finding, Shortfall, ValidityVerdict};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Batching, Measurement, Repeat};
use assay_core::suite::Suite;
use assay_core::units::nanoseconds;
use assay_core::workload::{Op, Pattern, Stop};
use assay_engine::{Control, RepeatReport, RepeatTrouble};
use assay_original::ToolSubject;

use super::order::in_order;
use super::plan::{LoadEntry, Turn, spread};
use super::run::{Session, aligned};
use crate::budget::Budget;
use crate::choose::{EngineChoice, OwnEngine};
use crate::error::RunError;
use crate::prepare::PreparedRun;
use crate::request::{RawMode, RunRequest};
use crate::samples::{Listener, asked};
use crate::together::{Rendezvous, RepeatStep, Word};

const MIB: u64 = 1 << 20;

/// A write and a read of 150 ms, twice each, on 1 MiB.
fn request(directory: &Path) -> RunRequest {
    let text = "name = \"steps\"\nversion = 1\npurpose = \"a test\"\nbudget = \"30s\"\nmax_write = \"8MiB\"\nrepeats = 2\n\
                span = \"1MiB\"\n[[workload]]\nname = \"w\"\nop = \"write\"\npattern = \"random\"\nblock = \"4KiB\"\nduration = \"150ms\"\n\
                [[workload]]\nname = \"r\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n\
                duration = \"150ms\"\n";
    RunRequest {
        path: directory.to_owned(),
        suite: Suite::parse(text, "test").unwrap(),
        translated: Vec::new(),
        id: "0123456789".to_owned(),
        version: "0.1.0".to_owned(),
        commit: Some("abc".to_owned()),
        engine: EngineChoice::Null,
        raw: RawMode::Refused,
        labels: [("slot".to_owned(), "3".to_owned())].into(),
        seed: 7,
        confidence: None,
        hang_after: Duration::from_secs(30),
        sensors: Vec::new(),
        notes: Vec::new(),
        source_tree: std::sync::Arc::new(assay_programs::SourceTree::generated()),
        resume: None,
    }
}

fn begun<'o>(directory: &Path, control: &Control, listener: &'o mut Listener) -> Session<'o> {
    Session::begin(PreparedRun::prepare(request(directory)).unwrap(), control, listener, None).unwrap()
}

fn places(events: &[Event], kind: fn(&EventKind) -> bool) -> Vec<usize> {
    events.iter().enumerate().filter(|(_, event)| kind(&event.event)).map(|(at, _)| at).collect()
}

fn files(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn a_run_is_announced_with_what_is_known_before_the_instrument_is_measured() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut run = PreparedRun::prepare(request(dir.path())).unwrap();
    assert_eq!((run.record().host.slot.as_deref(), run.record().settings().unwrap().seed), (Some("3"), 7));
    run.findings.push(Finding::AnotherRun);
    let session = Session::begin(run, &Control::default(), &mut listener, None).unwrap();
    assert!(session.record().settings().unwrap().null_ns_per_operation.is_some_and(|ns| ns > 0.0));
    assert!(session.record().warnings.iter().any(|w| w.finding == Finding::AnotherRun));
    assert_eq!(files(dir.path()), 1, "the directory of the run");
    drop(session);
    let events = &listener.events;
    assert!(matches!(events[0].event, EventKind::Started { .. }), "{:?}", events[0]);
    let calibrate = places(events, |e| matches!(e, EventKind::Phase { phase } if phase == "calibrate"));
    let known =
        places(events, |e| matches!(e, EventKind::Warning { warning, .. } if warning.finding == Finding::AnotherRun));
    assert!(known.len() == 1 && known < calibrate, "{known:?} {calibrate:?}");
    assert_eq!(listener.saved.len(), 1, "the store knows of the run and its directory");
}

#[test]
fn blocks_that_direct_io_cannot_do_are_refused_and_the_area_is_aligned() {
    let mut request = request(Path::new("/mnt"));
    assert_eq!(aligned(&request, 10_000, 4096).unwrap(), 8192);
    let refused = aligned(&request, 10_000, 8192).unwrap_err();
    assert!(matches!(refused, RunError::Alignment { block: 4096, alignment: 8192, .. }), "{refused}");
    request.suite.workloads.iter_mut().for_each(|w| w.direct = false);
    assert_eq!(aligned(&request, 10_000, 8192).unwrap(), 8192);
}

#[test]
fn the_area_is_written_out_and_counted() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    let settings = session.record().settings().unwrap();
    assert_eq!((settings.span_bytes, settings.written_bytes), (MIB, MIB));
    assert_eq!(settings.layout.as_ref().map(|layout| layout.bytes), Some(MIB));
    assert_eq!(session.budget.written(), MIB);
    assert_eq!(session.area.target.file().metadata().unwrap().len(), MIB);
    assert!(session.first_reads());
    let read = asked(Op::Read, Pattern::Random, 4096, 1);
    assert!(session.pace.expected(&read).is_some_and(|seconds| seconds > 0.0), "{:?}", session.pace);
}

#[test]
fn a_run_that_is_stopped_measures_nothing_and_leaves_nothing() {
    let (dir, mut listener, control) = (tempfile::tempdir().unwrap(), Listener::default(), Control::default());
    let mut session = begun(dir.path(), &control, &mut listener);
    control.stop();
    assert!(!session.lay_out());
    let record = session.finish(false);
    assert!(matches!(record.outcome, Outcome::Failed { failure: RunFailure::Interrupted, .. }), "{:?}", record.outcome);
    assert!(record.measurements.is_empty());
    assert_eq!(files(dir.path()), 0);
    assert_eq!(listener.saved.last(), Some(&record));
}

#[test]
fn reads_come_before_writes_round_by_round_and_nothing_is_made_twice() {
    let workloads = [Op::Write, Op::Read, Op::Mixed, Op::Read].map(|op| asked(op, Pattern::Random, 4096, 1));
    let all = in_order(&workloads, 2, &[0; 4]);
    assert_eq!(all, [(1, 0), (3, 0), (1, 1), (3, 1), (0, 0), (2, 0), (0, 1), (2, 1)]);
    assert_eq!(in_order(&workloads, 2, &[2, 1, 0, 2]), [(1, 1), (2, 0), (2, 1)]);
}

#[test]
fn a_repeat_is_planned_within_its_share_and_as_the_one_before() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    let mut entries = session.entries();
    let turn = Turn { round: 1, done: 0, total: 4, slot: Duration::from_millis(200), weights: 4, may_write: None };
    let planned = session.plan(&mut entries[0], None, turn).unwrap().unwrap();
    let stop = &planned.spec.workload.stop;
    assert_eq!(stop.ramp_ns + stop.duration_ns, 150_000_000, "as long as the suite says");
    assert_eq!(stop.max_bytes, Some(7 * MIB / 2), "half of the weights, and so of the bytes left");
    assert_eq!((planned.instrument.name(), planned.spec.repeat, planned.spec.target.is_none()), ("null", 1, true));
    // Even if the medium turns out to be slow.
    session.pace.note(Op::Write, Pattern::Random, 4096, false, 0.1);
    let again = session.plan(&mut entries[0], None, turn).unwrap().unwrap();
    assert_eq!(again.spec.workload, planned.spec.workload);
    assert_eq!(again.spec.wait_for, None, "nothing is known of how to wait");
    let first = Repeat::empty("2026-01-01T00:00:00Z", Outcome::Completed);
    session.draft.fill().measurements[0].repeats.push(first);
    let waits_for = |session: &Session<'_>, entries: &mut [LoadEntry]| {
        session.plan(&mut entries[0], None, turn).unwrap().unwrap().spec.wait_for
    };
    assert_eq!(waits_for(&session, &mut entries), Some(1), "the first repeat saw nothing to try");
    let tried = Batching { wait_for: 8, tried: 8, iops_ratio: 1.1, p50_ratio: None, p99_ratio: None };
    session.draft.fill().measurements[0].batching = Some(tried.into());
    assert_eq!(waits_for(&session, &mut entries), Some(8));
    let short = Turn { slot: Duration::from_millis(50), ..turn };
    assert!(session.plan(&mut entries[1], None, short).unwrap().is_none(), "too short to say anything");
}

#[test]
fn a_load_of_all_hosts_that_cannot_run_here_says_why() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    let mut entry = session.entries().remove(0);
    entry.fitted = Some(entry.asked.clone());
    let short = Duration::from_millis(118);
    assert_eq!(session.cannot_run_common(&entry, 2048, short), None, "its own loads are fitted");
    entry.common = true;
    assert_eq!(session.cannot_run_common(&entry, MIB, short), None);
    assert_eq!(session.cannot_run_common(&entry, 4096, short), None, "as large as a block");
    assert_eq!(session.cannot_run_common(&entry, 2048, short), Some(Shortfall::CommonBlocks));
    // An operation takes longer than all that is left.
    session.pace.note(Op::Write, Pattern::Random, 4096, false, 0.01);
    assert_eq!(session.cannot_run_common(&entry, MIB, short), Some(Shortfall::CommonInFlight));
}

/// In a cluster the loads before had taken all of the five seconds, and most nodes left the last load out although their first
/// repeat of it had its time.
#[test]
fn a_load_of_all_hosts_is_not_left_out_for_want_of_time() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    let mut entry = session.entries().remove(0);
    (entry.fitted, entry.common) = (Some(entry.asked.clone()), true);
    session.budget = Budget::new(Duration::ZERO, 8 * MIB);
    assert_eq!(session.budget.left(), Duration::ZERO);
    session.pace.note(Op::Write, Pattern::Random, 4096, false, 20.0);
    let slot = session.budget.first_slot(Duration::ZERO, 1);
    assert_eq!(session.cannot_run_common(&entry, MIB, slot), None, "50 ms an operation");
    let turn = Turn { round: 0, done: 0, total: 1, slot, weights: 2, may_write: None };
    assert!(session.plan(&mut entry, None, turn).unwrap().is_some());
    session.pace.note(Op::Write, Pattern::Random, 4096, false, 0.5);
    assert_eq!(session.cannot_run_common(&entry, MIB, slot), Some(Shortfall::CommonInFlight), "two seconds");
}

/// The suite of [`request`] at QD8, which leaves what is known.
fn until_enough(directory: &Path) -> RunRequest {
    let mut request = request(directory);
    (request.suite.repeats, request.suite.enough) = (3, Some(0.05));
    request.suite.workloads.iter_mut().for_each(|w| (w.duration, w.queue_depth) = (None, 8));
    request
}

/// Three repeats that agree, as long as a short one and with 1 MiB to write.
fn agree(measurement: &mut Measurement, length: Duration) {
    let repeat = |iops| Repeat { iops, operations: 5000, ..Repeat::empty("2026-01-01T00:00:00Z", Outcome::Completed) };
    measurement.repeats = [1000.0, 1001.0, 1002.0].map(repeat).into();
    measurement.workload.stop = Stop { ramp_ns: 0, duration_ns: nanoseconds(length), max_bytes: Some(MIB) };
    crate::summary::estimate(measurement, &assay_stats::geometric_until_known);
}

#[test]
fn what_is_known_well_enough_is_left_and_a_slow_medium_has_long_repeats() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let run = PreparedRun::prepare(until_enough(dir.path())).unwrap();
    let mut session = Session::begin(run, &Control::default(), &mut listener, None).unwrap();
    assert!(session.lay_out());
    let (mut entries, order) = (session.entries(), session.order());
    assert_eq!(order.repeats.len(), 18, "three times as many");
    // Of a write 8 in flight drain in 2 s: within a third of a long repeat 4 do, of a short one 2.
    session.pace.note(Op::Write, Pattern::Random, 4096, false, 4.0);
    session.pace.note(Op::Read, Pattern::Random, 4096, false, 1000.0);
    let slot = |seconds: f64, turn: &Turn| (turn.slot.as_secs_f64() / seconds - 1.0).abs() < 0.1;
    let (read, first) = session.turn(&mut entries, &order, 0).unwrap();
    assert!(read == 1 && slot(30.0 * 0.95 / 18.0, &first), "{first:?}");
    assert_eq!((first.done, first.total), (0, 18), "nothing is known of the write");
    let (write, first) = session.turn(&mut entries, &order, 9).unwrap();
    assert!(write == 0 && slot(30.0 * 0.95 / 6.0, &first), "{first:?}");
    assert_eq!((first.done, first.total), (0, 3), "as many long ones as in any suite");
    assert!(session.turn(&mut entries, &order, 12).is_none());

    assert!(session.turn(&mut entries, &order, 3).is_some());
    agree(&mut session.draft.fill().measurements[1], order.usual);
    assert!(session.turn(&mut entries, &order, 3).is_none(), "it is known");
    let (_, first) = session.turn(&mut entries, &order, 9).unwrap();
    assert_eq!((first.done, first.total), (3, 6), "what is known is not counted as to come");
    // Too few operations to tell how deep the queue was.
    session.draft.fill().measurements[1].repeats.iter_mut().for_each(|repeat| repeat.operations = 100);
    assert!(session.turn(&mut entries, &order, 3).is_some());
}

/// A repeat that would be shorter than the others of its workload, or write less, would weigh as much as they do.
#[test]
fn further_repeats_are_like_the_first_or_are_not_made() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let run = PreparedRun::prepare(until_enough(dir.path())).unwrap();
    let mut session = Session::begin(run, &Control::default(), &mut listener, None).unwrap();
    assert!(session.lay_out());
    session.pace.note(Op::Write, Pattern::Random, 4096, false, 4000.0);
    let (mut entries, order) = (session.entries(), session.order());
    let (write, first) = session.turn(&mut entries, &order, 9).unwrap();
    assert_eq!((write, first.may_write), (0, None));
    agree(&mut session.draft.fill().measurements[0], first.slot);
    // But for one.
    let measurement = &mut session.draft.fill().measurements[0];
    measurement.repeats[2].iops = 2000.0;
    crate::summary::estimate(measurement, &assay_stats::geometric_until_known);
    let (_, fourth) = session.turn(&mut entries, &order, 12).unwrap();
    assert_eq!((fourth.slot, fourth.may_write), (first.slot, Some(MIB)));
    let planned = session.plan(&mut entries[0], None, fourth).unwrap().unwrap();
    assert_eq!(planned.spec.workload.stop.max_bytes, Some(MIB), "not all that is left");
    let left = session.budget.write_left();
    session.budget.wrote(left - MIB / 2);
    assert!(session.turn(&mut entries, &order, 12).is_none(), "it could write half of what the others did");

    // What was interrupted goes on with repeats of the same length.
    let mut entries = session.entries();
    session.draft.fill().measurements[0].workload.stop.max_bytes = None;
    let again = session.turn(&mut entries, &order, 12).unwrap().1;
    assert_eq!(again.slot, first.slot);
    let late = Budget::new(first.slot / 2, 0);
    session.budget = late;
    assert!(session.turn(&mut entries, &order, 12).is_none(), "it would be shorter than the others");
}

#[test]
fn the_first_repeats_of_a_stream_begin_all_over_it() {
    let mut suite = until_enough(Path::new("/mnt")).suite;
    let starts = |suite: &Suite| (0..9).map(|round| spread(round, suite)).collect::<Vec<_>>();
    assert_eq!(starts(&suite), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
    suite.enough = None;
    assert_eq!(starts(&suite), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn every_repeat_is_taken_over_estimated_told_and_saved() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    session.measure();
    let settings = session.record().settings().unwrap().clone();
    for measurement in &session.record().measurements {
        let repeats: Vec<bool> = measurement.repeats.iter().map(|r| r.outcome == Outcome::Completed).collect();
        assert_eq!(repeats, [true, true], "{}", measurement.workload.name);
        assert_eq!(measurement.engine, "null");
        assert!(measurement.iops.as_ref().is_some_and(|iops| iops.n == 2), "{:?}", measurement.iops);
        assert_eq!(measurement.proof_ratio, None, "nothing crosses a device");
    }
    assert!(settings.read_bytes > 0 && settings.written_bytes > MIB, "{settings:?}");
    assert_eq!(session.budget.written(), settings.written_bytes);
    drop(session);
    let started = listener.events.iter().filter_map(|e| match &e.event {
        EventKind::RepeatStarted { workload, done, total: 4, .. } => Some((workload.as_str(), *done)),
        _ => None,
    });
    assert_eq!(started.collect::<Vec<_>>(), [("r", 0), ("r", 1), ("w", 2), ("w", 3)]);
    assert_eq!(places(&listener.events, |e| matches!(e, EventKind::RepeatFinished { .. })).len(), 4);
    // At the start, after each repeat, and at the end.
    assert_eq!(listener.saved.len(), 6);
    let repeats = |at: usize| listener.saved[at].measurements.iter().map(|m| m.repeats.len()).sum::<usize>();
    assert_eq!([repeats(1), repeats(2), repeats(4)], [1, 2, 4]);
}

#[test]
fn the_trouble_of_a_repeat_ends_it_by_its_kind() {
    let (dir, mut listener, control) = (tempfile::tempdir().unwrap(), Listener::default(), Control::default());
    let mut session = begun(dir.path(), &control, &mut listener);
    let mut entries = session.entries();
    let turn = Turn { round: 0, done: 0, total: 4, slot: Duration::from_millis(150), weights: 0, may_write: None };
    let planned = session.plan(&mut entries[1], None, turn).unwrap().unwrap();
    let mut report = session
        .engines
        .run(&[(planned.instrument, &planned.spec)], &ToolSubject::default(), &control, &mut |_, _| {
            std::ops::ControlFlow::Continue(())
        })
        .remove(0);
    let target = session.area.target.clone();
    let ended = |stopped, session: &Session<'_>, report: &RepeatReport| {
        session.outcome_of((report, stopped), &planned.spec.workload, &target)
    };
    let of = |session: &Session<'_>, report: &RepeatReport| ended(false, session, report);
    assert_eq!(of(&session, &report), Outcome::Completed);
    // ENOSPC and EROFS; ERROR_DISK_FULL and ERROR_WRITE_PROTECT.
    let (full, read_only) = if cfg!(windows) { (112, 19) } else { (28, 30) };
    let message_of = |errno| std::io::Error::from_raw_os_error(errno).to_string();
    let (no_space, protected) =
        (format!("write at offset 0: {}", message_of(full)), format!("sync: {}", message_of(read_only)));
    for (trouble, kind, words) in [
        (
            RepeatTrouble::Io { write: false, offset: 512, errno: 0 },
            RunFailure::IoError,
            "read at offset 512 moved fewer bytes",
        ),
        (RepeatTrouble::Io { write: true, offset: 0, errno: full }, RunFailure::OutOfSpace, no_space.as_str()),
        (RepeatTrouble::Sync { errno: read_only }, RunFailure::ReadOnly, protected.as_str()),
        (RepeatTrouble::Hung { after: Duration::from_secs(30) }, RunFailure::Hung, "nothing completed for 30"),
        (RepeatTrouble::Setup("no threads".to_owned()), RunFailure::Host, "no threads"),
        (RepeatTrouble::Peer("fio: no".to_owned()), RunFailure::Other, "fio: no"),
    ] {
        report.trouble = Some(trouble);
        match of(&session, &report) {
            Outcome::Failed { failure, detail, workload, .. } => {
                assert_eq!((failure, workload.as_deref()), (kind, Some("r")), "{detail}");
                assert!(detail.starts_with(words), "{detail}");
            }
            other => panic!("{other:?}"),
        }
    }
    report.trouble = None;
    let stopped = ended(true, &session, &report);
    assert!(matches!(stopped, Outcome::Failed { failure: RunFailure::Interrupted, .. }), "{stopped:?}");
}

#[test]
fn the_file_is_gone_and_the_record_judged_when_a_run_ends() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    session.warn(Finding::AnotherRun);
    let record = session.finish(true);
    assert_eq!((files(dir.path()), &record.outcome), (0, &Outcome::Completed));
    assert!(record.validity.verdict >= ValidityVerdict::Suspect && record.settings().unwrap().elapsed_ns > 0);
    assert_eq!(listener.saved.last(), Some(&record));
    match &listener.events.last().unwrap().event {
        EventKind::Finished { outcome, validity, .. } => {
            assert_eq!((outcome, validity), (&record.outcome, &record.validity));
        }
        other => panic!("{other:?}"),
    }
}

/// The second of two runs learns of the other when it begins, the first only if it looks again.
#[test]
fn a_run_that_another_one_joined_says_so_once() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    let directory = assay_device::owned::Directory::open(dir.path()).unwrap();
    let other = crate::scratch::Scratch::create(&directory, "another000").unwrap();
    let told = |session: &Session<'_>| {
        session.record().warnings.iter().filter(|warning| warning.finding == Finding::AnotherRun).count()
    };
    session.measure();
    assert_eq!(told(&session), 1);
    session.measure();
    assert_eq!(told(&session), 1);
    drop(other);
    drop(session);
    let mut alone = Listener::default();
    let mut session = begun(dir.path(), &Control::default(), &mut alone);
    assert!(session.lay_out());
    session.measure();
    assert_eq!(told(&session), 0, "its own directory is no other run");
}

/// The suite with programs beside its workloads, by an engine that reaches the medium.
fn with_programs(directory: &Path, programs: &str) -> RunRequest {
    let mut request = request(directory);
    let text =
        format!("{}{programs}", request.suite.to_text().replace("\"8MiB\"", "\"24MiB\"").replace("\"30s\"", "\"90s\""));
    request.suite = Suite::parse(&text, "test").unwrap();
    request.engine = EngineChoice::Own { engine: OwnEngine::Sync, crosscheck: None };
    request
}

const STREAM_AND_ROWS: &str = "[[program]]\nname = \"dd\"\nduration = \"5s\"\n\
    does.stream = { block = \"4KiB\", count = 100 }\n[[program]]\nname = \"rows\"\nduration = \"5s\"\n\
    does.inserts = { rows = 20 }\n[[program]]\nname = \"tree\"\nduration = \"20s\"\ndoes.unpack = {}\n";

#[test]
fn programs_run_after_the_workloads_and_each_has_its_scores() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let run = PreparedRun::prepare(with_programs(dir.path(), STREAM_AND_ROWS)).unwrap();
    let record = run.execute(&Control::default(), &mut listener, None).unwrap();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.all_warnings().collect::<Vec<_>>());
    let scores: Vec<_> = record.scores.iter().map(|s| (s.program.as_deref().unwrap(), s.unit.as_str())).collect();
    let names: Vec<_> = scores.iter().map(|(run, unit)| (run.program.as_str(), *unit)).collect();
    assert_eq!(
        names,
        [("dd", "MB/s"), ("rows", "inserts/s"), ("tree", "MB/s"), ("tree", "MB/s")],
        "{:?}",
        record.warnings
    );
    assert!(record.scores[3].name.ends_with("with a sync"), "{}", record.scores[3].name);
    for (run, _) in &scores {
        assert_eq!((run.values.len(), run.elapsed_ns.len()), (2, 2), "{run:?}");
        assert!(run.waiting_share.is_some_and(|share| (0.0..=1.0).contains(&share)), "{run:?}");
    }
    assert!(scores[2].0.tree.as_ref().is_some_and(|tree| tree.starts_with("a generated tree, ")));
    assert!(record.scores.iter().all(|score| score.value.low.is_some() && score.value.n == 2));
    let programs = places(&listener.events, |e| matches!(e, EventKind::ProgramFinished { .. }));
    let workloads = places(&listener.events, |e| matches!(e, EventKind::RepeatFinished { .. }));
    assert!(programs.len() == 6 && workloads.iter().max() < programs.iter().min());
    assert_eq!(files(dir.path()), 0);
}

/// Asks for the end as soon as an event of this kind comes.
struct Stopping {
    at: fn(&EventKind) -> bool,
    control: Control,
    listener: Listener,
}

impl Stopping {
    fn new(control: &Control, at: fn(&EventKind) -> bool) -> Self {
        Self { at, control: control.clone(), listener: Listener::default() }
    }
}

impl crate::emit::Observer for Stopping {
    fn event(&mut self, event: &Event) {
        if (self.at)(&event.event) {
            self.control.stop();
        }
        self.listener.event(event);
    }

    fn checkpoint(&mut self, record: &assay_core::record::Record, scratch: Option<&Path>) {
        self.listener.checkpoint(record, scratch);
    }
}

#[test]
fn a_run_that_is_stopped_between_two_repeats_asks_for_no_larger_budget() {
    let (dir, control) = (tempfile::tempdir().unwrap(), Control::default());
    let mut observer = Stopping::new(&control, |event| matches!(event, EventKind::RepeatFinished { .. }));
    let run = PreparedRun::prepare(request(dir.path())).unwrap();
    let record = run.execute(&control, &mut observer, None).unwrap();
    assert!(matches!(record.outcome, Outcome::Failed { failure: RunFailure::Interrupted, .. }), "{:?}", record.outcome);
    let repeats: Vec<usize> = record.measurements.iter().map(|m| m.repeats.len()).collect();
    assert_eq!(repeats, [0, 1], "the write and one repeat of the read are missing");
    let missing = |w: &&assay_core::finding::Warning| matches!(w.finding, Finding::FewerRepeats { .. });
    assert_eq!(record.all_warnings().find(missing), None, "the outcome says why they are");
}

#[test]
fn a_run_whose_budget_is_used_up_before_any_workload_is_not_complete() {
    let (dir, mut listener) = (tempfile::tempdir().unwrap(), Listener::default());
    let mut session = begun(dir.path(), &Control::default(), &mut listener);
    assert!(session.lay_out());
    session.budget = Budget::new(Duration::ZERO, 0);
    std::thread::sleep(Duration::from_millis(600));
    assert!(!session.measure());
    let record = session.finish(false);
    let Outcome::Failed { failure: RunFailure::Host, detail, .. } = &record.outcome else {
        panic!("{:?}", record.outcome)
    };
    assert!(detail.contains("budget was used up"), "{detail}");
    let skipped = |w: &&assay_core::finding::Warning| matches!(w.finding, Finding::FewerRepeats { ran: 0, .. });
    assert_eq!(record.all_warnings().filter(skipped).count(), 2);
}

/// Another host that is lost as soon as all was measured.
#[derive(Debug)]
struct LostAtTheEnd(Control);

impl Rendezvous for LostAtTheEnd {
    fn ready(&mut self, _: RepeatStep, _: &Control) -> Word {
        Word::Alone
    }

    fn part(&mut self, whole: bool) -> Option<ClusterPart> {
        assert!(whole && self.0.stopped());
        None
    }
}

/// A node that loses its coordinator is stopped; what it had measured by then is whole.
#[test]
fn what_is_stopped_after_its_last_repeat_is_complete() {
    let (dir, control) = (tempfile::tempdir().unwrap(), Control::default());
    let is_last =
        |event: &EventKind| matches!(event, EventKind::RepeatFinished { workload, repeat: 2, .. } if workload == "w");
    let mut observer = Stopping::new(&control, is_last);
    let run = PreparedRun::prepare(request(dir.path())).unwrap();
    let record = run.execute(&control, &mut observer, Some(&mut LostAtTheEnd(control.clone()))).unwrap();
    assert!(control.stopped() && record.outcome == Outcome::Completed, "{:?}", record.outcome);
    assert!(record.measurements.iter().all(|m| m.repeats.len() == 2));
}

#[test]
fn a_program_that_is_stopped_leaves_nothing_and_what_was_measured_stays() {
    let (dir, control) = (tempfile::tempdir().unwrap(), Control::default());
    let is_tree = |event: &EventKind| matches!(event, EventKind::RepeatStarted { workload, .. } if workload == "tree");
    let mut observer = Stopping::new(&control, is_tree);
    let run = PreparedRun::prepare(with_programs(dir.path(), STREAM_AND_ROWS)).unwrap();
    let record = run.execute(&control, &mut observer, None).unwrap();
    assert!(matches!(record.outcome, Outcome::Failed { failure: RunFailure::Interrupted, .. }), "{:?}", record.outcome);
    assert_eq!(record.scores.len(), 2, "of the first round");
    assert_eq!(files(dir.path()), 0);
}

#[test]
fn what_cannot_run_or_is_made_smaller_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let run = |request| {
        PreparedRun::prepare(request).unwrap().execute(&Control::default(), &mut Listener::default(), None).unwrap()
    };
    let mut null = with_programs(dir.path(), STREAM_AND_ROWS);
    null.engine = EngineChoice::Null;
    let record = run(null);
    let left_out = |w: &&assay_core::finding::Warning| matches!(w.finding, Finding::ProgramLeftOut { ran: 0, .. });
    assert!(record.scores.is_empty() && record.warnings.iter().filter(left_out).count() == 3);

    let large = "[[program]]\nname = \"dd\"\nduration = \"1s\"\ndoes.stream = { block = \"64KiB\", count = 1000000 }\n\
                 [[program]]\nname = \"rows\"\ndoes.inserts = { rows = 9000000 }\nduration = \"1s\"\n";
    let record = run(with_programs(dir.path(), large));
    let scaled = |w: &&assay_core::finding::Warning| matches!(&w.finding, Finding::ScaledDown { program: Some(program), .. } if program == "dd" || program == "rows");
    assert_eq!(record.warnings.iter().filter(scaled).count(), 2, "{:?}", record.warnings);
    assert!(record.settings().unwrap().written_bytes <= 24 * MIB, "{}", record.settings().unwrap().written_bytes);
    assert_eq!(files(dir.path()), 0);
}
