//! Runs that are stopped (SIGSTOP, Ctrl-Z) and continued: stopped time is not measured time, and it is called
//! what it was. Both processes of a run stop and go on together.

use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::{Finding, Shortfall};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record};
use assay_core::units::MIB;
use assay_lab::{Lab, LimitedCard, Limits, Missing, lab, skip};
use rustix::process::Signal;

use crate::common::family::{Process, wait_for, wait_until_stopped};
use crate::common::{ASSAY, Place, Running, random, run, send, send_if_there, suite};

/// A place with a suite of two repeats.
fn place() -> Place {
    let place = Place::new();
    let workload = random("r", "read", "2s") + "queue_depth = 4\n";
    place.file("stops.toml", suite("stops", "20s", 2, &[workload]));
    place
}

fn start(more: &[&str]) -> (Place, Running) {
    let place = place();
    let mut running = place.begin("stops.toml", more);
    running.wait_for_repeat("r", 1);
    running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
    (place, running)
}

fn suspended(measurement: &Measurement) -> Option<f64> {
    measurement.warnings.iter().find_map(|w| match w.finding {
        Finding::Suspended { suspended_ns } => Some(suspended_ns as f64 / 1e9),
        _ => None,
    })
}

/// The repeat that was stopped does not count and was made again, as if nothing had been.
#[track_caller]
fn made_again(record: &Record, seconds: std::ops::Range<f64>) {
    assert_eq!(record.outcome, Outcome::Completed);
    let measurement = &record.measurements[0];
    let outcomes: Vec<bool> = measurement.repeats.iter().map(|r| r.outcome == Outcome::Completed).collect();
    assert_eq!(outcomes, [false, true, true], "{:?}", measurement.repeats);
    assert!(matches!(measurement.repeats[0].outcome, Outcome::Failed { failure: RunFailure::Suspended, .. }));
    assert_eq!(measurement.iops.as_ref().unwrap().n, 2);
    let suspended_seconds = suspended(measurement);
    assert!(
        suspended_seconds.is_some_and(|suspended_seconds| seconds.contains(&suspended_seconds)),
        "{suspended_seconds:?} of {seconds:?}"
    );
    assert!(!measurement.warnings.iter().any(|w| matches!(w.finding, Finding::FewerRepeats { .. })));
    for sample in measurement.repeats.iter().flat_map(|r| &r.samples) {
        assert!(sample.interval_ns < 2_000_000_000, "stopped time is in a sample: {sample:?}");
    }
}

/// Its processes use all processors until it is dropped.
struct Hogs(Vec<Child>);

impl Hogs {
    /// What they are called.
    const NAME: &str = "hog";

    fn start(place: &Place) -> Self {
        let program = place.path().join(Self::NAME);
        let _ = symlink("/bin/sh", &program);
        let count = std::thread::available_parallelism().map_or(2, usize::from);
        let start = |_| Command::new(&program).args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..count).map(start).collect())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill();
            let _ = hog.wait();
        }
    }
}

/// Threat 29. Ctrl-Z reaches both processes; kill(1) the one that was started, and SIGSTOP cannot be caught.
#[test]
fn a_repeat_that_was_stopped_is_made_again_and_nobody_else_is_blamed() {
    let stops: [fn(&Running); 3] =
        [|r| r.signal_all(Signal::TSTP), |r| r.signal(Signal::TSTP), |r| r.signal(Signal::STOP)];
    for stop in stops {
        let (place, running) = start(&[]);
        let worker = running.workers()[0];
        stop(&running);
        wait_until_stopped(worker, true);
        wait_until_stopped(running.id(), true);
        let hogs = Hogs::start(&place);
        std::thread::sleep(Duration::from_secs(3));
        drop(hogs);
        running.signal(Signal::CONT);
        wait_until_stopped(worker, false);
        running.end().measures();
        let record = place.only_record();
        made_again(&record, 2.5..30.0);
        let blamed = record
            .all_warnings()
            .any(|w| matches!(&w.finding, Finding::LoadOfOthers { most, .. } if most == Hogs::NAME));
        assert!(!blamed, "{:?}", record.warnings);
        let shown = run(place.assay(["show"])).succeeds().stdout.clone();
        assert!(shown.contains("the process was stopped for"), "{shown}");
        place.assert_clean();
    }
}

