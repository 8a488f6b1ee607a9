//! What two groups can be asked.

use std::collections::BTreeSet;

use assay_stats::days::{self, Run};

use super::report::{Question, Side};

/// A unit: its model and its name.
type Unit = (String, String);

/// The subject of the answer about two sides; with `as_units` two units are compared as units, regardless of their
/// models.
pub(super) fn question(first: &Side, second: &Side, as_units: bool) -> Question {
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
pub(super) fn days(side: &Side) -> usize {
    days_of_each(side).into_iter().sum()
}
