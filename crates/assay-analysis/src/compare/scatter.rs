//! By how much the values of two sides scatter: from day to day, from unit to unit, about their mean.

use assay_stats::variation::RunVariance;

use super::question::{log_mean, runs, units};
use super::report::Side;

/// How runs of the same units differ, on both sides.
pub(super) fn days(first: &Side, second: &Side) -> RunVariance {
    RunVariance::of(runs(first).chain(runs(second)))
}

/// How the same units differ between the sides.
pub(super) fn differences(first: &Side, second: &Side) -> Vec<f64> {
    units(first).into_iter().map(|unit| log_mean(second, unit) - log_mean(first, unit)).collect()
}

/// Squared error of the mean of logarithms.
pub(super) fn squared_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v.ln()).sum::<f64>() / n;
    values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0) / n
}
