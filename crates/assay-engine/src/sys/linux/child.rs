//! Processes that work for this one and must not outlive it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub use rustix::process::Signal;
use rustix::process::{Pid, getpid, getppid, set_parent_process_death_signal};

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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::time::{Duration, Instant};

    use rustix::process::kill_process;

    use super::*;

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
}
