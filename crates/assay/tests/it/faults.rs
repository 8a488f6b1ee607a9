//! Media that fail while they are measured, and runs that are ended from outside: whatever
//! happens, the record is true and complete, the command ends, and no file stays behind.
//!
//! Each fault happens once; `ASSAY_FAULT_ROUNDS=20` makes it happen twenty times.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::histogram::Histogram;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Record, Repeat};
use assay_lab::{FastDevice, FaultyCard, Lab, RemovableCard, WriteFault, lab, skip};
use rustix::process::Signal;

use crate::common::{Place, Running, assert_empty, run, scratch_directories};

const MIB: u64 = 1 << 20;
/// Samples of a second that are taken before something happens.
const BEFORE: usize = 2;
/// With `--hang-after 5s` a hang is known and told within this, also on a busy machine.
const SOON: Duration = Duration::from_secs(30);

fn rounds() -> u32 {
    std::env::var("ASSAY_FAULT_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// A suite of one workload that lasts longer than it takes until something happens.
fn suite(place: &Place, op: &str, depth: u32, seconds: u32) {
    let text = format!(
        "name = \"faults\"\nversion = 1\npurpose = \"A test\"\nbudget = \"60s\"\nmax_write = \"8GiB\"\nrepeats = 1\n\
         span = \"4MiB\"\n[[workload]]\nname = \"w\"\nop = \"{op}\"\npattern = \"random\"\nblock = \"4KiB\"\n\
         queue_depth = {depth}\nduration = \"{seconds}s\"\n"
    );
    place.file("faults.toml", text);
}

/// A run that has measured for [`BEFORE`] seconds.
struct Underway {
    place: Place,
    running: Running,
}

impl Underway {
    fn on(medium: &Path, op: &str, depth: u32, more: &[&str]) -> Self {
        Self::for_seconds(20, medium, op, depth, more)
    }

    fn for_seconds(seconds: u32, medium: &Path, op: &str, depth: u32, more: &[&str]) -> Self {
        let place = Place::new();
        suite(&place, op, depth, seconds);
        let mut command = place.assay(["run", "--events", "--suite", "faults.toml"]);
        command.args(more).arg(medium);
        let mut running = Running::start(command);
        for _ in 0..BEFORE {
            running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
        }
        Self { place, running }
    }

    /// Does something to the medium at one stroke: cutting a loop device takes two steps, and what
    /// the run writes in between makes the file longer again, as no pulled card does.
    fn at_one_stroke(&self, act: impl FnOnce()) {
        self.running.signal_all(Signal::STOP);
        // What is in flight comes to its end.
        std::thread::sleep(Duration::from_millis(200));
        act();
        self.running.signal_all(Signal::CONT);
    }

    /// Waits for the end and reads the record from the store. It is the only one, it is complete,
    /// and it has what was measured before the fault.
    #[track_caller]
    fn ends(self, code: i32, failure: RunFailure) -> Record {
        let since = Instant::now();
        let done = self.running.end();
        assert!(since.elapsed() < SOON, "took {:?}", since.elapsed());
        let record = self.place.only_record();
        assert_eq!(done.code, Some(code), "{:?}\n{}", record.outcome, done.stderr);
        assert_eq!(failure_of(&record), failure, "{:?}", record.outcome);
        kept(&record);
        let last: assay_core::event::Event = serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap();
        assert!(matches!(last.event, EventKind::Finished { outcome, .. } if outcome == record.outcome));
        let words = record.outcome.sentence();
        assert!(words.starts_with("did not finish: ") && done.stderr.contains("did not finish"), "{words}");
        record
    }
}

#[track_caller]
fn failure_of(record: &Record) -> RunFailure {
    match &record.outcome {
        Outcome::Failed { failure, .. } => *failure,
        other => panic!("{other:?}"),
    }
}

fn detail(record: &Record) -> &str {
    match &record.outcome {
        Outcome::Failed { detail, .. } => detail,
        _ => "",
    }
}

/// What a repeat that did not finish keeps; no estimate is made of it.
#[track_caller]
fn kept(record: &Record) -> &Repeat {
    let measurement = &record.measurements[0];
    let repeat = &measurement.repeats[0];
    assert!(repeat.samples.iter().filter(|s| s.operations > 0).count() >= BEFORE, "{:?}", repeat.samples);
    assert!(repeat.operations > 0 && repeat.iops > 0.0 && repeat.issued_bytes > 0, "{repeat:?}");
    assert!(Histogram::from(&*repeat.histogram).max().is_some());
    // On a busy machine the stop in which the medium changed lasts, and the repeat is made once more.
    let last = measurement.repeats.last().unwrap();
    assert_eq!(last.outcome, record.outcome);
    let suspended = |repeat: &Repeat| matches!(repeat.outcome, Outcome::Failed { failure: RunFailure::Suspended, .. });
    assert!(measurement.repeats.len() == 1 || suspended(repeat), "{:?}", repeat.outcome);
    assert!(measurement.iops.is_none() && measurement.latency_ns.p99.is_none());
    repeat
}

fn file_left(record: &Record) -> bool {
    record.warnings.iter().any(|w| matches!(w.finding, Finding::FileLeft { .. }))
}

#[test]
fn an_error_on_read_ends_the_run_and_keeps_what_there_was() {
    const TEST: &str = "an_error_on_read_ends_the_run_and_keeps_what_there_was";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
        let depth = [1, 4][round as usize % 2];
        let underway = Underway::on(card.path(), "read", depth, &[]);
        card.fail_reads(true).unwrap();
        let record = underway.ends(3, RunFailure::IoError);
        assert!(detail(&record).starts_with("read at offset "), "{}", detail(&record));
        card.fail_reads(false).unwrap();
        assert!(!file_left(&record));
        assert_empty(card.path());
    }
}

#[test]
fn an_error_on_write_ends_the_run_and_keeps_what_there_was() {
    const TEST: &str = "an_error_on_write_ends_the_run_and_keeps_what_there_was";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
        let depth = [1, 4][round as usize % 2];
        let mut underway = Underway::on(card.path(), "write", depth, &[]);
        card.fail_writes(true).unwrap();
        underway.running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
        card.fail_writes(false).unwrap();
        let record = underway.ends(3, RunFailure::IoError);
        assert!(detail(&record).starts_with("write at offset "), "{}", detail(&record));
        // Where the journal was hit too, ext4 lets nothing be removed any more, and that is told.
        if !file_left(&record) {
            assert_empty(card.path());
        }
    }
}

