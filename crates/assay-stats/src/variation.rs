//! The variance of runs of one unit from day to day, beyond the spread of the repeats of a run, and the variance
//! between units of one model.
//!
//! The repeats of a run share its temperature, the state of the flash and the other load of the host, so their spread
//! does not cover another day. For two runs of one card, whose days differ by 3 %, an interval over repeats calls more
//! than half different (simulated, `make calibrate`). The variance that units showed over several days is used, beside
//! a prior with the weight of three further days. Enough days are used without the prior, and so are fewer days that
//! differ by more than the prior.

use statrs::distribution::{ContinuousCDF, StudentsT};

pub use crate::days::RunOfDay;
use crate::days::{Day, days};
use crate::interval::{LEVEL, geometric, geometric_until_known, log_mean, log_squares};
use crate::rank::pair_degrees;

/// Assumed deviation of logarithms between the runs of a unit, where none is known.
///
/// Days of a card, a stick or an SSD were seen to differ by 2 to 3 %. With its degrees of freedom this value keeps the
/// error of a decision on one to five runs of each of two units within 5 % and 1.5 points, for days that differ by up
/// to 5 % (simulated below). With one run each, it tells units apart that differ by more than 16 %.
pub const PRIOR_DEVIATION: f64 = 0.037;
/// Degrees of freedom of the prior.
pub const PRIOR_DEGREES: f64 = 3.0;

/// The variance of the mean of a run about its unit, and the data behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunVariance {
    variance: f64,
    degrees: f64,
    measured: u32,
    assumed: f64,
}

/// Assumed deviation of logarithms between units of a model, where one unit was measured. With its degrees of freedom,
/// two single units tell their models apart at a ratio of two, and are wrong in 5 to 6 of 100 cases where units vary by
/// up to 25 %.
pub const PRIOR_UNIT_DEVIATION: f64 = 0.15;
/// Degrees of freedom of this prior.
pub const PRIOR_UNIT_DEGREES: f64 = 3.0;

/// Half the width of the interval, at `level`, of the ratio of two models. `specimens` is how many of the two have one
/// unit. `known` is the squared error of the other model, 0 where there is none. `None` for a level outside 0 to 1.
#[must_use]
pub fn specimens(level: f64, specimens: usize, known: f64) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, PRIOR_UNIT_DEGREES).ok()?;
    let variance = PRIOR_UNIT_DEVIATION.powi(2) * specimens as f64 + known;
    (0.0..1.0).contains(&level).then(|| t.inverse_cdf((1.0 + level) / 2.0) * variance.sqrt())
}

/// Variance between units of a model, and its degrees of freedom. Three units or more use their own variance; fewer are
/// combined with the prior. One unit shows no variance, and two give a single degree of freedom, with which a loss has
/// no expectation.
#[must_use]
pub fn between_units(units: usize, own: Option<f64>) -> (f64, f64) {
    let (free, own) = (units.saturating_sub(1) as f64, own.unwrap_or(0.0));
    if units > 2 {
        return (own, free);
    }
    let degrees = PRIOR_UNIT_DEGREES + free;
    ((PRIOR_UNIT_DEGREES * PRIOR_UNIT_DEVIATION.powi(2) + free * own) / degrees, degrees)
}

/// The prediction interval of Student's t, at `level`, for a further unit of a model, from the mean of the logarithms
/// of the measured units and the variance between them. `None` without units, and for a level outside 0 to 1.
#[must_use]
pub fn further_unit(level: f64, units: usize, log_mean: f64, own: Option<f64>) -> Option<(f64, f64)> {
    let (variance, degrees) = between_units(units, own);
    let t = StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| units > 0 && (0.0..1.0).contains(&level))?;
    let half = t.inverse_cdf((1.0 + level) / 2.0) * (variance * (1.0 + 1.0 / units as f64)).sqrt();
    Some(((log_mean - half).exp(), (log_mean + half).exp()))
}

/// Degrees of freedom between known days from which the prior is left out: three runs of each of two units on three
/// days.
///
/// The prior is larger than most variances of days, so intervals are wider than stated: for two units of three runs
/// each, on days that differ by 3 %, they held in 98.6 % of cases instead of 95 % (1,000 fleets of the calibration).
/// With this many days, the error without the prior is 5 % for any variance of days (simulated below). With fewer,
/// Student's t is wider than the prior.
pub const ENOUGH_DAYS: u32 = 4;

