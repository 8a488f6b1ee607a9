//! What two groups can be asked.

use std::collections::BTreeSet;

use assay_stats::variation::Run;

use super::report::{Question, Side};

/// A unit: its model and its name.
type Unit = (String, String);

/// What the answer about two sides is about.
pub(super) fn question(first: &Side, second: &Side) -> Question {
    let (a, b) = (units(first), units(second));
    let models: BTreeSet<&str> = a.union(&b).map(|(model, _)| model.as_str()).collect();
    match (a.len(), b.len()) {
        (1, 1) if a == b => Question::Runs,
        (1, 1) if models.len() == 1 => Question::Units,
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

/// The mean of logarithms of a unit over its runs on a side.
pub(super) fn log_mean(side: &Side, unit: &Unit) -> f64 {
    let runs: Vec<f64> =
        side.runs.iter().filter(|run| run.unit == *unit).map(|run| assay_stats::log_mean(&run.points)).collect();
    runs.iter().sum::<f64>() / runs.len() as f64
}