#[test]
fn a_hang_for_ever_ends_the_command_though_nothing_can_end_the_operation() {
    const TEST: &str = "a_hang_for_ever_ends_the_command_though_nothing_can_end_the_operation";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
        // pread in an uninterruptible sleep, io_uring, and writes.
        let (op, depth) = [("read", 1), ("read", 4), ("write", 1), ("write", 4)][round as usize % 4];
        let underway = Underway::on(card.path(), op, depth, &["--hang-after", "5s"]);
        card.hang();
        let record = underway.ends(3, RunFailure::Hung);
        assert_eq!(detail(&record), "nothing completed for 5 s");
        assert_eq!(record.settings().unwrap().hang_after_ns, Some(5_000_000_000));
        assert!(kept(&record).samples.iter().rev().take(3).all(|s| s.operations == 0), "the hang itself is seen");
        card.recover();
        gone_after_the_next_run(card.path());
    }
}

/// What could not be removed from a hung medium is removed by the next run, if not before.
#[track_caller]
fn gone_after_the_next_run(medium: &Path) {
    // The process left behind keeps its lock until its operations end.
    let limit = Instant::now() + SOON;
    loop {
        let next = Place::new();
        let mut command = next.assay(["run", "--quiet", "--no-save", "--suite", "tiny.toml"]);
        command.arg(medium);
        run(command).measures();
        if scratch_directories(medium) == 0 {
            return assert_empty(medium);
        }
        assert!(Instant::now() < limit, "the test file is still there");
    }
}

