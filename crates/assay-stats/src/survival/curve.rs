//! The share of units that last longer than a time, with its interval (Kaplan and Meier 1958).

use assay_core::estimate::Estimate;
use statrs::distribution::{ContinuousCDF, Normal};

use super::lifetime::{Lifetime, Row, beta_quantile, rows};

/// With fewer failures the interval is that of the beta product, which holds with any number; from here on that of the logarithm
/// of the hazard, which is narrower and holds too.
pub const EXACT_BELOW: u32 = 20;

const EXACT: &str = "Kaplan-Meier, beta product interval";
const LARGE: &str = "Kaplan-Meier, Greenwood's error on log(-log)";

/// What happened at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The time.
    pub time: f64,
    /// Units that were seen until here.
    pub at_risk: u32,
    /// Units that failed here.
    pub failed: u32,
    /// Units last seen here.
    pub censored: u32,
    /// The share that lasts longer.
    pub survival: f64,
    /// Greenwood's sum; infinite where nothing is left.
    greenwood: f64,
    /// Mean and mean square of the product of beta variables, one for each failure.
    moments: (f64, f64),
}

/// A time by which a share of the units failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// The estimate; `None` where fewer failed.
    pub point: Option<f64>,
    /// It is at least this.
    pub low: f64,
    /// It is at most this; `None` where these units set no bound.
    pub high: Option<f64>,
}

/// The curve of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    steps: Vec<Step>,
    n: u32,
    failed: u32,
}

impl Curve {
    /// The curve; `None` without a unit, and of times that are no numbers.
    #[must_use]
    pub fn new(lifetimes: &[Lifetime]) -> Option<Self> {
        let rows = rows(lifetimes)?;
        let n = rows.first()?.at_risk;
        let (mut survival, mut greenwood, mut moments) = (1.0, 0.0, (1.0, 1.0));
        let step = |row: Row| {
            let (y, d) = (f64::from(row.at_risk), f64::from(row.failed));
            if row.failed > 0 {
                survival *= (y - d) / y;
                greenwood += if row.failed == row.at_risk { f64::INFINITY } else { d / (y * (y - d)) };
                // Of d failures among y the share that is left has the distribution Beta(y - d + 1, d).
                let a = y - d + 1.0;
                moments = (moments.0 * a / (y + 1.0), moments.1 * a * (a + 1.0) / ((y + 1.0) * (y + 2.0)));
            }
            let Row { time, at_risk, failed, censored } = row;
            Step { time, at_risk, failed, censored, survival, greenwood, moments }
        };
        let steps: Vec<Step> = rows.into_iter().map(step).collect();
        let failed = steps.iter().map(|step| step.failed).sum();
        Some(Self { steps, n, failed })
    }

    /// What happened, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Units.
    #[must_use]
    pub fn n(&self) -> u32 {
        self.n
    }

    /// Units that failed.
    #[must_use]
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// The time to which the curve is known: that of the longest unit, and without end where all failed.
    #[must_use]
    pub fn known_to(&self) -> f64 {
        self.steps.last().map_or(0.0, |last| if last.survival == 0.0 { f64::INFINITY } else { last.time })
    }

    fn before(&self, time: f64) -> Option<&Step> {
        self.steps[..self.steps.partition_point(|step| step.time <= time)].last()
    }

    /// Units that are still watched after a time.
    #[must_use]
    pub fn watched_after(&self, time: f64) -> u32 {
        self.before(time).map_or(self.n, |step| step.at_risk - step.failed - step.censored)
    }

    /// The share that lasts longer than a time.
    #[must_use]
    pub fn survival(&self, time: f64) -> f64 {
        self.before(time).map_or(1.0, |step| step.survival)
    }

    /// Greenwood's error of the share.
    #[must_use]
    pub fn error(&self, time: f64) -> f64 {
        self.before(time).map_or(
            0.0,
            |step| {
                if step.survival == 0.0 { 0.0 } else { step.survival * step.greenwood.sqrt() }
            },
        )
    }

    /// Greenwood's interval on the logarithm of the cumulative hazard (Kalbfleisch and Prentice 1980); `None` where all or none
    /// are left.
    #[must_use]
    pub fn log_log(&self, time: f64, level: f64) -> Option<(f64, f64)> {
        let step = self.before(time).filter(|step| step.survival > 0.0 && step.survival < 1.0)?;
        let z = Normal::standard().inverse_cdf((1.0 + level) / 2.0);
        let log = step.survival.ln();
        let reach = z * step.greenwood.sqrt() / log;
        let ends = (step.survival.powf(reach.exp()), step.survival.powf((-reach).exp()));
        Some((ends.0.min(ends.1), ends.0.max(ends.1)))
    }

