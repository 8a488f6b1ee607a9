//! What ends a run from outside, and what is left of it then: no process that it started.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::event::EventKind;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::units::MIB;
use assay_lab::{FaultyCard, Lab, Missing, WriteFault, lab, skip};
use rustix::process::Signal;

use crate::common::family::{assert_gone, family, wait_for};
use crate::common::{Place, Running, random, scratch_directories, send, suite};

/// A sensor that takes for ever, in a process and in one that it leaves in the background.
const SENSOR: &str = "s:W=sleep 100 & sleep 101; echo 1";

/// With a suite that reads for a while.
fn place() -> Place {
    let place = Place::new();
    place.file("long.toml", suite("long", "60s", 2, &[random("r", "read", "2s")]));
    place
}

fn interrupted(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Failed { failure: RunFailure::Interrupted, .. })
}

/// Threat 16: nohup(1) has SIGHUP ignored when it starts a program, which must not undo that.
#[test]
fn nohup_keeps_a_run_going_when_the_terminal_is_closed() {
    let place = place();
    // script(1) and cargo give no terminal to it: it redirects nothing.
    let mut running =
        Running::start(place.shell("exec nohup \"$ASSAY\" run --suite long.toml --events medium 2>nohup.log"));
    running.wait_for_repeat("r", 1);
    running.signal(Signal::HUP);
    for worker in running.workers() {
        send(worker, Signal::HUP);
    }
    running.wait_for_repeat("r", 2);
    running.end().measures();
    assert_eq!(place.only_record().outcome, Outcome::Completed);
    place.assert_clean();
}

/// A shell without job control has SIGINT ignored for what it starts in the background, so that Ctrl-C ends
/// only what is in the foreground. Other signals still end it.
#[test]
fn what_was_started_in_the_background_ignores_ctrl_c_and_obeys_sigterm() {
    let place = place();
    let mut running = Running::start(place.shell("trap '' INT; exec \"$ASSAY\" run --suite long.toml --events medium"));
    running.wait_for_repeat("r", 1);
    running.signal_all(Signal::INT);
    running.wait_for_repeat("r", 2);
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(130));
    assert!(interrupted(&place.only_record()));
    place.assert_clean();
}

/// Ends a run.
type End = fn(&Running);

/// Threats 24 and 25: a signal that nobody can catch leaves neither a sensor's command, nor what that started,
/// nor fio.
#[test]
fn whatever_ends_assay_leaves_no_sensor_command_and_no_fio() {
    const TEST: &str = "whatever_ends_assay_leaves_no_sensor_command_and_no_fio";
    if Command::new("fio").arg("--version").output().is_err() {
        return skip(TEST, &Missing("needs fio".to_owned()));
    }
    let ends: [(&str, End); 6] = [
        ("SIGKILL", |running| running.signal(Signal::KILL)),
        ("SIGKILL of the process that works", |running| send(running.workers()[0], Signal::KILL)),
        ("SIGQUIT", |running| running.signal(Signal::QUIT)),
        ("Ctrl-\\", |running| running.signal_all(Signal::QUIT)),
        ("SIGTERM", |running| running.signal(Signal::TERM)),
        ("SIGHUP", |running| running.signal(Signal::HUP)),
    ];
    for (name, end) in ends {
        let place = place();
        // Longer than the test waits: nothing that was left ends by itself.
        place.file("long.toml", suite("long", "300s", 1, &[random("r", "read", "200s")]));
        let mut command = place.shell(
            "ulimit -c 0; exec \"$ASSAY\" run --no-save --engine fio --suite long.toml --events --sensor \"$SENSOR\" medium",
        );
        command.env("SENSOR", SENSOR);
        let mut running = Running::start(command);
        running.wait_for_repeat("r", 1);
        // Before that fio has nothing open yet, and ends of that.
        running.wait_for(|event| matches!(event, EventKind::Sample { iops, .. } if *iops > 0.0));
        let mut all = Vec::new();
        wait_for("fio and the sensor", || {
            all = family(running.id());
            let count = |name: &str| all.iter().filter(|p| p.name == name).count();
            count("fio") == 1 && count("sleep") == 2
        });
        assert!(all.len() >= 6, "{all:?}");
        end(&running);
        running.wait_for_end();
        eprintln!("{name}: {} processes", all.len());
        assert_gone(&all);
    }
}

/// A second signal ends the command though the medium answers nothing, and leaves no process that can end.
#[test]
fn a_second_ctrl_c_ends_it_at_once_and_leaves_no_process() {
    const TEST: &str = "a_second_ctrl_c_ends_it_at_once_and_leaves_no_process";
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, FaultyCard::new(64 * MIB, WriteFault::Io));
    let place = place();
    let mut command = place.assay(["run", "--suite", "long.toml", "--events", "--sensor", SENSOR]);
    command.arg(card.path());
    let mut running = Running::start(command);
    running.wait_for_repeat("r", 1);
    running.wait_for(|event| matches!(event, EventKind::Sample { .. }));
    let all = family(running.id());
    assert_eq!(all.iter().filter(|p| p.name == "sleep").count(), 2, "{all:?}");
    card.hang();
    running.signal(Signal::INT);
    // More than half a second later it is a second wish.
    std::thread::sleep(Duration::from_millis(700));
    let second = Instant::now();
    running.signal(Signal::INT);
    let done = running.end();
    assert_eq!(done.code, Some(130), "{}", done.stderr);
    // The medium does not answer before the next line.
    assert!(second.elapsed() < Duration::from_secs(30), "took {:?}", second.elapsed());
    // The thread that waits for the medium goes with it.
    card.recover();
    assert_gone(&all);
}

/// Nobody reads the answer any more: the exit code is what it would have been, and the record is kept. It was 0.
#[test]
fn a_closed_pipe_does_not_change_what_the_exit_code_says() {
    for arguments in [&["--json"][..], &[], &["--events"], &["--quiet"]] {
        let place = place();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.assay(["run", "--suite", "long.toml", "medium"]);
        let mut child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        // The command keeps what it hands to its child.
        drop(command);
        wait_for("the test file", || scratch_directories(&place.medium()) == 1);
        send(child.id(), Signal::TERM);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments:?}");
        assert!(interrupted(&place.only_record()), "{arguments:?}");
        place.assert_clean();
    }
}

/// As the kernel ends the process with the most memory where it has none left.
#[test]
fn a_killed_worker_leaves_nothing_on_the_medium_and_its_end_is_told() {
    let place = place();
    let mut running = Running::start(place.assay(["run", "--suite", "long.toml", "--events", "medium"]));
    running.wait_for_repeat("r", 1);
    assert_eq!(scratch_directories(&place.medium()), 1);
    let [worker] = running.workers()[..] else { panic!("{:?}", running.workers()) };
    send(worker, Signal::KILL);
    let (signal, message) = running.end_by_signal();
    assert_eq!(signal, Some(Signal::KILL.as_raw()), "{message}");
    assert!(message.contains("ended by SIGKILL") && message.contains("removed what it left in medium: "), "{message}");
    place.assert_clean();
}
