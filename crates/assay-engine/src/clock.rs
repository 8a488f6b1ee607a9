//! Monotonic time in nanoseconds, the time of day, and waiting for a medium that may never answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;
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

/// How often a wait looks whether the time is over.
const LOOK: Duration = Duration::from_millis(50);

/// A time limit, looked at several times a second. It counts only time in which this process ran: a stop (Ctrl-Z,
/// a frozen container) says nothing about the medium and counts as [`Timeout::MOST`].
#[derive(Debug, Clone)]
pub struct Timeout {
    limit: Duration,
    waited: Duration,
    last: Instant,
}

impl Timeout {
    /// A longer time between two looks counts as this.
    pub const MOST: Duration = Duration::from_millis(500);

    /// Begins to wait.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self { limit, waited: Duration::ZERO, last: Instant::now() }
    }

    /// Begins anew: something was completed.
    pub fn restart(&mut self) {
        *self = Self::new(self.limit);
    }

    /// How long it has waited.
    pub fn waited(&mut self) -> Duration {
        let now = Instant::now();
        self.count(now - self.last);
        self.last = now;
        self.waited
    }

    /// Whether it has waited for longer than the limit.
    pub fn expired(&mut self) -> bool {
        self.waited() > self.limit
    }

    fn count(&mut self, passed: Duration) {
        self.waited += passed.min(Self::MOST);
    }
}

/// The answer; `None` where none came within `limit`, or the sender is gone.
pub fn answer_within<T>(answer: &Receiver<T>, limit: Duration) -> Option<T> {
    let mut timeout = Timeout::new(limit);
    loop {
        match answer.recv_timeout(LOOK.min(limit)) {
            Ok(said) => return Some(said),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if timeout.expired() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

// What other threads tell the measuring ones: to end, and for how long the process was stopped.

/// Lets another thread end the run, and tell of time in which the process was stopped (SIGSTOP, Ctrl-Z).
#[derive(Debug, Clone, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    suspended_ns: Arc<AtomicU64>,
    /// When a thread last looked for stops, by the monotonic clock; 0 where none does.
    beat_ns: Arc<AtomicU64>,
}

/// A moment from which on time is counted, see [`Control::elapsed`].
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    at: Instant,
    suspended: Duration,
}

impl Control {
    /// How often the thread that looks for stops calls [`Self::beat`].
    pub const BEAT: Duration = Duration::from_millis(100);
    /// A beat that is later than this is waited for: it may bring news of a stop.
    const LATE: Duration = Duration::from_millis(250);
    /// But not for longer than this, a host may be that busy.
    const LONGEST_WAIT: Duration = Duration::from_secs(1);

    /// Asks for the end; the repeat under way drains what is in flight and returns.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag itself, for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Tells for how long the process was stopped since the last call, which is zero nearly always.
    pub fn beat(&self, suspended: Duration) {
        self.suspended_ns.fetch_add(nanoseconds(suspended), Ordering::Relaxed);
        self.beat_ns.store(monotonic(), Ordering::Release);
    }

    /// For how long the process was stopped so far. Zero where no thread calls [`Self::beat`].
    #[must_use]
    pub fn suspended(&self) -> Duration {
        let asked = monotonic();
        // A process that goes on does so with all its threads at once: this one may be here before the one that
        // looks for stops.
        let late = Self::LATE.as_nanos() as u64;
        let begun = Instant::now();
        loop {
            let beat = self.beat_ns.load(Ordering::Acquire);
            if beat == 0 || asked.saturating_sub(beat) < late || begun.elapsed() > Self::LONGEST_WAIT {
                return Duration::from_nanos(self.suspended_ns.load(Ordering::Relaxed));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Moment {
        Moment { at: Instant::now(), suspended: self.suspended() }
    }

    /// Time since `moment` without that for which the process was stopped.
    #[must_use]
    pub fn elapsed(&self, moment: &Moment) -> Duration {
        let suspended = self.suspended().saturating_sub(moment.suspended);
        moment.at.elapsed().saturating_sub(suspended)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};
    use std::time::Instant;

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

    /// On 32 bits futex(2) reads other times than those of the C library (packaging/futex.c).
    #[test]
    fn a_wait_with_a_limit_is_over_when_the_limit_is() {
        let (limit, mutex) = (Duration::from_millis(50), Mutex::new(()));
        let begun = Instant::now();
        let (_guard, waited) = Condvar::new().wait_timeout(mutex.lock().unwrap(), limit).unwrap();
        assert!(!waited.timed_out() || begun.elapsed() >= limit, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_stop_of_the_process_is_no_hang_of_the_medium() {
        let mut timeout = Timeout::new(Duration::from_secs(30));
        timeout.count(Duration::from_secs(3600));
        assert!(!timeout.expired(), "{timeout:?}");
        for _ in 0..60 {
            timeout.count(Duration::from_secs(1));
        }
        assert!(timeout.expired(), "{timeout:?}");
        timeout.restart();
        assert!(!timeout.expired());
    }

    #[test]
    fn an_answer_is_waited_for_as_long_as_was_said() {
        let (sender, answer) = std::sync::mpsc::channel();
        let begun = Instant::now();
        assert_eq!(answer_within::<i32>(&answer, Duration::from_millis(120)), None);
        assert!(begun.elapsed() >= Duration::from_millis(120));
        sender.send(7).unwrap();
        assert_eq!(answer_within(&answer, Duration::from_secs(60)), Some(7));
        drop(sender);
        assert_eq!(answer_within(&answer, Duration::from_secs(60)), None);
    }

    #[test]
    fn stopped_time_is_not_counted() {
        let control = Control::default();
        assert_eq!(control.suspended(), Duration::ZERO, "no thread looks for stops");
        let start = control.now();
        std::thread::sleep(Duration::from_millis(60));
        control.clone().beat(Duration::from_millis(50));
        assert_eq!(control.suspended(), Duration::from_millis(50));
        let real = start.at.elapsed();
        let elapsed = control.elapsed(&start);
        assert!(elapsed >= Duration::from_millis(10) && elapsed <= start.at.elapsed() - Duration::from_millis(50));
        assert!(real >= elapsed);
        let later = control.now();
        std::thread::sleep(Duration::from_millis(10));
        assert!(control.elapsed(&later) >= Duration::from_millis(10), "what was before is not taken off again");
    }

    #[test]
    fn a_question_right_after_a_stop_waits_for_its_length() {
        let control = Control::default();
        control.beat(Duration::ZERO);
        std::thread::sleep(Control::LATE);
        let other = control.clone();
        let teller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            other.beat(Duration::from_secs(7));
        });
        assert_eq!(control.suspended(), Duration::from_secs(7));
        teller.join().unwrap();
    }
}