    /// The beta product interval by the method of moments (Fay, Brittain and Proschan 2013, Biostatistics 14): without censoring it
    /// is the exact one of Clopper and Pearson. Its lower end allows for a failure just after the time.
    #[must_use]
    pub fn beta_product(&self, time: f64, level: f64) -> (f64, f64) {
        let side = (1.0 - level) / 2.0;
        let (mean, square) = self.before(time).map_or((1.0, 1.0), |step| step.moments);
        let left = f64::from(self.watched_after(time));
        let next = (mean * left / (left + 1.0), square * left / (left + 2.0));
        (of_moments(next, side), of_moments((mean, square), 1.0 - side))
    }

    /// The interval that is shown.
    #[must_use]
    pub fn interval(&self, time: f64, level: f64) -> (f64, f64) {
        let large = (self.failed >= EXACT_BELOW).then(|| self.log_log(time, level)).flatten();
        large.unwrap_or_else(|| self.beta_product(time, level))
    }

    /// How the interval is made, in words.
    #[must_use]
    pub fn method(&self) -> &'static str {
        if self.failed >= EXACT_BELOW { LARGE } else { EXACT }
    }

    /// The share that lasts longer than a time; `None` beyond the last unit, where nothing is known.
    #[must_use]
    pub fn at(&self, time: f64, level: f64) -> Option<Estimate> {
        if time > self.known_to() {
            return None;
        }
        let (low, high) = self.interval(time, level);
        Some(Estimate {
            point: self.survival(time),
            low: Some(low),
            high: Some(high),
            level: Some(level),
            n: self.n,
            method: self.method().to_owned(),
        })
    }

    /// The time by which a share of the units failed, with the times at which the interval of the curve holds what is left
    /// (Brookmeyer and Crowley 1982).
    #[must_use]
    pub fn quantile(&self, share: f64, level: f64) -> Quantile {
        let left = 1.0 - share;
        // The share of units is a ratio of whole numbers: 0.5 of a product of them is 0.5 but for rounding.
        let slack = 1e-12;
        let first = |holds: &dyn Fn(f64) -> bool| {
            std::iter::once(0.0).chain(self.steps.iter().map(|step| step.time)).find(|time| holds(*time))
        };
        Quantile {
            point: self.steps.iter().find(|step| step.survival <= left + slack).map(|step| step.time),
            low: first(&|time| self.interval(time, level).0 <= left).unwrap_or(0.0),
            high: first(&|time| self.interval(time, level).1 < left),
        }
    }
}

/// A quantile of the beta distribution of this mean and mean square.
fn of_moments((mean, square): (f64, f64), p: f64) -> f64 {
    let variance = square - mean * mean;
    if variance <= 0.0 {
        return mean;
    }
    let both = mean * (1.0 - mean) / variance - 1.0;
    beta_quantile(mean * both, (1.0 - mean) * both, p)
}

#[cfg(test)]
mod tests {
    use super::super::clopper_pearson;
    use super::*;
    use crate::random::Generator;

    fn curve(failed: &[f64], censored: &[f64]) -> Curve {
        let failed = failed.iter().map(|time| Lifetime::failed(*time, 0));
        Curve::new(&failed.chain(censored.iter().map(|time| Lifetime::censored(*time))).collect::<Vec<_>>()).unwrap()
    }

    /// Collett 2003, "Modelling Survival Data", table 2.2: 18 users of a device, 9 of whom stopped.
    #[test]
    fn a_published_curve() {
        let failed = [10.0, 19.0, 30.0, 36.0, 59.0, 75.0, 93.0, 97.0, 107.0];
        let curve = curve(&failed, &[13.0, 18.0, 23.0, 38.0, 54.0, 56.0, 104.0, 107.0, 107.0]);
        for (time, share, error) in [(10.0, 0.9444, 0.0540), (59.0, 0.6526, 0.1303), (107.0, 0.2486, 0.1392)] {
            assert!((curve.survival(time) - share).abs() < 5e-5, "{time}: {}", curve.survival(time));
            assert!((curve.error(time) - error).abs() < 5e-5, "{time}: {}", curve.error(time));
        }
        assert_eq!(curve.quantile(0.5, 0.95).point, Some(93.0));
        assert_eq!(curve.at(108.0, 0.95), None);
    }

