//! Other programs that run a repeat in place of an engine: watched, and ended where they do not end by themselves.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::control::Control;
use crate::sampler::{LiveSample, OnSample};
use crate::spec::{RepeatSpec, Trouble};
use crate::timeout::Timeout;
use crate::traffic::Traffic;

/// More than this is no result.
const MOST_PRINTED: u64 = 64 << 20;
/// How often the process is looked at.
const TICK: Duration = Duration::from_millis(20);
/// After an interrupt a program drains and prints; then it is killed.
const GRACE: Duration = Duration::from_secs(10);
/// A killed process that the kernel does not let go is left behind.
const LETTING_GO: Duration = Duration::from_secs(2);

/// A file that is nowhere, for what a program prints: whatever kills this process, nothing is left.
///
/// # Errors
/// Where no more files can be open.
pub fn memory(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// What a program printed into it.
///
/// # Errors
/// The system's.
pub fn read_back(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MOST_PRINTED).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What became of a program.
#[derive(Debug)]
pub struct Watched {
    /// What it moved, as the kernel counts it.
    pub samples: Vec<LiveSample>,
    /// How long it ran, in nanoseconds.
    pub elapsed_ns: u64,
    /// It ended by itself and well, or was interrupted, which programs end in their own ways after.
    pub success: bool,
    /// It did not end in time, or could not be waited for.
    pub trouble: Option<Trouble>,
}

/// Waits for a program that leads a process group of its own. The group is interrupted where the end is asked for, by
/// `control` or by `on_sample`, and killed where it does not come, or not within `limit`.
pub fn watch(
    child: &mut Child,
    spec: &RepeatSpec,
    limit: Duration,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> Watched {
    let start = Instant::now();
    let mut timeout = Timeout::new(limit);
    let (mut interrupted, mut enough) = (false, false);
    let mut traffic = Traffic::new(child.id(), spec.workload.block_bytes, spec.sample_every);
    let mut trouble = None;
    let status = loop {
        match ended(child) {
            Ok(Some(status)) => break Some(status),
            Ok(None) => {}
            Err(error) => {
                trouble = Some(Trouble::Setup(format!("waiting for a program: {error}")));
                break None;
            }
        }
        if (control.stopped() || enough) && !interrupted {
            interrupted = true;
            timeout = Timeout::new(GRACE);
            signal(child, Signal::INT);
        }
        if timeout.expired() {
            if !interrupted {
                trouble = Some(Trouble::Hung { after: spec.hang_after });
            }
            kill(child);
            break None;
        }
        enough |= traffic.tick(on_sample).is_break();
        std::thread::sleep(TICK);
    };
    Watched {
        samples: traffic.finish(),
        elapsed_ns: nanoseconds(start.elapsed()),
        // An interrupted fio ends with 128.
        success: status.is_some_and(|s| interrupted || s.success()),
        trouble,
    }
}

/// How the program ended, if it did. What it started and left behind is killed before its number is free for others.
fn ended(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let Some(process) = pid(child) else { return child.try_wait() };
    if waitid(WaitId::Pid(process), options)?.is_none() {
        return Ok(None);
    }
    signal(child, Signal::KILL);
    child.wait().map(Some)
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Sends a signal to the group that the program leads; it was not waited for yet, so that its number is its own.
fn signal(child: &Child, signal: Signal) {
    if let Some(group) = pid(child) {
        let _ = kill_process_group(group, signal);
    }
}

fn kill(child: &mut Child) {
    signal(child, Signal::KILL);
    let limit = Instant::now() + LETTING_GO;
    while Instant::now() < limit && matches!(ended(child), Ok(None)) {
        std::thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;
    use crate::child::end_with_this_process;

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
        command.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped()).process_group(0);
        end_with_this_process(&mut command, Signal::KILL);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        (child, Pid::from_raw(line.trim().parse().unwrap()).unwrap())
    }

    /// A process that nobody waited for yet is there no more either.
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
        let watched = watch(&mut child, &spec(), Duration::from_millis(100), &Control::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        assert!(matches!(watched.trouble, Some(Trouble::Hung { .. })) && !watched.success);
        assert!(is_gone(grandchild));
    }

    #[test]
    fn a_stop_interrupts_the_whole_group() {
        let (mut child, grandchild) = family();
        let control = Control::default();
        control.stop();
        let watched =
            watch(&mut child, &spec(), Duration::from_secs(100), &control, &mut |_| ControlFlow::Continue(()));
        assert_eq!((&watched.trouble, watched.success), (&None, true), "it ended as it was told");
        assert!(watched.elapsed_ns < nanoseconds(GRACE), "{watched:?}");
        assert!(is_gone(grandchild), "though a shell lets it ignore the interrupt");
    }

    #[test]
    fn how_a_program_ends_is_told() {
        for (program, success) in [("true", true), ("false", false)] {
            let mut child = Command::new(program).process_group(0).spawn().unwrap();
            let watched = watch(&mut child, &spec(), Duration::from_secs(100), &Control::default(), &mut |_| {
                ControlFlow::Continue(())
            });
            assert_eq!((watched.success, watched.trouble), (success, None));
        }
    }
}