impl RunVariance {
    /// From units with the runs of each. Runs without values, and units without runs, are ignored.
    ///
    /// A unit with runs on `n` days gives `n - 1` degrees of freedom ([`crate::days`]). The prior includes the mean
    /// error that repeats leave in a day, as the means of days do. It is left out if enough days are known to be
    /// different, or if days differ by more than the prior. Runs on a disturbed host differ by 30 %, and with the prior
    /// 23 of 100 pairs of equal units, each measured on two days, were distinguished (simulated below).
    #[must_use]
    pub fn of<'a>(units: impl IntoIterator<Item = Vec<RunOfDay<'a>>>) -> Self {
        Self::of_days(units.into_iter().map(days))
    }

    /// The same, from days.
    #[must_use]
    pub fn of_days<'a>(units: impl IntoIterator<Item = Vec<Day<'a>>>) -> Self {
        let (mut squares, mut degrees, mut apart) = (0.0, 0, 0);
        let mut repeats = Repeats::default();
        for unit in units {
            apart += between_days(&unit);
            let means: Vec<f64> = unit.iter().map(|day| repeats.add(day)).collect();
            if let Some(free) = means.len().checked_sub(1).filter(|free| *free > 0) {
                squares += log_squares(&means);
                degrees += u32::try_from(free).unwrap_or(u32::MAX);
            }
        }
        let prior = PRIOR_DEVIATION.powi(2) + repeats.error();
        // Copies of one figure do not show that days are equal.
        let enough = apart >= ENOUGH_DAYS && squares > 0.0;
        let assumed = if enough || exceeds(squares, degrees, prior) { 0.0 } else { PRIOR_DEGREES };
        let all = assumed + f64::from(degrees);
        Self { variance: (assumed * prior + squares) / all, degrees: all, measured: degrees, assumed }
    }

    /// Degrees of freedom of the prior beside the measured ones: 0 where enough were measured.
    #[must_use]
    pub fn assumed(&self) -> f64 {
        self.assumed
    }

    /// Degrees of freedom of the prior beside `n` runs of each of two units, each run on a day of its own.
    #[must_use]
    pub fn assumed_beside(n: u32) -> f64 {
        if 2 * n.saturating_sub(1) >= ENOUGH_DAYS { 0.0 } else { PRIOR_DEGREES }
    }

    /// Deviation of the logarithm of a run's mean about its unit.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Degrees of freedom that were measured; the prior has its own beside them.
    #[must_use]
    pub fn measured(&self) -> u32 {
        self.measured
    }

    /// All degrees of freedom.
    #[must_use]
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// Half the width of the two-sided interval, at `level`, of a sum of logarithms of runs, whose squared weights add
    /// up to `weights`: 1/3 for the mean of three runs, 2 for the ratio of two. `None` for a level outside 0 to 1.
    #[must_use]
    pub fn half(&self, level: f64, weights: f64) -> Option<f64> {
        (0.0..1.0).contains(&level).then(|| self.bound((1.0 + level) / 2.0, weights)).flatten()
    }

    /// Distance of the one-sided bound at `confidence`, between 0 and 1, of such a sum.
    #[must_use]
    pub fn bound(&self, confidence: f64, weights: f64) -> Option<f64> {
        let t = StudentsT::new(0.0, 1.0, self.degrees).ok()?;
        (confidence > 0.0 && confidence < 1.0).then(|| t.inverse_cdf(confidence) * (self.variance * weights).sqrt())
    }

    /// What the differences between pairs of runs tell, which are those of units that were measured under two conditions
    /// each, and hold what a unit makes of a condition: weights of 1 are a difference. Of [`ENOUGH_PAIRS`] pairs and
    /// more, and of fewer that differ by more than days do, their own spread counts alone.
    #[must_use]
    pub fn paired(&self, differences: &[f64]) -> Self {
        let n = differences.len() as f64;
        let squares = log_squares(differences);
        let free = (n - 1.0).max(0.0);
        let enough = differences.len() >= ENOUGH_PAIRS && squares > 0.0;
        if enough || exceeds(squares, differences.len().saturating_sub(1) as u32, 2.0 * self.variance) {
            return Self { variance: squares / free, degrees: free, assumed: 0.0, ..*self };
        }
        let degrees = self.degrees + free;
        Self { variance: (self.degrees * 2.0 * self.variance + squares) / degrees, degrees, ..*self }
    }
}

