//! Processes that work for this one and should not outlive it.

use std::os::unix::process::CommandExt;
use std::process::Command;

pub use rustix::process::Signal;

/// Has `signal`, and SIGINT, which asks it to end, have their default effects in the process that `command` will start.
/// macOS does not tell a process of the death of its parent: where this process is killed, the other goes on.
pub fn end_with_this_process(command: &mut Command, signal: Signal) {
    // SAFETY: between fork and exec the closure makes two calls of signal(2), which is async-signal-safe. It takes numbers,
    // and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            libc::signal(signal.as_raw(), libc::SIG_DFL);
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
}