    #[test]
    fn without_censoring_the_interval_is_exact() {
        let curve = curve(&[1.0, 2.0, 3.0, 4.0, 4.0, 6.0, 7.0], &[]);
        for (time, left) in [(0.5, 7.0), (1.0, 6.0), (3.5, 4.0), (4.0, 2.0), (6.0, 1.0), (7.0, 0.0)] {
            let (own, exact) = (curve.beta_product(time, 0.95), clopper_pearson(left, 7.0, 0.95));
            assert!((own.0 - exact.0).abs() < 1e-9 && (own.1 - exact.1).abs() < 1e-9, "{time}: {own:?} {exact:?}");
        }
        assert_eq!(curve.at(1e9, 0.95).unwrap().point, 0.0, "all have failed, and stay so");
    }

    #[test]
    fn few_units_leave_the_median_open() {
        let three = curve(&[1.0, 2.0, 3.0], &[]).quantile(0.5, 0.95);
        assert_eq!((three.point, three.low, three.high), (Some(2.0), 0.0, None));
        let six = curve(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[]).quantile(0.5, 0.95);
        assert_eq!((six.point, six.low, six.high), (Some(3.0), 1.0, Some(6.0)), "as order statistics have it");
        let none = curve(&[], &[5.0, 6.0]).quantile(0.5, 0.95);
        assert_eq!((none.point, none.low, none.high), (None, 0.0, None));
    }

    /// Share of 2,000 campaigns in which the interval holds the true share, over times at which 10 to 90 % failed; and the share in
    /// which that of the median holds the true one.
    fn coverage(units: usize, shape: f64, cut: f64, interval: fn(&Curve, f64) -> (f64, f64)) -> (Vec<f64>, f64) {
        let shares = [0.1, 0.3, 0.5, 0.7, 0.9];
        let time = |left: f64| (-left.ln()).powf(1.0 / shape);
        let mut generator = Generator::new(units as u64 + (shape * 10.0) as u64 * 100);
        let (mut held, mut known, mut median) = ([0u32; 5], [0u32; 5], 0u32);
        for _ in 0..2000 {
            let lives: Vec<Lifetime> = (0..units)
                .map(|_| {
                    let life = generator.exponential().powf(1.0 / shape);
                    let end = if cut > 0.0 { generator.exponential() / cut } else { f64::INFINITY };
                    if life <= end { Lifetime::failed(life, 0) } else { Lifetime::censored(end) }
                })
                .collect();
            let curve = Curve::new(&lives).unwrap();
            for (at, left) in shares.iter().enumerate() {
                if time(*left) <= curve.known_to() {
                    let (low, high) = interval(&curve, time(*left));
                    known[at] += 1;
                    held[at] += u32::from(low <= *left && *left <= high);
                }
            }
            let seen = curve.quantile(0.5, 0.95);
            median += u32::from(seen.low <= time(0.5) && seen.high.is_none_or(|high| high >= time(0.5)));
        }
        // A time that hardly any campaign reaches says nothing about the method.
        let share = |at: usize| if known[at] < 200 { 1.0 } else { f64::from(held[at]) / f64::from(known[at]) };
        ((0..5).map(share).collect(), f64::from(median) / 2000.0)
    }

    #[test]
    fn intervals_of_few_units_hold() {
        let (mut least, mut least_median, mut least_large) = (1.0f64, 1.0f64, 1.0f64);
        for units in 3..=10 {
            for shape in [0.5, 1.0, 3.0] {
                for cut in [0.0, 0.3, 1.0] {
                    let (shares, median) = coverage(units, shape, cut, |curve, time| curve.interval(time, 0.95));
                    println!("{units} units, shape {shape}, cut {cut}: {shares:.3?}, median {median:.3}");
                    least = shares.into_iter().fold(least, f64::min);
                    least_median = least_median.min(median);
                    let other = |curve: &Curve, time: f64| curve.log_log(time, 0.95).unwrap_or((0.0, 1.0));
                    least_large = coverage(units, shape, cut, other).0.into_iter().fold(least_large, f64::min);
                }
            }
        }
        println!("least: beta product {least}, median {least_median}, log(-log) {least_large}");
        assert!(least >= 0.94 && least_median >= 0.94, "{least} {least_median}");
        assert!(least_large < 0.94, "the simple interval would do: {least_large}");
    }

    #[test]
    fn intervals_of_many_units_hold() {
        for (units, shape, cut) in [(25, 1.0, 0.0), (40, 3.0, 0.3), (60, 0.5, 1.0)] {
            let (shares, median) = coverage(units, shape, cut, |curve, time| curve.interval(time, 0.95));
            println!("{units} units, shape {shape}, cut {cut}: {shares:.3?}, median {median:.3}");
            // Three standard errors of 95 % over 2,000 are 1.5 %.
            assert!(shares.iter().chain([&median]).all(|share| *share >= 0.93), "{units}: {shares:?} {median}");
        }
    }
}
