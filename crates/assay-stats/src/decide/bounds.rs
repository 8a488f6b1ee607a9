//! One-sided bounds of a mean rate, and the margin that a number of repeats needs.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::refusal::{Refusal, all_positive, not_negative};

/// Fewer repeats give no bounds: with two, t is 6.3 and the spread a guess.
pub const LEAST_RUNS: usize = 3;
/// Confidence of each bound of [`bounds`].
pub const CONFIDENCE: f64 = 0.95;

/// A geometric mean with the bounds that it is above and below, each with the confidence asked for.
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
    bounds_at(values, CONFIDENCE)
}

/// One-sided t bounds on logarithms at `confidence`, between 0.5 and 1.
///
/// # Errors
/// No value, or one that is not positive and finite.
pub fn bounds_at(values: &[f64], confidence: f64) -> Result<Bounds, Refusal> {
    let n = all_positive("repeats", values)?.len();
    let count = n as f64;
    let mean = values.iter().map(|v| v.ln()).sum::<f64>() / count;
    let squares = values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
    let interval = (n >= LEAST_RUNS).then(|| quantile(n, confidence)).flatten().map(|t| {
        let half = t * (squares / (count - 1.0) / count).sqrt();
        ((mean - half).exp(), (mean + half).exp())
    });
    Ok(Bounds { point: mean.exp(), interval, n })
}

/// How far above a threshold, as a share of it, the mean of `n` repeats has to be to pass: their
/// logarithms have the standard deviation `deviation`, about the coefficient of variation.
///
/// # Errors
/// Fewer than two repeats, a deviation that is negative or not finite.
pub fn margin(deviation: f64, n: usize) -> Result<f64, Refusal> {
    let deviation = not_negative("the deviation", deviation)?;
    let t = quantile(n, CONFIDENCE).ok_or(Refusal::TooFew { what: "repeats", least: 2, given: n })?;
    Ok((t * deviation / (n as f64).sqrt()).exp() - 1.0)
}

fn quantile(n: usize, confidence: f64) -> Option<f64> {
    let degrees = n.checked_sub(1).filter(|d| *d > 0)? as f64;
    Some(StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(confidence))
}
