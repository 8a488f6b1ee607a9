//! What any Unix has.

use std::fs::{File, OpenOptions};
use std::io;
pub use std::os::fd::AsFd as AsOpen;
use std::os::fd::BorrowedFd;
pub use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::time::{ClockId, clock_gettime};

use crate::contract::EngineKind;

/// The engine of this system that keeps several operations in flight by itself; where there is none, what takes its name is not to be had.
pub const ASYNCHRONOUS: EngineKind = EngineKind::Uring;
/// What that engine is made of, or would be, for people.
pub const QUEUE: &str = "io_uring";
/// The calls of the engine that waits for each operation, for people.
pub const CALLS: &str = "pread/pwrite";

// Monotonic time.

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
#[must_use]
pub fn monotonic() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    (t.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(t.tv_nsec as u64)
}

// Files, as any Unix has them.

/// Error number of an operation that failed without one: `EIO`.
pub(crate) const IO_ERROR: i32 = libc::EIO;

/// Has a new file be for this user alone.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// By what one thread reads and writes an open file at any place: `pread` and `pwrite`.
#[derive(Debug)]
pub(crate) struct Channel<'a>(BorrowedFd<'a>);

impl<'a> Channel<'a> {
    pub(crate) fn to_file(file: &'a File, _direct: bool) -> io::Result<Self> {
        Ok(Self(file.as_fd()))
    }

    #[inline]
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pread(self.0, buffer, offset)?)
    }

    #[inline]
    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(self.0, data, offset)?)
    }
}

// Other programs: started, signalled and waited for as groups of processes.

/// Has the process that `command` will start lead a group of its own: Ctrl-C comes to this process alone, and what the
/// other starts is signalled with it.
pub fn lead_a_group(command: &mut Command) {
    command.process_group(0);
}

/// How the program ended, if it did. What it started and left behind is killed before its number is free for others.
pub(crate) fn ended(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let Some(process) = pid(child) else { return child.try_wait() };
    if waitid(WaitId::Pid(process), options)?.is_none() {
        return Ok(None);
    }
    signal(child, Signal::KILL);
    child.wait().map(Some)
}

/// Asks the program, and what it started, to end.
pub(crate) fn interrupt(child: &Child) {
    signal(child, Signal::INT);
}

/// Kills the program and what it started.
pub(crate) fn kill_all(child: &mut Child) {
    signal(child, Signal::KILL);
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

// Who this process is.

/// Whether the user is root, who may lock memory and use raw devices.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
