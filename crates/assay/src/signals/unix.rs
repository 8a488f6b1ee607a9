//! Signals, and the process in which the work of a command is done.
//!
//! Ctrl-C, SIGTERM and SIGHUP end the run in good order; a second one ends it at once. One that was ignored
//! when the program was started stays ignored: nohup(1) means SIGHUP, a shell without job control means SIGINT
//! for what it starts in the background.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_engine::Control;
use assay_runner::RunError;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process, set_parent_process_death_signal,
    waitid, waitpid,
};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::ending::Failure;
use crate::output;

/// One wish to stop often comes as several signals: `timeout` sends its own to the process and to
/// its group, and when a terminal is closed both shell and kernel send SIGHUP. Only a signal that
/// comes later than this is a second wish.
const ONE_WISH: Duration = Duration::from_millis(500);

/// What a second wish leaves undone, and how that is mended.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Says what stays undone if a second signal ends the command at once; `None` where nothing does.
pub(crate) fn last_words(words: Option<String>) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// A stop shorter than this is not told from a busy host.
const NOTICEABLE: Duration = Duration::from_millis(50);
/// A continued process has noticed it by then.
const KNOWN: Duration = Duration::from_millis(20);

/// Makes the signals stop `control`, and tells it of time in which the process was stopped.
pub(crate) fn stop_on_signals(control: &Control) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::environment(format!("signals cannot be handled: {e}"));
    let mut signals = Signals::new(wishes()).map_err(fail)?;
    let (control, watched) = (control.clone(), control.clone());
    let wait = move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            control.stop();
            if first.get_or_insert_with(Instant::now).elapsed() > ONE_WISH {
                let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
                words.iter().for_each(|words| output::tell(words));
                leave(Exit::Interrupted);
            }
        }
    };
    let begin = |name: &str, work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).map_err(RunError::NoThread)
    };
    begin("signals", Box::new(wait))?;
    let continued = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGCONT, Arc::clone(&continued)).map_err(fail)?;
    begin("stops", Box::new(move || watch_for_stops(&watched, &continued)))?;
    Ok(())
}

/// A stop cannot be caught (SIGSTOP), and its length is not reported. But no process leaves one without
/// SIGCONT, and a thread that wakes up ten times a second misses the time.
fn watch_for_stops(control: &Control, continued: &AtomicBool) {
    let mut last = Instant::now();
    loop {
        std::thread::sleep(Control::BEAT);
        let missed = last.elapsed().saturating_sub(Control::BEAT);
        last = Instant::now();
        let limit = last + if missed < NOTICEABLE { Duration::ZERO } else { KNOWN };
        while !continued.load(Ordering::Relaxed) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        let stopped = continued.swap(false, Ordering::Relaxed) && missed >= NOTICEABLE;
        control.beat(if stopped { missed } else { Duration::ZERO });
        stop_with_parent();
    }
}

/// The termination signals, without those that were ignored when the program was started. Called before any of them is
/// handled.
fn wishes() -> Vec<i32> {
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal)).collect()
}

