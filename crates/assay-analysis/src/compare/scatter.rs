//! What two sides can be asked, by how much their values scatter (from day to day, from unit to unit, about their mean),
//! and how many units or runs would tell them apart.

use std::collections::BTreeSet;

use assay_stats::days::{Day, GroupDays, Run};
use assay_stats::power::{Deviation, Test};
use assay_stats::rank::{Options, Spread};
use assay_stats::variation::{PRIOR_DEVIATION, PRIOR_UNIT_DEGREES, PRIOR_UNIT_DEVIATION, RunVariance};
use assay_stats::{days, log_mean as log_mean_of, log_squares, rank, student_t};

use super::report::{Question, Side};
use crate::needed::{Needed, Values};

/// How runs of the same units differ, on both sides.
pub(super) fn variance_of_days(first: &Side, second: &Side) -> RunVariance {
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
    let all: [Vec<Day<'_>>; 2] = [first, second].map(|side| runs(side).flat_map(days::days).collect());
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

// What two groups can be asked.

/// A unit: its model and its name.
type Unit = (String, String);

/// The subject of the answer about two sides; with `as_units` two units are compared as units, regardless of their
/// models.
pub(super) fn question_of_sides(first: &Side, second: &Side, as_units: bool) -> Question {
    let (a, b) = (units(first), units(second));
    let models: BTreeSet<&str> = a.union(&b).map(|(model, _)| model.as_str()).collect();
    match (a.len(), b.len()) {
        (1, 1) if a == b => Question::Runs,
        (1, 1) if models.len() == 1 => Question::Units,
        // A unit with a single value has no interval of its own, but the assumed variance of units gives one.
        (1, 1) if as_units && first.values.len() > 1 && second.values.len() > 1 => Question::Units,
        (1, _) | (_, 1) if models.len() == 1 => Question::UnitAgainstOthers,
        (1, _) | (_, 1) => Question::Specimens,
        _ if a == b => Question::SameUnits,
        _ => Question::Models,
    }
}

/// The units of a side.
pub(super) fn units(side: &Side) -> BTreeSet<&Unit> {
    side.runs.iter().map(|run| &run.unit).collect()
}

/// The runs of each unit of a side.
pub(super) fn runs(side: &Side) -> impl Iterator<Item = Vec<Run<'_>>> {
    let of_unit = |unit: &Unit| side.runs.iter().filter(|run| run.unit == *unit).map(dated).collect();
    units(side).into_iter().map(of_unit)
}

fn dated(run: &super::report::Run) -> Run<'_> {
    Run { values: &run.points, day: run.day.as_deref() }
}

/// The mean of logarithms of a unit over its days on a side.
pub(super) fn log_mean(side: &Side, unit: &Unit) -> f64 {
    days::log_mean_over_days(side.runs.iter().filter(|run| run.unit == *unit).map(dated)).unwrap_or(f64::NAN)
}

/// The number of days of each unit of a side.
pub(super) fn days_of_each(side: &Side) -> Vec<usize> {
    runs(side).map(|runs| days::days(runs).len()).collect()
}

/// Days of all units of a side.
pub(super) fn days_of_side(side: &Side) -> usize {
    days_of_each(side).into_iter().sum()
}

// How many units or runs would tell what a pair of groups cannot.

/// The number of values that would settle the answer, from the two sides.
pub(super) fn needed(
    question: Question,
    (first, second): (&Side, &Side),
    ratio: f64,
    options: &Options,
) -> Option<Needed> {
    let alpha = options.alpha;
    let difference = (ratio.ln(), options.delta);
    match question {
        Question::Models => needed_of_models(&[first, second], (first, second), difference, alpha),
        Question::Specimens => {
            let assumed = Deviation { value: PRIOR_UNIT_DEVIATION, degrees: PRIOR_UNIT_DEGREES };
            Needed::of(Values::Units, difference, assumed, 1, |n| rank::tests(2, n, alpha))
        }
        Question::SameUnits => {
            let differences = differences(first, second);
            let paired = variance_of_days(first, second).paired(&differences);
            let seen = Deviation { value: paired.deviation(), degrees: paired.degrees() };
            let test = |n: u32| Test { error: 1.0 / f64::from(n), degrees: f64::from(n) - 1.0, alpha, prior: None };
            Needed::of(Values::Pairs, difference, seen, differences.len(), |n| vec![test(n)])
        }
        Question::UnitAgainstOthers => {
            let others = if units(first).len() > 1 { first } else { second };
            let n = others.values.len() as f64;
            let seen = Deviation { value: (squared_error(&others.values) * n).sqrt(), degrees: n - 1.0 };
            let test =
                |n: u32| Test { error: 1.0 + 1.0 / f64::from(n), degrees: f64::from(n) - 1.0, alpha, prior: None };
            Needed::of(Values::Others, difference, seen, others.values.len(), |n| vec![test(n)])
        }
        Question::Runs | Question::Units => {
            let days = variance_of_days(first, second);
            let seen = Deviation { value: days.deviation(), degrees: days.degrees() };
            let test = |n: u32| {
                let assumed = Deviation { value: PRIOR_DEVIATION, degrees: RunVariance::assumed_beside(n) };
                let prior = Some(assumed).filter(|assumed| assumed.degrees > 0.0 && seen.value <= assumed.value);
                Test { error: 2.0 / f64::from(n), degrees: 2.0 * f64::from(n - 1), alpha, prior }
            };
            Needed::of(Values::Runs, difference, seen, days_of_side(first).min(days_of_side(second)), |n| vec![test(n)])
        }
    }
}

/// Of two models among some `sides` that are compared together, by the deviation that a ranking of them tests with.
pub(super) fn needed_of_models(
    sides: &[&Side],
    (first, second): (&Side, &Side),
    difference: (f64, f64),
    alpha: f64,
) -> Option<Needed> {
    let several = sides.iter().filter(|side| side.values.len() > 1);
    let spreads: Vec<Spread> = several
        .map(|side| {
            let n = side.values.len();
            let degrees = u32::try_from(n - 1).unwrap_or(u32::MAX);
            Spread { variance: squared_error(&side.values) * n as f64, degrees, shared: true }
        })
        .collect();
    let (variance, degrees) = rank::pooled(&spreads)?;
    let seen = Deviation { value: variance.sqrt(), degrees: f64::from(degrees) };
    let there_are = first.values.len().min(second.values.len());
    Needed::of_models(u32::try_from(sides.len()).unwrap_or(u32::MAX), difference, seen, there_are, alpha)
}
