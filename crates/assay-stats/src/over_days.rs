//! What the runs of one unit say of it over many days.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::days::{Day, Run, days};
use crate::interval::{LEVEL, geometric_until_known};
use crate::variation::RunVariance;

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
    pub fn of(runs: &[Run<'_>]) -> Option<Self> {
        let runs: Vec<Run<'_>> = runs.iter().copied().filter(|run| !run.values.is_empty()).collect();
        if runs.is_empty() || runs.iter().any(|run| run.values.iter().any(|v| !v.is_finite() || *v <= 0.0)) {
            return None;
        }
        let days = days(runs.iter().copied());
        let log_mean = days.iter().map(Day::log_mean).sum::<f64>() / days.len() as f64;
        let values: usize = runs.iter().map(|run| run.values.len()).sum();
        // Half the interval of a single run, on logarithms, widened as for repeats that ended when their interval was
        // narrow.
        let of_run = match runs.as_slice() {
            [run] => geometric_until_known(run.values).and_then(|e| e.low.zip(e.high)),
            _ => None,
        };
        let of_run = of_run.map_or(0.0, |(low, high)| (high / low).ln() / 2.0);
        let (count, days) = (days.len() as f64, RunVariance::of_days([days]));
        let error = days.deviation().powi(2) / count;
        // The error over many days is not smaller than that of the measured one. If the repeats vary by more than the
        // assumed variance of days, they determine the error.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variation::PRIOR_DEVIATION;

    #[test]
    fn one_run_holds_what_days_are_assumed_to_do() {
        // Logarithms -0.01, 0, 0.01: squared error of the mean 0.0001 / 3. t(3) at 97.5 % is 3.1824.
        let run: Vec<f64> = [-0.01f64, 0.0, 0.01].iter().map(|y| 1000.0 * y.exp()).collect();
        let over = OverDays::of(&[Run::undated(&run)]).unwrap();
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
                let over = OverDays::of(&[Run::undated(&run)]).unwrap().interval(0.95).unwrap();
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
            OverDays::of(&dated.map(|(values, day)| Run { values, day: Some(day) })).unwrap()
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
            let runs: Vec<Run<'_>> = runs[..n].iter().map(|values| Run { values, day }).collect();
            let (low, high) = OverDays::of(&runs).unwrap().interval(0.95).unwrap();
            high / low
        };
        for day in [Some("2026-01-01"), None] {
            assert!((of(10, day) / of(1, day) - 1.0).abs() < 1e-3, "{} {}", of(10, day), of(1, day));
        }
    }

    #[test]
    fn one_value_has_no_interval_and_no_value_no_mean() {
        let one = OverDays::of(&[Run::undated(&[5.0])]).unwrap();
        assert_eq!((one.interval(0.95), one.error()), (None, None));
        for bad in [&[][..], &[0.0, 1.0], &[f64::NAN], &[-1.0], &[f64::INFINITY]] {
            assert_eq!(OverDays::of(&[Run::undated(bad)]), None);
        }
        assert_eq!(OverDays::of(&[]), None);
        assert_eq!(OverDays::of(&[Run::undated(&[1.0, 2.0])]).unwrap().interval(1.5), None);
    }
}
