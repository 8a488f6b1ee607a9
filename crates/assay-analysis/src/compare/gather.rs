//! A group under a load: what its values are.

use assay_stats::days::{Run as DatedRun, days, log_mean_over_days};
use assay_stats::log_mean;

use super::examine::run;
use super::group::Group;
use super::numbers::estimate;
use super::report::{Basis, Run, Side};
use crate::Excluded;
use crate::host_days::HostDays;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::Mark;

/// The group's figures, `None` where it has none, and the reasons for what is left out.
pub(super) fn gather(
    at: usize,
    group: &Group<'_>,
    days: &HostDays,
    load: &Load,
    quantity: Quantity,
    level: f64,
) -> (Option<Side>, Vec<Excluded>) {
    let mut excluded = Vec::new();
    let mut runs: Vec<(Run, Option<Excluded>)> = Vec::new();
    for record in &group.records {
        let leave_out = |reason| Excluded::new(record, Some(load), reason);
        let (run, reasons) = run(record, days, load, quantity);
        excluded.extend(reasons.into_iter().map(leave_out));
        runs.extend(run.map(|(run, unsound)| (run, unsound.map(leave_out))));
    }
    // Unsound runs are left out if there are sound ones; else they are shown with their marks.
    let sound = runs.iter().any(|(_, unsound)| unsound.is_none());
    let mut kept = Vec::with_capacity(runs.len());
    for (run, unsound) in runs {
        match unsound {
            Some(reason) if sound => excluded.push(reason),
            _ => kept.push(run),
        }
    }
    (side(at, kept, level), excluded)
}

fn side(group: usize, runs: Vec<Run>, level: f64) -> Option<Side> {
    let (basis, values) = values(&runs, |_| 1.0)?;
    let mut marks: Vec<Mark> = runs.iter().flat_map(|run| run.marks.iter().copied()).collect();
    marks.sort();
    marks.dedup();
    let mut side = Side { group, basis, estimate: None, values, runs, marks };
    side.estimate = estimate(&side.values, level, basis, side.until_narrow());
    Some(side)
}

impl Side {
    /// Its figures with those of each unit times a factor.
    pub(super) fn adjust(&mut self, factor: impl Fn(&str) -> f64, level: f64) {
        if let Some((basis, values)) = values(&self.runs, factor) {
            self.estimate = estimate(&values, level, basis, self.until_narrow());
            self.values = values;
        }
    }
}

/// The independent values in runs: the days of one unit, or the units where there are several. Repeats share the effect
/// of their run, runs of a day that of the day, and days of a unit that of the unit (Kalibera and Jones 2013, "Rigorous
/// benchmarking").
fn values(runs: &[Run], factor: impl Fn(&str) -> f64) -> Option<(Basis, Vec<f64>)> {
    let mut units: Vec<&(String, String)> = Vec::new();
    for run in runs {
        if !units.contains(&&run.unit) {
            units.push(&run.unit);
        }
    }
    let scaled = |run: &Run| run.points.iter().map(|point| point * factor(&run.unit.1)).collect::<Vec<f64>>();
    let points: Vec<(&Run, Vec<f64>)> = runs.iter().map(|run| (run, scaled(run))).collect();
    let dated = |unit: &(String, String)| {
        let own = points.iter().filter(|(run, _)| run.unit == *unit);
        own.map(|(run, values)| DatedRun { values, day: run.day.as_deref() }).collect::<Vec<_>>()
    };
    Some(match (&points[..], &units[..]) {
        ([], _) => return None,
        ([(_, values)], _) => (Basis::Repeats, values.clone()),
        (_, [unit]) => match &days(dated(unit))[..] {
            [_] => (Basis::Runs, points.iter().map(|(_, values)| mean(values)).collect()),
            days => (Basis::Days, days.iter().map(|day| day.log_mean().exp()).collect()),
        },
        _ => (Basis::Units, units.iter().filter_map(|unit| log_mean_over_days(dated(unit))).map(f64::exp).collect()),
    })
}

/// Geometric mean of positive values.
fn mean(values: &[f64]) -> f64 {
    log_mean(values).exp()
}
