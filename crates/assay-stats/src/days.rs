//! The day of a unit at a host: the level at which repeated measurements of a unit are independent.
//!
//! Runs of one day share the temperature of the room, the state of the flash and the other load of the host, just as
//! repeats of one run do. Ten runs of one afternoon say no more about another day than one of them. Counted as ten
//! days, they call 71 of 100 pairs of equal cards different where 5 are stated (simulated, `make calibrate ROWS="runs
//! of one day"`). So the runs of a day are averaged first, only here, and every statement about a unit over days counts
//! its days.

use std::collections::BTreeMap;

use super::interval::log_mean;

/// Runs of a unit that begin less than this after each other belong to one sitting, in seconds.
pub const SITTING: i64 = 6 * 3_600;
/// The longest sitting in seconds. A longer one is continuous use, and is split into calendar days.
const LONGEST_SITTING: i64 = 18 * 3_600;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// The day of each run of a unit at a host, from the start times of its runs in seconds. It is a calendar day (UTC),
/// but a sitting that continues after midnight belongs to the day it began on: an evening west of Greenwich ends on the
/// next UTC day.
#[must_use]
pub fn day_of_each(began: &[i64]) -> Vec<i64> {
    days_of_sittings(began, |seconds| seconds.div_euclid(DAY))
}

/// The same with days from the function `day` instead of the calendar. All runs of a sitting get the day of its first
/// run.
#[must_use]
pub fn days_of_sittings(began: &[i64], day: impl Fn(i64) -> i64) -> Vec<i64> {
    let mut order: Vec<usize> = (0..began.len()).collect();
    order.sort_by_key(|at| began[*at]);
    let mut days: Vec<i64> = began.iter().map(|seconds| day(*seconds)).collect();
    for sitting in order.chunk_by(|a, b| began[*b] - began[*a] < SITTING) {
        let (Some(first), Some(last)) = (sitting.first(), sitting.last()) else { continue };
        if began[*last] - began[*first] <= LONGEST_SITTING {
            let day = days[*first];
            sitting.iter().for_each(|at| days[*at] = day);
        }
    }
    days
}

/// A run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunOfDay<'a> {
    /// The values of its repeats, each positive and finite.
    pub values: &'a [f64],
    /// The day it was made on and the host, by any name; `None` where it is not known. All such runs of a unit count as
    /// one day.
    pub day: Option<&'a str>,
}

impl<'a> RunOfDay<'a> {
    /// A run on a day that is not known.
    #[must_use]
    pub fn undated(values: &'a [f64]) -> Self {
        Self { values, day: None }
    }
}

/// The runs of a unit on one day at one host.
#[derive(Debug, Clone, PartialEq)]
pub struct Day<'a> {
    /// Its name; `None` for the runs of unknown days.
    pub name: Option<&'a str>,
    /// Its runs. Each has values.
    pub runs: Vec<RunOfDay<'a>>,
}

impl Day<'_> {
    /// Mean of the logarithms over its runs, with equal weights.
    #[must_use]
    pub fn log_mean(&self) -> f64 {
        let means = self.runs.iter().map(|run| log_mean(run.values));
        means.sum::<f64>() / self.runs.len() as f64
    }
}

/// The days of a unit, in the order of their first runs. Runs without values are ignored.
#[must_use]
pub fn days<'a>(runs: impl IntoIterator<Item = RunOfDay<'a>>) -> Vec<Day<'a>> {
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
pub fn log_mean_over_days<'a>(runs: impl IntoIterator<Item = RunOfDay<'a>>) -> Option<f64> {
    let days = days(runs);
    (!days.is_empty()).then(|| days.iter().map(Day::log_mean).sum::<f64>() / days.len() as f64)
}

/// The days of each unit of several groups, as far as the groups differ in them.
///
/// A day at a host affects everything that is measured on it. If one group was measured on Monday and the other on
/// Tuesday, more units do not average that effect out, and the spread between units does not show it: 53 of 100
/// rankings of equal models found a best one where days differ by 3 % (simulated, `make calibrate ROWS="days of their
/// own"`).
#[derive(Debug, Clone, PartialEq)]
pub struct GroupDays {
    groups: Vec<(BTreeMap<usize, f64>, f64)>,
}

impl GroupDays {
    /// From the days of each unit of each group; a day that is not known is the unit's own.
    #[must_use]
    pub fn from_groups(groups: &[Vec<Vec<Option<&str>>>]) -> Self {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut next = 0;
        let mut all = Vec::with_capacity(groups.len());
        for units in groups {
            let mut shares: Vec<BTreeMap<usize, f64>> = Vec::with_capacity(units.len());
            for days in units {
                let mut share: BTreeMap<usize, f64> = BTreeMap::new();
                for day in days {
                    next += 1;
                    let place = day.map_or(next, |day| *numbers.entry(day).or_insert(next));
                    *share.entry(place).or_default() += 1.0 / days.len() as f64;
                }
                shares.push(share);
            }
            all.push(Self::group(&shares));
        }
        Self { groups: all }
    }

