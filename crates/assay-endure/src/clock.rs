//! The time of day. It only says how old data are; nothing else depends on it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Where seconds since 1970 come from.
pub struct Clock(Box<dyn Fn() -> u64 + Send>);

impl Clock {
    /// A clock that tells what this returns.
    #[must_use]
    pub fn new(now: impl Fn() -> u64 + Send + 'static) -> Self {
        Self(Box::new(now))
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        (self.0)()
    }
}

impl Default for Clock {
    /// The clock of the host; 0 before 1970.
    fn default() -> Self {
        Self::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Clock").finish()
    }
}
