//! Monotonic time in nanoseconds, and the time of day.

use jiff::{Timestamp, Unit};

use crate::sys::monotonic;

/// The monotonic clock, counted from its own start so that values stay small.
///
/// `CLOCK_MONOTONIC` through the vDSO costs about 20 ns where the time-stamp counter is the
/// kernel's clock source; the loop reads it once per batch.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// A clock that reads zero now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: monotonic() }
    }

    /// When it read zero, by [`monotonic`].
    pub(crate) fn started_ns(&self) -> u64 {
        self.start
    }

    /// Nanoseconds since the start.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        monotonic() - self.start
    }
}

/// Sleeps until the monotonic clock reads `at_ns`, or returns at once where it did. It is late by what the kernel takes to
/// wake a thread, some 50 µs of timer slack included; to wait awake would take the processors from those that begin at the
/// same moment.
pub fn sleep_until(at_ns: u64) {
    loop {
        match at_ns.saturating_sub(monotonic()) {
            0 => return,
            left => std::thread::sleep(std::time::Duration::from_nanos(left)),
        }
    }
}

/// The time of day: RFC 3339, UTC, to the millisecond.
#[must_use]
pub fn wall_clock() -> String {
    let now = Timestamp::now();
    now.round(Unit::Millisecond).unwrap_or(now).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_counts_from_its_own_start() {
        // This one is about as old as the machine runs, which is longer than any test takes.
        let (clock, old) = (Clock::start(), Clock { start: 1 });
        let before = clock.now();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let now = clock.now();
        assert!(now >= before + 5_000_000 && now < old.now() / 2, "{before} {now}");
    }
}