    /// The same between two sides on which the same units were measured, in the same order: what days took from the
    /// differences of all units, in variances of a day.
    #[must_use]
    pub fn paired(first: &[Vec<Option<&str>>], second: &[Vec<Option<&str>>]) -> f64 {
        let (mut numbers, mut next): (BTreeMap<&str, usize>, usize) = (BTreeMap::new(), 0);
        let mut shares: Vec<BTreeMap<usize, f64>> = Vec::with_capacity(first.len());
        for (before, after) in first.iter().zip(second) {
            let mut share: BTreeMap<usize, f64> = BTreeMap::new();
            for (days, sign) in [(before, -1.0), (after, 1.0)] {
                for day in days {
                    next += 1;
                    let place = day.map_or(next, |day| *numbers.entry(day).or_insert(next));
                    *share.entry(place).or_default() += sign / days.len() as f64;
                }
            }
            shares.push(share);
        }
        let (mean, spread) = Self::group(&shares);
        let common = mean.values().map(|share| share * share).sum::<f64>() - spread;
        if shares.len() > 1 && common > 1e-9 { common } else { 0.0 }
    }

    /// The mean share of each day, and the squared error of it that the spread between the units shows.
    fn group(units: &[BTreeMap<usize, f64>]) -> (BTreeMap<usize, f64>, f64) {
        let n = units.len() as f64;
        let mut mean: BTreeMap<usize, f64> = BTreeMap::new();
        units.iter().flatten().for_each(|(day, share)| *mean.entry(*day).or_default() += share / n);
        let squares = units.iter().flat_map(BTreeMap::values).map(|share| share * share).sum::<f64>();
        let of_mean = mean.values().map(|share| share * share).sum::<f64>();
        // One unit does not show how units vary: the assumed or borrowed variance includes its day.
        let spread = if units.len() > 1 { (squares - n * of_mean).max(0.0) / (n - 1.0) / n } else { of_mean };
        (mean, spread)
    }

    /// Squared error of the difference between two groups that their units have in common, in variances of a day; 0 where
    /// they were measured on the same days, or each unit on days of its own.
    #[must_use]
    pub fn between(&self, first: usize, second: usize) -> f64 {
        let (a, b) = (&self.groups[first], &self.groups[second]);
        let of_first = a.0.iter().map(|(day, share)| (share - b.0.get(day).unwrap_or(&0.0)).powi(2)).sum::<f64>();
        let of_second =
            b.0.iter().filter(|(day, _)| !a.0.contains_key(day)).map(|(_, share)| share.powi(2)).sum::<f64>();
        let common = of_first + of_second - a.1 - b.1;
        if common > 1e-9 { common } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_day_are_one_value_and_those_without_a_date_are_one_day() {
        let (low, high) = ([1.0], [1.0f64.exp(), 1.0f64.exp()]);
        let run = |values, day| RunOfDay { values, day };
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

    #[test]
    fn an_evening_across_midnight_is_one_day_and_use_around_the_clock_is_many() {
        let hours = |all: &[i64]| all.iter().map(|hour| hour * 3_600).collect::<Vec<i64>>();
        assert_eq!(day_of_each(&hours(&[25, 22, 23, 9, 46, 49])), [0, 0, 0, 0, 1, 1]);
        assert_eq!(day_of_each(&hours(&[23, 29])), [0, 1], "six hours apart");
        assert_eq!(day_of_each(&hours(&[0, 10, 20, 30])), [0, 0, 0, 1], "a day is never divided");
        let always: Vec<i64> = (0..72).collect();
        assert_eq!(day_of_each(&hours(&always)), always.iter().map(|hour| hour / 24).collect::<Vec<i64>>());
        assert_eq!(day_of_each(&[-1, 1]), [-1, -1]);
        assert!(day_of_each(&[]).is_empty());
    }

    #[test]
    fn groups_share_an_error_where_each_was_measured_on_a_day_of_its_own() {
        let between =
            |a: Vec<Vec<Option<&str>>>, b: Vec<Vec<Option<&str>>>| GroupDays::from_groups(&[a, b]).between(0, 1);
        let on = |day: &'static str| vec![vec![Some(day)]; 3];
        assert_eq!(between(on("1"), on("1")), 0.0);
        assert!((between(on("1"), on("2")) - 2.0).abs() < 1e-12);
        let own = |names: [&'static str; 3]| names.map(|day| vec![Some(day)]).to_vec();
        assert_eq!(between(own(["1", "2", "3"]), own(["4", "5", "6"])), 0.0, "the spread of the units holds it");
        assert_eq!(between(vec![vec![None]; 3], vec![vec![None]; 3]), 0.0);
        // All units of both on both days, and one of three.
        assert_eq!(between(vec![vec![Some("1"), Some("2")]; 3], vec![vec![Some("2"), Some("1")]; 3]), 0.0);
        let part = between(vec![vec![Some("1"), Some("2")]; 3], on("2"));
        assert!((part - 0.5).abs() < 1e-12, "{part}");
        let paired = |a: Vec<Vec<Option<&str>>>, b: Vec<Vec<Option<&str>>>| GroupDays::paired(&a, &b);
        assert!((paired(on("1"), on("2")) - 2.0).abs() < 1e-12, "all of it on one day there and one here");
        assert_eq!(paired(on("1"), on("1")), 0.0);
        assert_eq!(paired(own(["1", "2", "3"]), own(["4", "5", "6"])), 0.0);
        assert_eq!(
            between(vec![vec![Some("1")]], vec![vec![Some("2")]]),
            0.0,
            "what is assumed of one unit holds its day"
        );
    }
}
