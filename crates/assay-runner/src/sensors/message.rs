//! What the threads that read sensors send.

use std::time::{Duration, Instant};

/// Sensors are read once in this time.
pub(crate) const EVERY: Duration = Duration::from_secs(1);

/// Something about a series of values; series are numbered from 0.
#[derive(Debug)]
pub(crate) enum SensorMessage {
    /// It has a value.
    Value { series: usize, at: Instant, value: f64 },
    /// It has ended, and why.
    Dropped { series: usize, reason: String },
}
