//! One-sided bounds of a mean rate.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::refusal::{Refusal, all_positive};
use crate::logs::log_mean;

/// Fewer repeats give no bounds: with two, t is 6.3 and the spread a guess.
pub const LEAST_RUNS: usize = 3;
/// Confidence of each bound of [`bounds`].
pub const CONFIDENCE: f64 = 0.95;

/// A geometric mean with the bounds that it is above and below, each with [`CONFIDENCE`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Geometric mean.
    pub point: f64,
    /// Lower and upper bound; `None` for fewer than three values.
    pub interval: Option<(f64, f64)>,
    /// Values.
    pub n: usize,
}

/// One-sided 95 % t bounds on logarithms.
///
/// # Errors
/// No value, or one that is not positive and finite.
pub fn bounds(values: &[f64]) -> Result<Bounds, Refusal> {
    let n = all_positive("repeats", values)?.len();
    let count = n as f64;
    let mean = log_mean(values);
    let squares = values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
    let student = || StudentsT::new(0.0, 1.0, count - 1.0).ok();
    let interval = (n >= LEAST_RUNS).then(student).flatten().map(|student| {
        let half = student.inverse_cdf(CONFIDENCE) * (squares / (count - 1.0) / count).sqrt();
        ((mean - half).exp(), (mean + half).exp())
    });
    Ok(Bounds { point: mean.exp(), interval, n })
}
