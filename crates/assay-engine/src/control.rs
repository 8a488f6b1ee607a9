//! What other threads tell the measuring ones: to end, and for how long the process was stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;

use crate::sys::monotonic;

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
    use super::*;

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
