//! By how much the values of two sides scatter: from day to day, from unit to unit, about their mean.

use assay_stats::days::GroupDays;
use assay_stats::log_squares;
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
    log_squares(&values.iter().map(|v| v.ln()).collect::<Vec<f64>>()) / (n - 1.0) / n
}

/// What days took from all units of a side and not of the other, in variances of a day; 0 where the sides were measured on
/// the same days, or each unit on days of its own.
pub(super) fn unshared_days(first: &Side, second: &Side) -> f64 {
    GroupDays::of(&[days_by_unit(first), days_by_unit(second)]).between(0, 1)
}

/// The same of the same units on both sides, each compared with itself.
pub(super) fn unshared_days_of_same(first: &Side, second: &Side) -> f64 {
    GroupDays::paired(&days_by_unit(first), &days_by_unit(second))
}

fn days_by_unit(side: &Side) -> Vec<Vec<Option<&str>>> {
    let of_unit = |unit: &(String, String)| {
        let runs = side.runs.iter().filter(|run| run.unit == *unit);
        let mut days: Vec<Option<&str>> = runs.map(|run| run.day.as_deref()).collect();
        days.sort_unstable();
        days.dedup();
        days
    };
    units(side).into_iter().map(of_unit).collect()
}