/// A stop of the process that works stops the one that waits for it, so that the shell knows of it; continuing
/// that one continues both.
#[test]
fn the_process_that_waits_stops_and_continues_with_the_one_that_works() {
    let place = place();
    place.file("stops.toml", suite("stops", "30s", 2, &[random("r", "read", "5s")]));
    let mut running = place.begin("stops.toml", &[]);
    running.wait_for_repeat("r", 1);
    running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
    let worker = running.workers()[0];
    send(worker, Signal::STOP);
    wait_until_stopped(running.id(), true);
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::CONT);
    wait_until_stopped(worker, false);
    wait_until_stopped(running.id(), false);
    running.end().measures();
    let record = place.only_record();
    made_again(&record, 0.4..30.0);
    let lasted: u64 = record.measurements[0].repeats[0].samples.iter().map(|s| s.interval_ns).sum();
    let nanoseconds = 100_000_000..4_000_000_000;
    assert!(nanoseconds.contains(&lasted), "what does not count ends at once: {lasted} of 5 s");
}

/// As whoever uses a shell sees it.
#[test]
fn a_shell_with_job_control_stops_it_and_puts_it_into_the_background() {
    const TEST: &str = "a_shell_with_job_control_stops_it_and_puts_it_into_the_background";
    if Command::new("bash").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip(TEST, &Missing("needs bash".to_owned()));
    }
    let place = place();
    let mut command = Command::new("bash");
    let script = r#"
        set -m
        "$ASSAY" run --quiet --json --suite stops.toml medium >record.json &
        until [ -n "$(ls -A medium)" ]; do sleep 0.1; done
        sleep 1
        kill -TSTP %1
        until jobs -l %1 | grep -q Stopped; do sleep 0.1; done
        sleep 2
        bg %1
        fg %1
    "#;
    command.args(["-uc", script]);
    place.at_home(&mut command);
    let done = run(command);
    done.measures();
    let record = place.only_record();
    assert_eq!(record.outcome, Outcome::Completed);
    // It may have been stopped before the first repeat.
    let completed = record.measurements[0].repeats.iter().filter(|r| r.outcome == Outcome::Completed).count();
    assert_eq!(completed, 2, "{:?}", record.measurements[0].warnings);
    place.assert_clean();
}

/// A stop that is longer than a medium may hang is no hang of the medium, which answers five times a second.
#[test]
fn a_long_stop_is_no_hang_of_the_medium() {
    const TEST: &str = "a_long_stop_is_no_hang_of_the_medium";
    let limits = Limits { read_iops: Some(5), ..Limits::default() };
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, LimitedCard::new(64 * MIB, limits));
    let place = Place::new();
    let text = suite("stops", "20s", 2, &[random("r", "read", "2s")]);
    place.file("stops.toml", text.replace("4MiB", "1MiB"));
    let medium = card.path().to_str().unwrap();
    let arguments = ["run", "--suite", "stops.toml", "--events", "--hang-after", "5s", medium];
    let mut command = card.command(std::path::Path::new(ASSAY), &arguments);
    place.at_home(&mut command);
    let mut running = Running::start(command);
    running.wait_for_repeat("r", 1);
    running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(8));
    running.signal(Signal::CONT);
    running.end().measures();
    made_again(&place.only_record(), 7.0..60.0);
}

/// Neither the speeds of a check nor its `--hang-after` count time in which it was stopped.
#[test]
fn a_check_that_was_stopped_is_no_slower_and_no_medium_hung() {
    const TEST: &str = "a_check_that_was_stopped_is_no_slower_and_no_medium_hung";
    const STOPPED: f64 = 10.0;
    let limits = Limits { read_bytes: Some(8 * MIB), write_bytes: Some(8 * MIB), ..Limits::default() };
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, LimitedCard::new(96 * MIB, limits));
    let place = Place::new();
    let medium = card.path().to_str().unwrap();
    let arguments = ["verify", "--quiet", "--json", "--bytes", "24MiB", "--hang-after", "5s", medium];
    let mut command = card.command(std::path::Path::new(ASSAY), &arguments);
    place.at_home(&mut command);
    let running = Running::start(command);
    wait_for("the first file", || card.path().join(".assay-verify/1.h2w").exists());
    // It writes for three seconds.
    std::thread::sleep(Duration::from_millis(700));
    let worker = running.workers()[0];
    running.signal(Signal::STOP);
    wait_until_stopped(worker, true);
    std::thread::sleep(Duration::from_secs_f64(STOPPED));
    running.signal(Signal::CONT);
    wait_until_stopped(worker, false);
    let done = running.end();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let record: Record = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(record.outcome, Outcome::Completed);
    let found = record.verification.as_ref().unwrap();
    for (name, pass) in [("write", &found.write), ("read", &found.read)] {
        let pass = pass.as_ref().unwrap();
        let parts = pass.speed.iter().map(|part| part.elapsed_ns);
        let longest = parts.chain([pass.elapsed_ns]).max().unwrap() as f64 / 1e9;
        assert!(longest < STOPPED, "{name}: {longest} s");
    }
    let suspended_seconds = record.warnings.iter().find_map(|warning| match warning.finding {
        Finding::Suspended { suspended_ns } => Some(suspended_ns as f64 / 1e9),
        _ => None,
    });
    assert!(
        suspended_seconds.is_some_and(|suspended_seconds| (STOPPED - 1.0..60.0).contains(&suspended_seconds)),
        "{suspended_seconds:?}"
    );
    let elapsed = Duration::from_nanos(record.settings().unwrap().elapsed_ns);
    assert!(elapsed + Duration::from_secs_f64(STOPPED - 1.0) < done.elapsed, "{elapsed:?} of {:?}", done.elapsed);
}

