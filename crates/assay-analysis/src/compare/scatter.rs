//! By how much the values of two sides scatter: from day to day, from unit to unit, about their mean.

use assay_stats::days::{self as day, Day, GroupDays};
use assay_stats::variation::RunVariance;
use assay_stats::{log_mean as log_mean_of, log_squares, student_t};

use super::question::{log_mean, runs, units};
use super::report::Side;

/// How runs of the same units differ, on both sides.
pub(super) fn days(first: &Side, second: &Side) -> RunVariance {
    RunVariance::of(runs(first).chain(runs(second)))
}

/// Half of the interval, at `level`, of the difference of logarithms of two sides, from the variance of single runs
/// within a day on both sides. With `k` runs on each of `d` days, the mean of a side has `∑ 1/k / d²` of the variance
/// of a run, if days have no effect. `None` where no day has two runs, or where those are equal.
///
/// The assumed variance of days is much smaller than the effect of a disturbed host on the runs of an hour. Real runs
/// of one medium that differ by factors of 1.2 to 4 were split into two groups, and with that variance alone 6 to 12 of
/// 100 loads were told apart.
pub(super) fn runs_of_a_day(first: &Side, second: &Side, level: f64) -> Option<f64> {
    let all: [Vec<Day<'_>>; 2] = [first, second].map(|side| runs(side).flat_map(day::days).collect());
    let of_day = |day: &Day<'_>| day.runs.iter().map(|run| log_mean_of(run.values)).collect::<Vec<f64>>();
    let (mut squares, mut degrees, mut weights) = (0.0, 0, 0.0);
    for days in &all {
        for day in days {
            squares += log_squares(&of_day(day));
            degrees += day.runs.len() - 1;
            weights += 1.0 / day.runs.len() as f64 / (days.len() as f64).powi(2);
        }
    }
    let t = u32::try_from(degrees).ok().filter(|degrees| *degrees > 0).and_then(|degrees| student_t(level, degrees))?;
    Some(t * (squares / degrees as f64 * weights).sqrt()).filter(|half| *half > 0.0)
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
