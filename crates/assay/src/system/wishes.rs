//! Signals by which a user asks for the end.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The termination signals, without those that were ignored when the program was started. Called before any of them is
/// handled.
pub(crate) fn wishes() -> Vec<i32> {
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal)).collect()
}

fn ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` is a C structure of numbers, for which zeros are a value.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action sigaction(2) only writes the present one to `now`, which is ours alone.
    let read = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    read == 0 && now.sa_sigaction == libc::SIG_IGN
}
