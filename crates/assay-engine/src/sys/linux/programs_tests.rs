//! Programs that are watched, as processes of Linux.

use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::workload::{Op, Pattern, Workload};

use assay_core::units::nanoseconds;
use rustix::process::{Pid, Signal};

use crate::control::Control;
use crate::peer::{GRACE, watch};
use crate::spec::{RepeatSpec, Trouble};
use crate::sys::{end_with_this_process, lead_a_group};

fn spec() -> RepeatSpec {
    RepeatSpec {
        workload: Workload::new("w", Op::Read, Pattern::Random, 4096),
        target: None,
        seed: 1,
        repeat: 0,
        repeats: 1,
        hang_after: Duration::from_secs(30),
        sample_every: Duration::from_millis(20),
        wait_for: None,
        begin_at_ns: None,
    }
}

/// A shell that starts another process and waits for it; that one tells its number. Started as all that is watched.
fn family() -> (Child, Pid) {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
    lead_a_group(&mut command);
    end_with_this_process(&mut command, Signal::KILL);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    (child, Pid::from_raw(line.trim().parse().unwrap()).unwrap())
}

/// A zombie counts as gone, too.
fn is_gone(process: Pid) -> bool {
    let start = Instant::now();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while alive() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    !alive()
}

#[test]
fn what_takes_too_long_is_killed_with_all_that_it_started() {
    let (mut child, grandchild) = family();
    let watched =
        watch(&mut child, &spec(), Duration::from_millis(100), &Control::default(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(watched.trouble, Some(Trouble::Hung { .. })) && !watched.success);
    assert!(is_gone(grandchild));
}

#[test]
fn a_stop_interrupts_the_whole_group() {
    let (mut child, grandchild) = family();
    let control = Control::default();
    control.stop();
    let watched = watch(&mut child, &spec(), Duration::from_secs(100), &control, &mut |_| ControlFlow::Continue(()));
    assert_eq!((&watched.trouble, watched.success), (&None, true), "it ended as it was told");
    assert!(watched.elapsed_ns < nanoseconds(GRACE), "{watched:?}");
    assert!(is_gone(grandchild), "though a shell lets it ignore the interrupt");
}

#[test]
fn how_a_program_ends_is_told() {
    for (program, success) in [("true", true), ("false", false)] {
        let mut command = Command::new(program);
        lead_a_group(&mut command);
        let mut child = command.spawn().unwrap();
        let watched = watch(&mut child, &spec(), Duration::from_secs(100), &Control::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        assert_eq!((watched.success, watched.trouble), (success, None));
    }
}
