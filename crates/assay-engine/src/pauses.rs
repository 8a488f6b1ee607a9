//! Think time: pauses of a job between its operations.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_core::think::Think;

/// No single sleep is longer, so that a stop is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// When a job pauses, by the operations that it has begun.
pub(crate) struct Pauses {
    /// Number of operations begun before the next pause.
    pub(crate) next_at: u64,
    every: u64,
    pause: Duration,
}

impl Pauses {
    /// Where there is no think time, the next pause never comes.
    pub(crate) fn new(think: Option<Think>) -> Self {
        match think {
            None => Self { next_at: u64::MAX, every: 0, pause: Duration::ZERO },
            Some(think) => {
                let every = u64::from(think.after_operations.max(1));
                Self { next_at: every, every, pause: Duration::from_nanos(think.pause_ns) }
            }
        }
    }

    /// Whether there is any.
    pub(crate) fn some(&self) -> bool {
        self.every > 0
    }

    /// Length of a pause.
    pub(crate) fn pause_ns(&self) -> u64 {
        u64::try_from(self.pause.as_nanos()).unwrap_or(u64::MAX / 4)
    }

    /// Waits, if it is time for that; for no longer where `stop` says so. False where it was not.
    pub(crate) fn take(&mut self, begun: u64, stop: &AtomicBool) -> bool {
        if begun < self.next_at {
            return false;
        }
        self.next_at = begun.saturating_add(self.every);
        let mut left = self.pause;
        while !left.is_zero() && !stop.load(Ordering::Relaxed) {
            let sleep = left.min(LONGEST_SLEEP);
            std::thread::sleep(sleep);
            left -= sleep;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_pause_comes_after_so_many_operations_and_ends_with_a_stop() {
        let stop = AtomicBool::new(false);
        let mut pauses = Pauses::new(Some(Think { pause_ns: 60_000_000, after_operations: 3 }));
        let begun = Instant::now();
        assert!(!pauses.take(2, &stop) && pauses.take(3, &stop) && !pauses.take(5, &stop));
        assert!(begun.elapsed() >= Duration::from_millis(60));
        stop.store(true, Ordering::Relaxed);
        let mut long = Pauses::new(Some(Think { pause_ns: 600_000_000_000, after_operations: 3 }));
        let begun = Instant::now();
        assert!(long.take(3, &stop) && begun.elapsed() < Duration::from_secs(300));
        assert!(!Pauses::new(None).take(u64::MAX - 1, &stop));
    }
}
