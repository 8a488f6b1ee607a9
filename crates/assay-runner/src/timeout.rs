//! Waiting for a medium that may never answer.
//!
//! A system call that waits for a hung medium cannot be broken off, not even by SIGKILL. So what
//! may wait so is done by a thread that owns all it uses and can be left behind.

use std::io;
use std::sync::mpsc::channel;
use std::time::Duration;

use assay_engine::answer_within;

/// Without `--hang-after`: nothing completed for this long, and the medium hangs.
pub const HANG_AFTER: Duration = Duration::from_secs(30);
/// Where an operation is expected to take more than a second, or many make one step, it may take
/// this many times as long: 90 s.
pub(crate) const SLOW: u32 = 3;
/// A sync may have a whole cache to write: this many times as long, 120 s.
pub(crate) const SYNC: u32 = 4;
/// Removing a file from a medium that hung already is tried for no longer than this.
pub(crate) const HUNG_ALREADY: Duration = Duration::from_secs(5);
/// After a stop the removal of the file is awaited no longer than this.
pub(crate) const AFTER_STOP: Duration = Duration::from_secs(10);
/// What the kernel knows without asking the medium takes no longer than this.
pub(crate) const KNOWN: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It takes longer than the limit, and goes on alone.
    Late,
    /// Not started: the system made no thread.
    NoThread(io::Error),
}

/// What `work` came to.
///
/// # Errors
/// Where it took longer than `limit`, or there is no thread to do it; `work` was dropped then.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoAnswer> {
    let (sender, answer) = channel();
    let begun = std::thread::Builder::new().spawn(move || {
        let _ = sender.send(work());
    });
    begun.map_err(NoAnswer::NoThread)?;
    answer_within(&answer, limit).ok_or(NoAnswer::Late)
}

/// That the system made no thread, in words.
pub(crate) fn no_thread(error: &io::Error) -> String {
    format!("no thread could be made: {error}")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_takes_too_long_is_left_behind() {
        let (hold, held) = channel::<()>();
        let start = Instant::now();
        assert!(matches!(within(Duration::from_millis(50), move || held.recv().is_ok()), Err(NoAnswer::Late)));
        assert!(start.elapsed() < Duration::from_secs(20));
        drop(hold);
        assert!(matches!(within(Duration::from_secs(60), || 7), Ok(7)));
    }
}