fn ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` is a C structure of numbers, for which zeros are a value.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action sigaction(2) only writes the present one to `now`, which is ours alone.
    let read = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    read == 0 && now.sa_sigaction == libc::SIG_IGN
}

// The work of a command in a child process, so that the command ends even where the work cannot.
//
// A thread that waits for a hung medium cannot be ended, not even by SIGKILL, and its process is
// not gone before it is. So the process that the user started only waits: it passes signals on,
// and ends with the exit code that the working process tells it, whatever became of that one. Where
// that one was killed, as by the kernel for want of memory, or failed by a fault of assay, the waiting
// process removes what it left.
//
// Where one of the two is stopped the other stops too, so that the sender of the signal and the shell see what
// they expect. SIGSTOP cannot be caught: each looks whether the other is stopped. SIGCONT to the waiting process
// continues both.

/// A process that can end has ended after this. It is reaped, so that its CPU time is included in ours.
const REAPING: Duration = Duration::from_secs(1);

/// After SIGCONT the working process is continued for this long: it may be about to stop as it saw this one
/// stopped.
const CONTINUING: Duration = Duration::from_secs(1);
/// Between two looks at whether a process is stopped.
const LOOK: Duration = Duration::from_millis(20);
/// What a killed process left is removed within this time, or left: its medium may hang.
const REMOVING: Duration = Duration::from_secs(10);
/// After this many looks that found the working process stopped, it was not just continued together with this one.
const LOOKS: u32 = 5;

/// Where the working process tells its exit code.
static TELL: OnceLock<PipeWriter> = OnceLock::new();
/// The process that waits for this one.
static PARENT: OnceLock<Pid> = OnceLock::new();

/// Does `work` in a process of its own and ends with its exit code. Where no process can be made
/// the work is done in this one. To be called before there is a second thread. `left` does what there is to do about
/// what a killed process left, and says in lines what it did.
pub(crate) fn in_child(
    work: impl FnOnce() -> Result<Exit, Failure>,
    left: impl FnOnce() -> Vec<String> + Send + 'static,
) -> Result<Exit, Failure> {
    let (Ok((listen, tell)), Ok((mut begun, begin))) = (pipe(), pipe()) else { return work() };
    let parent = getpid();
    // SAFETY: this process has one thread (`main` comes here without starting another), so that the copy of
    // its memory holds no lock that is never released and nothing half written. Both processes own their
    // copies. They share only open files; each closes the end of the pipe that is not its own.
    match unsafe { libc::fork() } {
        0 => {
            drop((listen, begin));
            let _ = TELL.set(tell);
            // A signal that kills the waiting process is meant for this one.
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            if getppid() != Some(parent) {
                leave(Exit::Interrupted);
            }
            let _ = PARENT.set(parent);
            if begun.read_exact(&mut [0]).is_err() {
                // The waiting process has said why.
                leave(Exit::Environment);
            }
            leave(match work() {
                Ok(exit) => exit,
                Err(failure) => output::tell_failure(&failure),
            })
        }
        child => match Pid::from_raw(child) {
            Some(child) if child.as_raw_pid() > 0 => {
                drop((tell, begun));
                if let Err(error) = watch(child) {
                    // What has not begun ends by that.
                    drop(begin);
                    let _ = waitpid(Some(child), WaitOptions::empty());
                    return Err(RunError::NoThread(error).into());
                }
                wait(child, listen, begin, left)
            }
            _ => work(),
        },
    }
}

/// Ends the working process at once, whatever its threads do.
fn leave(exit: Exit) -> ! {
    // A reader of our output need not wait for a thread that hangs.
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

/// Stops the working process where the one is stopped that waits for it. Returns when it was continued.
fn stop_with_parent() {
    if PARENT.get().is_some_and(|parent| is_stopped(*parent)) {
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// Whether a process is stopped: the third field of `/proc/PID/stat`, proc_pid_stat(5).
fn is_stopped(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

/// Continues the working process after this one was.
fn continue_child(child: Pid) {
    let begun = Instant::now();
    while begun.elapsed() < CONTINUING {
        if is_stopped(child) {
            let _ = kill_process(child, Signal::CONT);
        }
        std::thread::sleep(LOOK);
    }
}

/// Stops this process whenever the working one was stopped and this one not.
fn stop_with(child: Pid) {
    while let Ok(Some(_)) = waitid(WaitId::Pid(child), WaitIdOptions::STOPPED) {
        let stays = (0..LOOKS).all(|_| {
            std::thread::sleep(LOOK);
            is_stopped(child)
        });
        if stays {
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}

/// Passes signals and stops on to the working process, and stops of it to this one.
///
/// # Errors
/// Where the system makes no thread for it.
fn watch(child: Pid) -> std::io::Result<()> {
    if let Ok(mut signals) = Signals::new(wishes().into_iter().chain([SIGCONT])) {
        Builder::new().spawn(move || {
            for signal in signals.forever() {
                let signal = match signal {
                    SIGCONT => {
                        // Other signals wait for a moment where no thread can be made.
                        if Builder::new().spawn(move || continue_child(child)).is_err() {
                            continue_child(child);
                        }
                        continue;
                    }
                    SIGINT => Signal::INT,
                    SIGHUP => Signal::HUP,
                    _ => Signal::TERM,
                };
                let _ = kill_process(child, signal);
            }
        })?;
    }
    Builder::new().spawn(move || stop_with(child)).map(drop)
}

/// Lets the working process begin, waits for it, and ends as it does.
fn wait(
    child: Pid,
    mut listen: PipeReader,
    mut begin: PipeWriter,
    left: impl FnOnce() -> Vec<String> + Send + 'static,
) -> ! {
    // One that is gone already is found out below.
    let _ = begin.write_all(&[1]);
    let mut code = [0];
    let has_code = loop {
        match listen.read(&mut code) {
            Ok(bytes) => break bytes == 1,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break false,
        }
    };
    if !has_code {
        // It was killed, or it failed without an exit code.
        end_like(child, left);
    }
    let limit = Instant::now() + REAPING;
    while Instant::now() < limit && matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None)) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::process::exit(i32::from(code[0]))
}

/// Ends as a process did that told no exit code.
fn end_like(child: Pid, left: impl FnOnce() -> Vec<String> + Send + 'static) -> ! {
    let status = loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other.ok().flatten().map(|(_, status)| ExitStatus::from_raw(status.as_raw())),
        }
    };
    if let Some(signal) = status.and_then(|s| s.signal()) {
        match signal {
            // It had not come to listen.
            SIGINT | SIGTERM | SIGHUP => output::tell("interrupted"),
            _ => output::tell(&format!("assay: the working process ended by {}", cause(signal))),
        }
        let (tell, received) = channel();
        let removing = Builder::new().spawn(move || tell.send(left()));
        if removing.is_ok()
            && let Ok(lines) = received.recv_timeout(REMOVING)
        {
            lines.iter().for_each(|line| output::tell(line));
        }
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(getpid(), signal);
        }
    }
    std::process::exit(status.and_then(|s| s.code()).unwrap_or(i32::from(Exit::Interrupted as u8)))
}

/// What a signal that ended a process says of the reason.
fn cause(signal: i32) -> String {
    match signal {
        libc::SIGKILL => "SIGKILL: the kernel may have run out of memory (dmesg tells), or somebody sent it".to_owned(),
        libc::SIGILL | libc::SIGTRAP | libc::SIGABRT | libc::SIGBUS | libc::SIGFPE | libc::SIGSEGV => {
            format!("signal {signal}: a fault of assay; please report it")
        }
        other => format!("signal {other}"),
    }
}
