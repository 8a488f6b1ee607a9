//! The variance of runs of one unit from day to day, beyond the spread of the repeats of a run, and the variance
//! between units of one model.
//!
//! The repeats of a run share its temperature, the state of the flash and the other load of the host, so their spread
//! does not cover another day. For two runs of one card, whose days differ by 3 %, an interval over repeats calls more
//! than half different (simulated, `make calibrate`). The variance that units showed over several days is used, beside
//! a prior with the weight of three further days. Enough days are used without the prior, and so are fewer days that
//! differ by more than the prior.

use statrs::distribution::{ContinuousCDF, StudentsT};

pub use crate::days::Run;
use crate::days::{Day, days};
use crate::logs::{log_mean, log_squares};

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
    /// 23 of 100 pairs of equal units, each measured on two days, were told apart (simulated below).
    #[must_use]
    pub fn of<'a>(units: impl IntoIterator<Item = Vec<Run<'a>>>) -> Self {
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

#[cfg(test)]
mod tests {
    use super::super::testing::Lehmer;
    use super::*;

    #[test]
    fn without_a_second_day_it_is_the_prior_and_what_repeats_leave() {
        let nothing = RunVariance::of([]);
        assert!((nothing.deviation() - PRIOR_DEVIATION).abs() < 1e-12);
        assert_eq!((nothing.measured(), nothing.degrees()), (0, 3.0));
        // t with three degrees of freedom at 97.5 % is 3.1824.
        assert!((nothing.half(0.95, 2.0).unwrap() - 3.1824 * PRIOR_DEVIATION * 2f64.sqrt()).abs() < 1e-4);
        // Logarithms -0.1, 0, 0.1: variance 0.01, of a mean of three 1/300.
        let run: Vec<f64> = [-0.1f64, 0.0, 0.1].iter().map(|y| y.exp()).collect();
        let one = RunVariance::of([vec![Run::undated(&run)]]);
        assert!((one.deviation().powi(2) - (PRIOR_DEVIATION.powi(2) + 0.01 / 3.0)).abs() < 1e-12);
        assert_eq!(nothing.half(1.5, 1.0), None);
        assert_eq!(RunVariance::of([vec![Run::undated(&[])], vec![]]), nothing);
    }

    #[test]
    fn days_that_were_measured_take_the_place_of_the_prior() {
        // Four runs of one value each, on three days.
        let of = |logarithms: [f64; 4]| {
            let runs = logarithms.map(|y| [y.exp()]);
            let dated = runs.iter().zip(["1", "2", "3", "3"]).map(|(values, day)| Run { values, day: Some(day) });
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

    /// The share of 4,000 pairs of equal units that are told apart, with `n` and `m` runs, each on a day of its own.
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
            let days = RunVariance::of(
                [&a, &b]
                    .map(|runs| runs.iter().zip(NAMES).map(|(values, day)| Run { values, day: Some(day) }).collect()),
            );
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
            let runs = values.iter().enumerate().map(|(at, values)| Run { values, day: day(at) });
            RunVariance::of([runs.collect()]).assumed()
        };
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "5", "6"][at]), &values), 0.0);
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "5", "5"][at]), &values), 0.0);
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "4", "4"][at]), &values), PRIOR_DEGREES);
        assert_eq!(assumed(|_| Some("1"), &values), PRIOR_DEGREES);
        assert_eq!(assumed(|_| None, &values), PRIOR_DEGREES);
        let one_day = values.iter().map(|values| Run { values, day: Some("1") }).collect();
        assert_eq!(RunVariance::of([one_day]).measured(), 0, "six runs of a day are one value");
        assert_eq!(assumed(|at| Some(["1", "2", "3", "4", "5", "6"][at]), &[[7.0]; 6]), PRIOR_DEGREES);
        assert_eq!([1, 2, 3, 6].map(RunVariance::assumed_beside), [PRIOR_DEGREES, PRIOR_DEGREES, 0.0, 0.0]);
    }
}