#[test]
fn a_hang_of_twenty_seconds_is_measured_and_seen() {
    const TEST: &str = "a_hang_of_twenty_seconds_is_measured_and_seen";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
        let (op, depth) = [("read", 1), ("write", 4)][round as usize % 2];
        let underway = Underway::for_seconds(6, card.path(), op, depth, &["--hang-after", "30s"]);
        card.hang();
        std::thread::sleep(Duration::from_secs(20));
        card.recover();
        let done = underway.running.end();
        done.measures();
        let record = underway.place.only_record();
        assert_eq!(record.outcome, Outcome::Completed);
        let measurement = &record.measurements[0];
        let silent = measurement.repeats[0].samples.iter().filter(|s| s.operations == 0).count();
        assert!(silent >= 15, "{:?}", measurement.repeats[0].samples);
        for (name, value) in [("p99.9", &measurement.latency_ns.p99_9), ("max", &measurement.latency_ns.max)] {
            let seconds = value.as_ref().unwrap().point / 1e9;
            assert!((18.0..30.0).contains(&seconds), "{name}: {seconds} s");
        }
        let p50 = measurement.latency_ns.p50.as_ref().unwrap().point / 1e9;
        assert!(p50 < 2.0, "p50: {p50} s");
        assert_empty(card.path());
    }
}

#[test]
fn a_file_system_that_turns_read_only_is_called_that() {
    const TEST: &str = "a_file_system_that_turns_read_only_is_called_that";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, RemovableCard::formatted(64 * MIB));
        let depth = [1, 4][round as usize % 2];
        let underway = Underway::on(card.path(), "write", depth, &[]);
        lab!(TEST, card.turn_read_only());
        let record = underway.ends(3, RunFailure::ReadOnly);
        // Nothing can be removed from it, and the record says so.
        assert!(file_left(&record), "{:?}", record.warnings);
    }
}

#[test]
fn a_card_that_is_taken_out_has_disappeared() {
    const TEST: &str = "a_card_that_is_taken_out_has_disappeared";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, RemovableCard::formatted(64 * MIB));
        let (op, depth) = [("read", 1), ("read", 4), ("write", 1), ("write", 4)][round as usize % 4];
        let underway = Underway::on(card.path(), op, depth, &[]);
        underway.at_one_stroke(|| card.pull().unwrap());
        let record = underway.ends(3, RunFailure::Disappeared);
        assert!(detail(&record).ends_with("is empty now"), "{}", detail(&record));
    }
}

#[test]
fn a_card_that_no_longer_answers_at_all_gives_errors_and_not_a_hang() {
    const TEST: &str = "a_card_that_no_longer_answers_at_all_gives_errors_and_not_a_hang";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let mut card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
        let depth = [1, 4][round as usize % 2];
        let underway = Underway::on(card.path(), "read", depth, &[]);
        card.lose();
        underway.ends(3, RunFailure::IoError);
    }
}

#[test]
fn a_device_that_got_shorter_says_how_much_is_left() {
    const TEST: &str = "a_device_that_got_shorter_says_how_much_is_left";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, RemovableCard::raw(64 * MIB));
        let depth = [1, 4][round as usize % 2];
        let underway = Underway::on(card.path(), "read", depth, &["--raw"]);
        underway.at_one_stroke(|| card.shorten(MIB).unwrap());
        let record = underway.ends(3, RunFailure::IoError);
        assert!(detail(&record).ends_with("has only 1 MiB of 64 MiB left"), "{}", detail(&record));
    }
}

#[test]
fn a_disk_that_is_full_while_it_is_written_is_no_fault_of_the_medium() {
    const TEST: &str = "a_disk_that_is_full_while_it_is_written_is_no_fault_of_the_medium";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::NoSpace));
        let depth = [1, 4][round as usize % 2];
        let mut underway = Underway::on(card.path(), "write", depth, &[]);
        card.fail_writes(true).unwrap();
        underway.running.wait_for(|event| matches!(event, EventKind::RepeatFinished { .. }));
        card.fail_writes(false).unwrap();
        let record = underway.ends(4, RunFailure::OutOfSpace);
        if !file_left(&record) {
            assert_empty(card.path());
        }
    }
}

