//! The clock of a node, which its coordinator knows to a bound.

use assay_engine::monotonic;

/// The monotonic clock of a node, counted from an instant of its own; off by what a test says.
#[derive(Debug, Clone, Copy)]
pub struct NodeClock {
    origin: u64,
    ahead_ns: i64,
    drift_ppm: f64,
}

impl Default for NodeClock {
    fn default() -> Self {
        Self::off(0, 0.0)
    }
}

impl NodeClock {
    /// A clock that is `ahead_ns` ahead now, and runs faster by `drift_ppm` parts per million: for tests.
    #[must_use]
    pub fn off(ahead_ns: i64, drift_ppm: f64) -> Self {
        Self { origin: monotonic(), ahead_ns, drift_ppm }
    }

    /// The reading of the clock.
    pub(crate) fn now(&self) -> i64 {
        let true_ns = monotonic().saturating_sub(self.origin);
        let drifted = (true_ns as f64 * self.drift_ppm / 1e6) as i64;
        i64::try_from(true_ns).unwrap_or(i64::MAX) + self.ahead_ns + drifted
    }

    /// What [`monotonic`] reads when this one reads `at`.
    pub(crate) fn monotonic_at(&self, at: i64) -> u64 {
        let since = at - self.ahead_ns;
        let true_ns = since - (since as f64 * (self.drift_ppm / 1e6) / (1.0 + self.drift_ppm / 1e6)) as i64;
        self.origin.saturating_add_signed(true_ns)
    }
}
