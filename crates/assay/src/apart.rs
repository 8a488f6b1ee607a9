//! A run in a process of its own, so that the command ends even where the run cannot.
//!
//! A thread that waits for a hung medium cannot be ended, not even by SIGKILL, and its process is
//! not gone before it is. So the process that the user started only waits: it passes signals on,
//! and ends with the exit code that the working process tells it, whatever became of that one.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_parent_process_death_signal, waitpid,
};
use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// A process that can end has ended after this; its times then count for whoever measures ours.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Where the working process tells its exit code.
static TELL: OnceLock<PipeWriter> = OnceLock::new();

/// Does `work` in a process of its own and ends with its exit code. Where no process can be made
/// the work is done in this one. To be called before there is a second thread.
pub(crate) fn apart(work: impl FnOnce() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    let Ok((listen, tell)) = pipe() else { return work() };
    let parent = getpid();
    // SAFETY: this process has one thread (`main` comes here without starting another), so that the copy of
    // its memory holds no lock that nobody releases and nothing half written. Both processes own their
    // copies; they share only open files, of which each closes the end of the pipe that is not its own.
    match unsafe { libc::fork() } {
        0 => {
            drop(listen);
            let _ = TELL.set(tell);
            // Whoever kills the waiting process means this one.
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            if getppid() != Some(parent) {
                leave(Exit::Interrupted);
            }
            leave(match work() {
                Ok(exit) => exit,
                Err(failure) => failure.tell(),
            })
        }
        child => match Pid::from_raw(child) {
            Some(child) if child.as_raw_pid() > 0 => {
                drop(tell);
                wait(child, listen)
            }
            _ => work(),
        },
    }
}

/// Ends the working process at once, whatever its threads do.
pub(crate) fn leave(exit: Exit) -> ! {
    // Whoever reads our output to its end need not wait for a thread that hangs.
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    if let Some(mut tell) = TELL.get() {
        let _ = tell.write_all(&[exit as u8]);
    }
    signal_hook::low_level::exit(i32::from(exit as u8))
}

/// Waits for the working process, and ends as it does.
fn wait(child: Pid, mut listen: PipeReader) -> ! {
    if let Ok(mut signals) = Signals::new(crate::signals::wishes()) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let signal = match signal {
                    SIGINT => Signal::INT,
                    SIGHUP => Signal::HUP,
                    _ => Signal::TERM,
                };
                let _ = kill_process(child, signal);
            }
        });
    }
    let mut code = [0];
    let told = loop {
        match listen.read(&mut code) {
            Ok(bytes) => break bytes == 1,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break false,
        }
    };
    if !told {
        // It was killed, or it failed in a way that nobody foresaw.
        end_like(child);
    }
    let limit = Instant::now() + LETTING_GO;
    while Instant::now() < limit && matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None)) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::process::exit(i32::from(code[0]))
}

fn end_like(child: Pid) -> ! {
    let status = loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other.ok().flatten().map(|(_, status)| ExitStatus::from_raw(status.as_raw())),
        }
    };
    if let Some(signal) = status.and_then(|s| s.signal()).and_then(Signal::from_named_raw) {
        let _ = kill_process(getpid(), signal);
    }
    std::process::exit(status.and_then(|s| s.code()).unwrap_or(i32::from(Exit::Interrupted as u8)))
}
