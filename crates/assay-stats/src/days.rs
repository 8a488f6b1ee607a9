//! The day of a unit at a host: what is repeated where a unit is measured again.
//!
//! Runs of one day share the temperature of the room, the state of the flash and what else the host did, as repeats of one
//! run do: ten runs of one afternoon say no more of another day than one of them. Counted as ten days they call 71 of 100
//! pairs of equal cards different where 5 are stated (simulated, `make calibrate ROWS="runs of one day"`). So the runs of a
//! day are averaged first, here and nowhere else, and all that speaks of a unit over days counts its days.

use crate::logs::log_mean;

/// A run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run<'a> {
    /// The values of its repeats, each positive and finite.
    pub values: &'a [f64],
    /// The day it was made on and the host, by any name; `None` where it is not known. All such runs of a unit count as
    /// one day.
    pub day: Option<&'a str>,
}

impl<'a> Run<'a> {
    /// A run on a day that is not known.
    #[must_use]
    pub fn undated(values: &'a [f64]) -> Self {
        Self { values, day: None }
    }
}

/// What a unit did on one day at one host.
#[derive(Debug, Clone, PartialEq)]
pub struct Day<'a> {
    /// Its name; `None` of all runs that do not tell their day.
    pub name: Option<&'a str>,
    /// Its runs, each of which has values.
    pub runs: Vec<Run<'a>>,
}

impl Day<'_> {
    /// Mean of the logarithms: that over its runs, each of which counts for as much.
    #[must_use]
    pub fn log_mean(&self) -> f64 {
        let means = self.runs.iter().map(|run| log_mean(run.values));
        means.sum::<f64>() / self.runs.len() as f64
    }
}

/// The days of a unit, in the order of their first runs. Runs without values say nothing.
#[must_use]
pub fn days<'a>(runs: impl IntoIterator<Item = Run<'a>>) -> Vec<Day<'a>> {
    let mut days: Vec<Day<'a>> = Vec::new();
    for run in runs.into_iter().filter(|run| !run.values.is_empty()) {
        match days.iter_mut().find(|day| day.name == run.day) {
            Some(day) => day.runs.push(run),
            None => days.push(Day { name: run.day, runs: vec![run] }),
        }
    }
    days
}

/// Mean of the logarithms of a unit over its days; `None` without values.
#[must_use]
pub fn log_mean_over_days<'a>(runs: impl IntoIterator<Item = Run<'a>>) -> Option<f64> {
    let days = days(runs);
    (!days.is_empty()).then(|| days.iter().map(Day::log_mean).sum::<f64>() / days.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_day_are_one_value_and_those_without_a_date_are_one_day() {
        let (low, high) = ([1.0], [1.0f64.exp(), 1.0f64.exp()]);
        let run = |values, day| Run { values, day };
        let all =
            [run(&low, Some("1")), run(&high, Some("1")), run(&high, Some("2")), run(&high, None), run(&low, None)];
        let found = days(all);
        assert_eq!(
            found.iter().map(|day| (day.name, day.runs.len())).collect::<Vec<_>>(),
            [(Some("1"), 2), (Some("2"), 1), (None, 2)]
        );
        assert!((found[0].log_mean() - 0.5).abs() < 1e-12);
        assert!((log_mean_over_days(all).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(log_mean_over_days([run(&[], Some("1"))]), None);
    }
}
