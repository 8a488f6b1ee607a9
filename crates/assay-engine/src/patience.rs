//! Waiting for a medium that may never answer.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often whoever waits looks whether it has waited long enough.
const LOOK: Duration = Duration::from_millis(50);

/// How long something may take. Looked at several times a second, it counts only time in which this process
/// ran: a stop (Ctrl-Z, a frozen container) says nothing of the medium and counts as [`Patience::MOST`].
#[derive(Debug, Clone)]
pub struct Patience {
    limit: Duration,
    waited: Duration,
    last: Instant,
}

impl Patience {
    /// Two looks that are further apart count as this.
    pub const MOST: Duration = Duration::from_millis(500);

    /// Begins to wait.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self { limit, waited: Duration::ZERO, last: Instant::now() }
    }

    /// Begins anew: something came.
    pub fn renew(&mut self) {
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
    pub fn spent(&mut self) -> bool {
        self.waited() > self.limit
    }

    fn count(&mut self, passed: Duration) {
        self.waited += passed.min(Self::MOST);
    }
}

/// Waits for an answer; `None` where none came within `limit`, or nobody is left to answer.
pub fn answer_within<T>(answer: &Receiver<T>, limit: Duration) -> Option<T> {
    let mut patience = Patience::new(limit);
    loop {
        match answer.recv_timeout(LOOK.min(limit)) {
            Ok(said) => return Some(said),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if patience.spent() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_of_the_process_is_no_hang_of_the_medium() {
        let mut patience = Patience::new(Duration::from_secs(30));
        patience.count(Duration::from_secs(3600));
        assert!(!patience.spent(), "{patience:?}");
        for _ in 0..60 {
            patience.count(Duration::from_secs(1));
        }
        assert!(patience.spent(), "{patience:?}");
        patience.renew();
        assert!(!patience.spent());
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
}
