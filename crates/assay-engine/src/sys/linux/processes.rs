//! Other processes: programs that run in place of an engine, work for this one and must not outlive it, and what they move.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::MemfdFlags;
pub use rustix::process::Signal;
use rustix::process::{Pid, getpid, getppid, set_parent_process_death_signal};

pub use super::super::unix::lead_a_group;
pub(crate) use super::super::unix::{ended, interrupt, kill_all};

/// Whether fio and other tools are run in place of an engine here.
pub const RUNS_TOOLS: bool = true;

/// A file that is nowhere.
pub(crate) fn nameless_file(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}

// Processes that work for this one and must not outlive it.

/// Has the kernel send `signal` to the process that `command` will start as soon as this one ends, however it
/// ends; where this process ended before the kernel knew, nothing is started. `signal` and SIGINT, which asks it to end,
/// have their default effects there, also where this process was started with them ignored, as a shell without job
/// control starts what it puts into the background.
///
/// prctl(2), `PR_SET_PDEATHSIG`: the signal is sent when the *thread* ends that started the process. So that
/// thread has to wait for the process, or to live as long as this process. It is not handed down: what the
/// process starts itself has to be ended by it.
pub fn end_with_this_process(command: &mut Command, signal: Signal) {
    end_with(command, signal, getpid());
}

fn end_with(command: &mut Command, signal: Signal, parent: Pid) {
    // SAFETY: between fork and exec the closure makes four system calls, all of them async-signal-safe
    // (signal(2), prctl(2), getppid(2)). It takes numbers, allocates nothing also where it fails, and touches no
    // lock that another thread may hold.
    unsafe {
        command.pre_exec(move || {
            libc::signal(signal.as_raw(), libc::SIG_DFL);
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            set_parent_process_death_signal(Some(signal))?;
            if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
        });
    }
}

// What another program moves, as the kernel counts it: `read_bytes` and `write_bytes` of `/proc/PID/io`
// (Documentation/filesystems/proc.rst), which it hands to the block layer.

/// The counts of one process.
#[derive(Debug)]
pub(crate) struct Meter {
    file: String,
}

impl Meter {
    pub(crate) fn of_process(process: u32) -> Self {
        Self { file: format!("/proc/{process}/io") }
    }

    /// Bytes handed to the block layer so far, read and written; `None` once the process is gone.
    pub(crate) fn read(&self) -> Option<u64> {
        sum(&std::fs::read_to_string(&self.file).ok()?)
    }
}

fn sum(text: &str) -> Option<u64> {
    let value = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok())
    };
    Some(value("read_bytes")?.saturating_add(value("write_bytes")?))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use assay_core::units::nanoseconds;
    use assay_core::workload::{Op, Pattern, Workload};
    use rustix::process::kill_process;

    use super::*;
    use crate::control::Control;
    use crate::peer::{GRACE, watch};
    use crate::threads::{RepeatSpec, Trouble};

    /// Threat 25: a process whose parent ended between fork and prctl(2) would never get the signal.
    #[test]
    fn nothing_is_started_for_a_parent_that_is_gone() {
        let mut command = Command::new("true");
        end_with(&mut command, Signal::KILL, Pid::INIT);
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::ESRCH));
        let mut command = Command::new("true");
        end_with_this_process(&mut command, Signal::KILL);
        assert!(command.status().unwrap().success());
    }

    /// `assay run … &` in a script: what it interrupted did not end, and was killed ten seconds later.
    #[test]
    fn it_can_be_interrupted_though_its_parent_ignores_interrupts() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        // SAFETY: signal(2) is async-signal-safe, and the closure does nothing else.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                Ok(())
            });
        }
        end_with_this_process(&mut command, Signal::KILL);
        let mut child = command.spawn().unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        let ended = loop {
            match child.try_wait().unwrap() {
                None if Instant::now() < limit => std::thread::sleep(Duration::from_millis(5)),
                ended => break ended,
            }
        };
        child.kill().unwrap();
        assert_eq!(ended.and_then(|status| status.signal()), Some(libc::SIGINT));
    }

    #[test]
    fn it_ends_when_the_thread_ends_that_started_it() {
        let child = std::thread::spawn(|| {
            let mut command = Command::new("sleep");
            end_with_this_process(command.arg("1000"), Signal::KILL);
            command.spawn().unwrap()
        });
        let mut child = child.join().unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn what_went_to_the_block_layer_is_counted_and_nothing_else() {
        assert_eq!(
            sum("rchar: 7\nwchar: 9\nread_bytes: 1000\nwrite_bytes: 4096\ncancelled_write_bytes: 3\n"),
            Some(5096)
        );
        assert_eq!(sum("rchar: 7\n"), None);
        assert_eq!(Meter::of_process(u32::MAX).read(), None);
        assert!(Meter::of_process(std::process::id()).read().is_some());
    }

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
        assert_eq!((&watched.trouble, watched.success), (&None, true), "it ended by itself, with success");
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
}