/// Whether a sum of squares shows more than the variance that is assumed.
fn exceeds(squares: f64, degrees: u32, assumed: f64) -> bool {
    squares > f64::from(degrees) * assumed
}

/// Degrees of freedom between the known days of a unit.
fn between_days(days: &[Day<'_>]) -> u32 {
    let known = days.iter().filter(|day| day.name.is_some()).count();
    u32::try_from(known.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// Number of pairs from which no prior is needed.
pub const ENOUGH_PAIRS: usize = 4;

/// Deviations of repeats about the mean of their run.
#[derive(Debug, Default)]
struct Repeats {
    squares: f64,
    degrees: f64,
    /// Squared error of the mean of a day in variances of a repeat, over all days.
    inverse: f64,
    days: f64,
}

impl Repeats {
    /// The mean of the logarithms of a day.
    fn add(&mut self, day: &Day<'_>) -> f64 {
        let runs = day.runs.len() as f64;
        for run in &day.runs {
            let (n, mean) = (run.values.len() as f64, log_mean(run.values));
            self.squares += run.values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
            self.degrees += n - 1.0;
            self.inverse += 1.0 / n / runs.powi(2);
        }
        self.days += 1.0;
        day.log_mean()
    }

    /// Squared error that repeats leave in the mean of a day; 0 where no run has two.
    fn error(&self) -> f64 {
        if self.degrees > 0.0 { self.squares / self.degrees * (self.inverse / self.days) } else { 0.0 }
    }
}

// What the runs of one unit say of it over many days.

/// A unit over many days, by its runs: their mean, and how far it may be from the mean of many days.
///
/// The repeats of a run share what the day made of the unit, so their spread is no measure of it: that comes from runs
/// on several days, and from the prior of [`RunVariance`]. Runs of one day count as one ([`crate::days`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverDays {
    log_mean: f64,
    /// Squared error of the logarithm of the mean, and its degrees of freedom; `None` of one value.
    error: Option<(f64, f64)>,
}

impl OverDays {
    /// From the repeats of each run. Runs without repeats say nothing; `None` where none is left, or where a value is not
    /// positive and finite.
    #[must_use]
    pub fn from_runs(runs: &[RunOfDay<'_>]) -> Option<Self> {
        let runs: Vec<RunOfDay<'_>> = runs.iter().copied().filter(|run| !run.values.is_empty()).collect();
        if runs.is_empty() || runs.iter().any(|run| run.values.iter().any(|v| !v.is_finite() || *v <= 0.0)) {
            return None;
        }
        let days = days(runs.iter().copied());
        let means: Vec<f64> = runs.iter().map(|run| log_mean(run.values).exp()).collect();
        let log_mean = days.iter().map(Day::log_mean).sum::<f64>() / days.len() as f64;
        let values: usize = runs.iter().map(|run| run.values.len()).sum();
        // Half the interval of a single run, on logarithms, widened as for repeats that ended when their interval was
        // narrow; of several runs of one day that of their means.
        let of_run = match (runs.as_slice(), days.len()) {
            ([run], _) => geometric_until_known(run.values),
            (_, 1) => geometric(&means),
            _ => None,
        };
        let of_run = of_run.and_then(|e| e.low.zip(e.high));
        let of_run = of_run.map_or(0.0, |(low, high)| (high / low).ln() / 2.0);
        let (count, days) = (days.len() as f64, RunVariance::of_days([days]));
        let error = days.deviation().powi(2) / count;
        // The error over many days is not smaller than that of the measured one. If its repeats or runs vary by more
        // than the assumed variance of days, they determine the error.
        let beyond = days.half(LEVEL, 1.0 / count).map_or(1.0, |half| (of_run / half).max(1.0));
        let error = (error * beyond.powi(2), days.degrees());
        Some(Self { log_mean, error: (values > 1).then_some(error) })
    }

    /// Geometric mean of the days.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.log_mean.exp()
    }

    /// Squared error of its logarithm, and its degrees of freedom; `None` for a single value, because the variance of
    /// repeats is unknown.
    #[must_use]
    pub fn error(&self) -> Option<(f64, f64)> {
        self.error
    }

    /// The two-sided interval at `level`.
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<(f64, f64)> {
        self.bounds((1.0 + level) / 2.0)
    }

    /// The lower and the upper bound, each at `confidence`, between 0 and 1.
    #[must_use]
    pub fn bounds(&self, confidence: f64) -> Option<(f64, f64)> {
        let (error, degrees) = self.error?;
        let t = StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| confidence > 0.0 && confidence < 1.0)?;
        let half = t.inverse_cdf(confidence) * error.sqrt();
        Some(((self.log_mean - half).exp(), (self.log_mean + half).exp()))
    }
}

// The difference between two units over days, where the variance of days may differ between the units.

/// The number of days from which a unit shows the variance of its own days.
const OWN_DAYS: usize = 3;

/// Half the width of the interval, at `level`, of the difference of the logarithms of two units, and the degrees of
/// freedom of the assumed deviation of days in it. `None` for a level outside 0 to 1, and for a unit without days.
///
/// The variance of days of one unit may differ from that of the other. With a unit in a warm room and one in a cold
/// room, measured on one day and on five, a pooled variance told 69 of 100 equal pairs apart (simulated). So with at
/// least three days of each unit, this is Welch's test over days. If one unit has fewer, it gets the prior of
/// [`RunVariance`], or the variance of the other's days if that is larger. If both have fewer, all days share one
/// variance, with the prior. Copies of a figure show no variance, and are judged with the prior too.
#[must_use]
pub fn half_between(first: &[Day<'_>], second: &[Day<'_>], level: f64) -> Option<(f64, f64)> {
    let weights = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
    let both = RunVariance::of_days([first.to_vec(), second.to_vec()]);
    if !weights.is_finite() {
        return None;
    }
    let pooled = || both.half(level, weights).map(|half| (half, both.assumed()));
    let (enough, other) = (own(first), own(second));
    let (error, degrees, assumed) = match (enough, other) {
        (Some(x), Some(y)) => {
            let count = |days: &[Day<'_>]| u32::try_from(days.len()).unwrap_or(u32::MAX);
            let (x, y) = ((x / first.len() as f64, count(first)), (y / second.len() as f64, count(second)));
            (x.0 + y.0, pair_degrees(x, y), 0.0)
        }
        (None, None) => return pooled(),
        _ => {
            let [x, y] = [first, second].map(|days| RunVariance::of_days([days.to_vec()]));
            let [known, unknown] = if enough.is_some() { [x, y] } else { [y, x] };
            if known.deviation() > unknown.deviation() {
                (known.deviation().powi(2) * weights, known.degrees(), known.assumed())
            } else {
                let of = |unit: &RunVariance, days: &[Day<'_>]| unit.deviation().powi(2) / days.len() as f64;
                let (of_x, of_y) = (of(&x, first), of(&y, second));
                let degrees = (of_x + of_y).powi(2) / (of_x.powi(2) / x.degrees() + of_y.powi(2) / y.degrees());
                (of_x + of_y, degrees, x.assumed().max(y.assumed()))
            }
        }
    };
    let t = StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| (0.0..1.0).contains(&level))?;
    Some((t.inverse_cdf((1.0 + level) / 2.0) * error.sqrt(), assumed))
}

/// The variance between the days of a unit, from its own days. `None` where it has too few days, a day without a name,
/// or equal figures.
fn own(days: &[Day<'_>]) -> Option<f64> {
    if days.len() < OWN_DAYS || days.iter().any(|day| day.name.is_none()) {
        return None;
    }
    let n = days.len() as f64;
    let squares = log_squares(&days.iter().map(Day::log_mean).collect::<Vec<f64>>());
    Some(squares / (n - 1.0)).filter(|variance| *variance > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Lehmer;

    #[test]
    fn without_a_second_day_it_is_the_prior_and_what_repeats_leave() {
        let nothing = RunVariance::of([]);
        assert!((nothing.deviation() - PRIOR_DEVIATION).abs() < 1e-12);
        assert_eq!((nothing.measured(), nothing.degrees()), (0, 3.0));
        // t with three degrees of freedom at 97.5 % is 3.1824.
        assert!((nothing.half(0.95, 2.0).unwrap() - 3.1824 * PRIOR_DEVIATION * 2f64.sqrt()).abs() < 1e-4);
        // Logarithms -0.1, 0, 0.1: variance 0.01, of a mean of three 1/300.
        let run: Vec<f64> = [-0.1f64, 0.0, 0.1].iter().map(|y| y.exp()).collect();
        let one = RunVariance::of([vec![RunOfDay::undated(&run)]]);
        assert!((one.deviation().powi(2) - (PRIOR_DEVIATION.powi(2) + 0.01 / 3.0)).abs() < 1e-12);
        assert_eq!(nothing.half(1.5, 1.0), None);
        assert_eq!(RunVariance::of([vec![RunOfDay::undated(&[])], vec![]]), nothing);
    }

    #[test]
    fn days_that_were_measured_take_the_place_of_the_prior() {
        // Four runs of one value each, on three days.
        let of = |logarithms: [f64; 4]| {
            let runs = logarithms.map(|y| [y.exp()]);
            let dated = runs.iter().zip(["1", "2", "3", "3"]).map(|(values, day)| RunOfDay { values, day: Some(day) });
            RunVariance::of([dated.collect()])
        };
        // Means 0, 0, 0.05: sum of squares 1/600, two degrees of freedom; the prior has 0.0027 for as many.
        let days = of([0.0, 0.0, 0.0, 0.1]);
        assert_eq!((days.measured(), days.degrees()), (2, 5.0));
        assert!((days.deviation().powi(2) - (3.0 * PRIOR_DEVIATION.powi(2) + 1.0 / 600.0) / 5.0).abs() < 1e-12);
        // Means 0, 0, 0.1 show more than the prior, and count alone.
        let apart = of([0.0, 0.0, 0.1, 0.1]);
        assert_eq!((apart.measured(), apart.degrees(), apart.assumed()), (2, 2.0, 0.0));
        assert!((apart.deviation().powi(2) - 0.01 / 3.0).abs() < 1e-12);
        // Two pairs that differ by 0.1 and 0.11 add one degree and 0.00005; by 0.1 and 0.3 they count alone, as four do.
        let paired = days.paired(&[0.1, 0.11]);
        assert!((paired.deviation().powi(2) - (5.0 * 2.0 * days.deviation().powi(2) + 0.00005) / 6.0).abs() < 1e-12);
        let paired = days.paired(&[0.1, 0.3]);
        assert!((paired.deviation().powi(2) - 0.02).abs() < 1e-12 && paired.degrees() == 1.0);
        let paired = days.paired(&[0.1, 0.11, 0.1, 0.11]);
        assert!((paired.deviation().powi(2) - 0.0001 / 3.0).abs() < 1e-12 && paired.degrees() == 3.0);
        assert!(days.paired(&[0.1; 4]).deviation() > 0.01, "equal differences are no certainty");
    }

    #[test]
    fn models_of_one_unit_each_differ_where_they_differ_twofold() {
        let half = specimens(0.95, 2, 0.0).unwrap();
        assert!((half.exp() - 1.964).abs() < 1e-3, "{half}");
        assert!(specimens(0.95, 1, 0.0).unwrap() < specimens(0.95, 1, 0.01).unwrap());
        assert_eq!(specimens(1.0, 2, 0.0), None);
    }

    #[test]
    fn a_further_unit_differs_as_units_do_and_as_is_assumed_of_few() {
        // Logarithms -0.1, 0, 0.1: variance 0.01; t(2) at 97.5 % is 4.3027, times sqrt(0.01 * 4/3).
        let (low, high) = further_unit(0.95, 3, 0.0, Some(0.01)).unwrap();
        assert!((high.ln() - 4.3027 * (0.01f64 * 4.0 / 3.0).sqrt()).abs() < 1e-4 && (low * high - 1.0).abs() < 1e-9);
        // One unit: 15 % with three degrees of freedom, of two units together.
        let (_, high) = further_unit(0.95, 1, 0.0, None).unwrap();
        assert!((high.ln() - 3.1824 * 0.15 * 2f64.sqrt()).abs() < 1e-4);
        assert_eq!(between_units(2, Some(0.04)).1, 4.0);
        assert!((between_units(2, Some(0.04)).0 - (3.0 * 0.0225 + 0.04) / 4.0).abs() < 1e-12);
        assert_eq!((further_unit(0.95, 0, 0.0, None), further_unit(1.0, 3, 0.0, Some(0.01))), (None, None));
    }

    /// The share of 4,000 pairs of equal units that are distinguished, with `n` and `m` runs, each on a day of its own.
    fn told_apart(n: usize, m: usize, deviation: f64) -> f64 {
        const NAMES: [&str; 6] = ["1", "2", "3", "4", "5", "6"];
        let mut random = Lehmer::new(17);
        let wrong = (0..4000).filter(|_| {
            let mut unit = |runs: usize| -> Vec<[f64; 3]> {
                let of = |_| {
                    let day = deviation * random.normal();
                    [(); 3].map(|()| (day + 0.01 * random.normal()).exp())
                };
                (0..runs).map(of).collect()
            };
            let (a, b) = (unit(n), unit(m));
            let days =
                RunVariance::of([&a, &b].map(|runs| {
                    runs.iter().zip(NAMES).map(|(values, day)| RunOfDay { values, day: Some(day) }).collect()
                }));
            let mean = |runs: &[[f64; 3]]| runs.iter().flatten().map(|v| v.ln()).sum::<f64>() / (3 * runs.len()) as f64;
            let half = days.half(0.95, 1.0 / n as f64 + 1.0 / m as f64).unwrap();
            (mean(&a) - mean(&b)).abs() > half
        });
        wrong.count() as f64 / 4000.0
    }

    /// One standard error of 4,000 at 5 %.
    const CHANCE: f64 = 0.0034;

    #[test]
    fn equal_units_are_told_apart_in_at_most_5_of_100() {
        for (n, m) in [(1, 1), (3, 1), (5, 1), (3, 3), (6, 6)] {
            for deviation in [0.0, 0.01, 0.03, 0.05] {
                let share = told_apart(n, m, deviation);
                assert!(share <= 0.05 + 0.015 + CHANCE, "{n} {m} {deviation}: {share}");
            }
        }
    }

    #[test]
    fn intervals_of_enough_days_hold_what_they_claim_however_much_days_differ() {
        for (n, m) in [(5, 1), (3, 3), (6, 6)] {
            for deviation in [0.0, 0.01, 0.03, 0.05] {
                let share = told_apart(n, m, deviation);
                assert!((share - 0.05).abs() <= 3.0 * CHANCE, "{n} {m} {deviation}: {share}");
            }
        }
    }

    /// Runs on a disturbed host differ by much more than is assumed of days. One run of each unit shows nothing of it; of one
    /// and two the single degree of freedom is below the prior by chance in 1 of 10.
    #[test]
    fn days_that_differ_by_more_than_is_assumed_are_rarely_told_apart() {
        for (n, m, most) in [(2, 1, 0.115), (2, 2, 0.065), (3, 1, 0.065), (4, 1, 0.065), (3, 2, 0.065)] {
            for deviation in [0.08, 0.12, 0.2, 0.4] {
                let share = told_apart(n, m, deviation);
                assert!(share <= most + CHANCE, "{n} {m} {deviation}: {share}");
            }
        }
    }

    #[test]
    fn runs_of_one_day_and_copies_of_a_figure_do_not_say_what_days_do() {
        let values: Vec<[f64; 1]> = (0..6).map(|at| [(0.01 * f64::from(at)).exp()]).collect();
        let assumed = |day: fn(usize) -> Option<&'static str>, values: &[[f64; 1]]| {
            let runs = values.iter().enumerate().map(|(at, values)| RunOfDay { values, day: day(at) });
            RunVariance::of([runs.collect()]).assumed()
        };
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "5", "6"][at]), &values), 0.0);
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "5", "5"][at]), &values), 0.0);
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "4", "4"][at]), &values), PRIOR_DEGREES);
        assert_eq!(assumed(|_| Some("1"), &values), PRIOR_DEGREES);
        assert_eq!(assumed(|_| None, &values), PRIOR_DEGREES);
        let one_day = values.iter().map(|values| RunOfDay { values, day: Some("1") }).collect();
        assert_eq!(RunVariance::of([one_day]).measured(), 0, "six runs of a day are one value");
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "5", "6"][at]), &[[7.0]; 6]), PRIOR_DEGREES);
        assert_eq!([1, 2, 3, 6].map(RunVariance::assumed_beside), [PRIOR_DEGREES, PRIOR_DEGREES, 0.0, 0.0]);
    }

    #[test]
    fn one_run_holds_what_days_are_assumed_to_do() {
        // Logarithms -0.01, 0, 0.01: squared error of the mean 0.0001 / 3. t(3) at 97.5 % is 3.1824.
        let run: Vec<f64> = [-0.01f64, 0.0, 0.01].iter().map(|y| 1000.0 * y.exp()).collect();
        let over = OverDays::from_runs(&[RunOfDay::undated(&run)]).unwrap();
        let half = 3.1824 * (PRIOR_DEVIATION.powi(2) + 0.0001 / 3.0).sqrt();
        let (low, high) = over.interval(0.95).unwrap();
        assert!((over.value() - 1000.0).abs() < 1e-9);
        assert!(
            ((1000.0 / low).ln() - half).abs() < 1e-5 && ((high / 1000.0).ln() - half).abs() < 1e-5,
            "{low} {high}"
        );
        // t(3) at 95 % is 2.3534.
        assert!(((1000.0 / over.bounds(0.95).unwrap().0).ln() / half - 2.3534 / 3.1824).abs() < 1e-4);
    }

    /// Repeats that differ much: 1 882 to 16 856 in the run were told as 3 171 to 10 003 over days.
    #[test]
    fn many_days_are_not_known_better_than_the_one_that_was_measured() {
        for n in 2..12 {
            for spread in [0.001f64, 0.01, 0.03, 0.1, 0.5, 1.0] {
                let at = |i: usize| 1000.0 * (spread * if i.is_multiple_of(2) { 1.0 } else { -1.0 }).exp();
                let run: Vec<f64> = (0..n).map(at).collect();
                let over = OverDays::from_runs(&[RunOfDay::undated(&run)]).unwrap().interval(0.95).unwrap();
                let today = geometric_until_known(&run).unwrap();
                let (low, high) = (today.low.unwrap(), today.high.unwrap());
                assert!(
                    over.0 <= low * (1.0 + 1e-9) && over.1 >= high * (1.0 - 1e-9),
                    "{n} {spread}: {over:?} {low} {high}"
                );
            }
        }
    }

    #[test]
    fn runs_count_and_not_their_repeats() {
        let of = |a: f64, b: f64| {
            let (a, b) = ([a; 2], [b; 3]);
            let dated = [(&a[..], "1"), (&[], "2"), (&b, "3")];
            OverDays::from_runs(&dated.map(|(values, day)| RunOfDay { values, day: Some(day) })).unwrap()
        };
        let over = of(98.0, 102.0);
        assert!((over.value() - (98.0f64 * 102.0).sqrt()).abs() < 1e-9);
        // Two runs: one degree of freedom beside the three of the prior.
        let squares = |a: f64, b: f64| (b / a).ln().powi(2) / 2.0;
        let (error, degrees) = over.error().unwrap();
        assert_eq!(degrees, 4.0);
        assert!((error - (3.0 * PRIOR_DEVIATION.powi(2) + squares(98.0, 102.0)) / 4.0 / 2.0).abs() < 1e-12);
        // Days that differ by more than the prior says count alone.
        let (error, degrees) = of(90.0, 110.0).error().unwrap();
        assert!(degrees == 1.0 && (error - squares(90.0, 110.0) / 2.0).abs() < 1e-12, "{error} {degrees}");
    }

    /// Ten runs of an afternoon narrow nothing: they were told as ten days.
    #[test]
    fn runs_of_one_day_say_no_more_than_one() {
        let runs: Vec<[f64; 2]> = (0..10).map(|at| [1000.0 + f64::from(at), 1001.0 + f64::from(at)]).collect();
        let of = |n: usize, day: Option<&'static str>| {
            let runs: Vec<RunOfDay<'_>> = runs[..n].iter().map(|values| RunOfDay { values, day }).collect();
            let (low, high) = OverDays::from_runs(&runs).unwrap().interval(0.95).unwrap();
            high / low
        };
        for day in [Some("2026-01-01"), None] {
            assert!((of(10, day) / of(1, day) - 1.0).abs() < 1e-3, "{} {}", of(10, day), of(1, day));
        }
    }

    /// The assumed deviation of days is no bound: the mean of runs that differ by a factor of 56 is known no better than
    /// they allow.
    #[test]
    fn runs_of_one_day_that_differ_much_are_known_no_better() {
        let of = |means: &[f64]| {
            let values: Vec<[f64; 2]> = means.iter().map(|mean| [mean * 0.999, mean * 1.001]).collect();
            let runs: Vec<RunOfDay<'_>> =
                values.iter().map(|values| RunOfDay { values, day: Some("2026-01-01") }).collect();
            OverDays::from_runs(&runs).unwrap().interval(0.95).unwrap()
        };
        let (low, high) = of(&[215.0, 12_143.0]);
        assert!(low < 215.0 && high > 12_143.0, "{low} {high}");
        let (low, high) = of(&[500.0, 1000.0, 2000.0]);
        // Student's interval of three: 4.303 times ln 2 over the root of 3.
        let half = 4.3027 * 2f64.ln() / 3f64.sqrt();
        assert!((low.ln() - (1000f64.ln() - half)).abs() < 1e-3, "{low}");
        assert!((high.ln() - (1000f64.ln() + half)).abs() < 1e-3, "{high}");
    }

    #[test]
    fn one_value_has_no_interval_and_no_value_no_mean() {
        let one = OverDays::from_runs(&[RunOfDay::undated(&[5.0])]).unwrap();
        assert_eq!((one.interval(0.95), one.error()), (None, None));
        for bad in [&[][..], &[0.0, 1.0], &[f64::NAN], &[-1.0], &[f64::INFINITY]] {
            assert_eq!(OverDays::from_runs(&[RunOfDay::undated(bad)]), None);
        }
        assert_eq!(OverDays::from_runs(&[]), None);
        assert_eq!(OverDays::from_runs(&[RunOfDay::undated(&[1.0, 2.0])]).unwrap().interval(1.5), None);
    }

    const NAMES: [&str; 6] = ["1", "2", "3", "4", "5", "6"];

    /// The share of 4,000 pairs of equal units that are distinguished, where days vary by deviations `a` and `b`.
    fn two_units_told_apart((n, m): (usize, usize), (a, b): (f64, f64)) -> f64 {
        let mut random = Lehmer::new(23);
        let wrong = (0..4000).filter(|_| {
            let mut unit = |n: usize, deviation: f64| -> Vec<[f64; 1]> {
                (0..n).map(|_| [(deviation * random.normal()).exp()]).collect()
            };
            let (x, y) = (unit(n, a), unit(m, b));
            let [x, y] = [&x, &y]
                .map(|runs| days(runs.iter().zip(NAMES).map(|(values, day)| RunOfDay { values, day: Some(day) })));
            let mean = |days: &[Day<'_>]| days.iter().map(Day::log_mean).sum::<f64>() / days.len() as f64;
            (mean(&x) - mean(&y)).abs() > half_between(&x, &y, 0.95).unwrap().0
        });
        wrong.count() as f64 / 4000.0
    }

    #[test]
    fn units_whose_days_differ_unlike_are_not_told_apart_more_often() {
        // One standard error is 0.0034.
        for (n, deviations) in [
            ((3, 3), (0.06, 0.005)),
            ((6, 3), (0.005, 0.06)),
            ((1, 5), (0.05, 0.005)),
            ((2, 6), (0.05, 0.005)),
            ((1, 4), (0.3, 0.3)),
            ((2, 4), (0.4, 0.4)),
            ((2, 2), (0.3, 0.3)),
            ((2, 3), (0.2, 0.2)),
        ] {
            let share = two_units_told_apart(n, deviations);
            assert!(share <= 0.065 + 0.0034, "{n:?} {deviations:?}: {share}");
        }
        for n in [(1, 1), (3, 1), (3, 3), (6, 6), (3, 6)] {
            let share = two_units_told_apart(n, (0.03, 0.03));
            assert!(share <= 0.065, "{n:?}: {share}");
        }
    }

    #[test]
    fn days_that_nobody_knows_and_copies_are_judged_with_what_is_assumed() {
        let values = [[1.0], [1.1], [1.2], [1.0]];
        let of = |name: fn(usize) -> Option<&'static str>, values: &[[f64; 1]]| {
            let unit = || days(values.iter().enumerate().map(|(at, values)| RunOfDay { values, day: name(at) }));
            half_between(&unit(), &unit(), 0.95).map(|(_, assumed)| assumed > 0.0)
        };
        assert_eq!(of(|at| Some(NAMES[at]), &values), Some(false));
        assert_eq!(of(|_| None, &values), Some(true));
        assert_eq!(of(|at| Some(NAMES[at]), &[[1.0]; 4]), Some(true));
        assert_eq!(half_between(&[], &days([RunOfDay::undated(&[1.0])]), 0.95), None);
    }
}