#[test]
fn a_signal_ends_the_run_in_good_order() {
    const TEST: &str = "a_signal_ends_the_run_in_good_order";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FastDevice::new(64 * MIB));
        let (op, depth) = [("read", 1), ("write", 4)][round as usize % 2];
        let underway = Underway::on(card.path(), op, depth, &[]);
        underway.running.signal([Signal::TERM, Signal::HUP][round as usize % 2]);
        underway.ends(130, RunFailure::Interrupted);
        assert_empty(card.path());
    }
}

#[test]
fn a_signal_ends_the_run_while_the_medium_hangs() {
    const TEST: &str = "a_signal_ends_the_run_while_the_medium_hangs";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
        let depth = [1, 4][round as usize % 2];
        // The hang alone would end it after two minutes.
        let underway = Underway::on(card.path(), "read", depth, &["--hang-after", "2m"]);
        card.hang();
        underway.running.signal(Signal::TERM);
        underway.ends(130, RunFailure::Interrupted);
        card.recover();
        gone_after_the_next_run(card.path());
    }
}

#[test]
fn a_terminal_that_is_closed_ends_the_run_in_good_order() {
    const TEST: &str = "a_terminal_that_is_closed_ends_the_run_in_good_order";
    let _lab = lab!(TEST, Lab::share());
    if Command::new("script").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip(TEST, &assay_lab::Missing("needs script (package bsdutils)".to_owned()));
    }
    for _ in 0..rounds() {
        let card = lab!(TEST, FastDevice::new(64 * MIB));
        let place = Place::new();
        suite(&place, "read", 1, 20);
        // script has no arguments for its command: the medium comes through the environment.
        let mut command =
            place.shell("exec script -qec 'exec \"$ASSAY\" run --suite faults.toml \"$MEDIUM\"' /dev/null");
        command.env("MEDIUM", card.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut terminal = command.spawn().unwrap();
        let begun = Instant::now();
        while scratch_directories(card.path()) == 0 {
            assert!(begun.elapsed() < SOON, "does not begin");
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_secs(4));
        terminal.kill().unwrap();
        terminal.wait().unwrap();
        let closed = Instant::now();
        let record = loop {
            let list = place.json(["list", "--json"]);
            assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
            let record: Record = serde_json::from_value(place.json(["show", "last", "--json"])).unwrap();
            if record.outcome != Outcome::Running && scratch_directories(card.path()) == 0 {
                break record;
            }
            assert!(closed.elapsed() < SOON, "{:?}", record.outcome);
            std::thread::sleep(Duration::from_millis(100));
        };
        assert_eq!(failure_of(&record), RunFailure::Interrupted);
        kept(&record);
        assert_empty(card.path());
    }
}

#[test]
fn what_kill_9_leaves_is_removed_and_told_by_the_next_run() {
    const TEST: &str = "what_kill_9_leaves_is_removed_and_told_by_the_next_run";
    let _lab = lab!(TEST, Lab::share());
    for round in 0..rounds() {
        let card = lab!(TEST, FastDevice::new(64 * MIB));
        let (op, depth) = [("read", 1), ("write", 4)][round as usize % 2];
        let underway = Underway::on(card.path(), op, depth, &[]);
        underway.running.kill();
        assert_eq!(scratch_directories(card.path()), 1);
        let place = underway.place;
        let mut next = place.assay(["run", "--quiet", "--suite", "tiny.toml"]);
        next.arg(card.path());
        let next = run(next);
        next.measures();
        assert!(
            next.stderr.contains("was killed") && next.stderr.contains("its test file was removed"),
            "{}",
            next.stderr
        );
        assert_empty(card.path());
        let killed: Record = serde_json::from_value(place.json(["show", "last~1", "--json"])).unwrap();
        assert_eq!(failure_of(&killed), RunFailure::Abandoned);
        assert!(killed.settings().unwrap().layout.is_some(), "what was done before the kill is kept");
    }
}