/// fio is not stopped with assay; what it measured meanwhile does not count either.
#[test]
fn a_repeat_of_fio_is_made_again_too() {
    const TEST: &str = "a_repeat_of_fio_is_made_again_too";
    if Command::new("fio").arg("--version").output().is_err() {
        return skip(TEST, &Missing("needs fio".to_owned()));
    }
    let (place, running) = start(&["--engine", "fio"]);
    running.signal(Signal::STOP);
    wait_until_stopped(running.workers()[0], true);
    std::thread::sleep(Duration::from_secs(1));
    running.signal(Signal::CONT);
    running.end().measures();
    let record = place.only_record();
    assert_eq!(record.outcome, Outcome::Completed);
    let measurement = &record.measurements[0];
    assert!(suspended(measurement).is_some_and(|s| s > 0.5), "{:?}", measurement.warnings);
    assert_eq!(measurement.iops.as_ref().unwrap().n, 2);
}

/// Somebody who stops it over and over gets no figure, and is told why; the run ends all the same.
#[test]
fn a_run_that_is_stopped_over_and_over_has_no_figure_and_ends() {
    let (place, running) = start(&[]);
    let id = running.id();
    let on = Arc::new(AtomicBool::new(true));
    let going = Arc::clone(&on);
    let worker = running.workers()[0];
    let stopper = std::thread::spawn(move || {
        while going.load(Ordering::Relaxed) && Process::look(id).is_some_and(|p| p.state != 'Z') {
            send_if_there(id, Signal::STOP);
            send_if_there(worker, Signal::STOP);
            std::thread::sleep(Duration::from_millis(300));
            send_if_there(id, Signal::CONT);
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    let done = running.end();
    on.store(false, Ordering::Relaxed);
    stopper.join().unwrap();
    done.measures();
    let record = place.only_record();
    let measurement = &record.measurements[0];
    assert!(measurement.iops.is_none(), "{:?}", measurement.repeats);
    let why = measurement.warnings.iter().find_map(|w| match &w.finding {
        Finding::FewerRepeats { shortfall, .. } => Some(shortfall),
        _ => None,
    });
    assert_eq!(why, Some(&Shortfall::Suspended));
    place.assert_clean();
}

/// A soak goes on for what it lacks, and says that the medium rested.
#[test]
fn a_soak_that_was_stopped_goes_on_for_what_it_lacks() {
    let place = Place::new();
    let soak = suite("stops", "20s", 1, &[random("r", "write", "8s") + "queue_depth = 4\nanalysis = \"soak\"\n"]);
    place.file("soak.toml", soak.replace("256MiB", "8GiB"));
    let mut running = place.begin("soak.toml", &[]);
    for _ in 0..3 {
        running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
    }
    running.signal(Signal::STOP);
    wait_until_stopped(running.workers()[0], true);
    std::thread::sleep(Duration::from_secs(2));
    running.signal(Signal::CONT);
    running.end().measures();
    let record = place.only_record();
    assert_eq!(record.outcome, Outcome::Completed);
    let soak = &record.measurements[0];
    assert!(soak.warnings.iter().any(|w| matches!(w.finding, Finding::SoakPaused { .. })), "{:?}", soak.warnings);
    assert!(suspended(soak).is_some_and(|s| s > 1.5), "{:?}", soak.warnings);
    let lasted: u64 = soak.repeats.iter().flat_map(|r| &r.samples).map(|s| s.interval_ns).sum();
    assert!((7.0..9.5).contains(&(lasted as f64 / 1e9)), "{lasted}");
    place.assert_clean();
}
