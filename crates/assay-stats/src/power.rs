//! The number of values that detects a difference of a stated size in 80 of 100 cases.
//!
//! The deviation of values is known from few of them, so a number computed for the observed deviation promises too
//! much. The power is therefore averaged over the possible true deviations (O'Hagan, Stevens and Campbell 2005,
//! "Assurance in clinical trial design").

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

/// The required probability of detecting the difference.
pub const POWER: f64 = 0.8;
/// The largest number of values considered; larger ones are not practical.
pub const MOST: u32 = 1000;
/// Step of the integral over the logarithm of a deviation, in deviations of it.
const STEP: f64 = 0.25;

/// Ratios of the sample deviation with `degrees` degrees of freedom to the true one, each with its probability: the
/// square root of chi-squared over its degrees. The integrand is analytic and falls off at both ends, where the
/// trapezoidal rule converges geometrically (Trefethen and Weideman 2014).
pub(crate) fn deviations(degrees: f64) -> impl Iterator<Item = (f64, f64)> {
    let spread = 1.0 / (2.0 * degrees).sqrt();
    let step = STEP * spread;
    // The left tail falls as exp(f u), the right one as exp(-f exp(2 u) / 2).
    let (from, to) = (-10.0 * spread - 12.0 / degrees, (10.0 * spread).min(3.0));
    let constant = 2f64.ln() + degrees / 2.0 * (degrees / 2.0).ln() - ln_gamma(degrees / 2.0);
    let steps = ((to - from) / step) as u32;
    let node = move |at: u32| {
        let u = from + f64::from(at) * step;
        (u.exp(), step * (constant + degrees * u - degrees * (2.0 * u).exp() / 2.0).exp())
    };
    (0..=steps).map(node).filter(move |(_, share)| *share > 1e-18 * step)
}

/// The standard normal distribution.
pub(crate) fn phi(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// A deviation of logarithms and the degrees of freedom behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogDeviation {
    /// The deviation, above 0.
    pub value: f64,
    /// Its degrees of freedom, above 0.
    pub degrees: f64,
}

/// A t test with a given number of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// Squared error of the difference, in squared deviations of one value: 2/n for two groups of n.
    pub error: f64,
    /// Degrees of freedom for the deviation.
    pub degrees: f64,
    /// Probability of a false alarm, two-sided.
    pub alpha: f64,
    /// The prior for the deviation, used beside the measured one.
    pub prior: Option<LogDeviation>,
}

impl TTest {
    /// Two groups of `n` values, or one pair of several groups with a shared deviation.
    #[must_use]
    pub fn groups(n: u32, groups: u32, alpha: f64) -> Self {
        let degrees = f64::from(groups) * (f64::from(n) - 1.0);
        Self { error: 2.0 / f64::from(n), degrees, alpha, prior: None }
    }

    /// The probability of detecting a difference of values with standard deviation `deviation`.
    fn finds(&self, difference: f64, deviation: f64) -> f64 {
        let prior = self.prior.unwrap_or(LogDeviation { value: 0.0, degrees: 0.0 });
        let all = prior.degrees + self.degrees;
        let Ok(t) = StudentsT::new(0.0, 1.0, all) else { return 0.0 };
        let critical = t.inverse_cdf(1.0 - self.alpha / 2.0);
        let noncentrality = difference / (deviation * self.error.sqrt());
        let assumed = prior.degrees * (prior.value / deviation).powi(2);
        let over = |seen: f64| critical * ((assumed + self.degrees * seen * seen) / all).sqrt();
        if self.degrees <= 0.0 {
            return phi(noncentrality - over(0.0));
        }
        deviations(self.degrees).map(|(seen, share)| share * phi(noncentrality - over(seen))).sum()
    }

    /// The probability of detecting a difference, averaged over the possible deviations given the observed deviation
    /// `seen`.
    #[must_use]
    pub fn power(&self, difference: f64, seen: LogDeviation) -> f64 {
        let each = deviations(seen.degrees).filter(|(_, share)| *share > 1e-6);
        each.map(|(ratio, share)| share * self.finds(difference, seen.value / ratio)).sum()
    }
}

/// The smallest number of values, at least `least`, with which all tests for that number detect `difference`, a
/// logarithm, with probability [`POWER`]. `None` where it is more than [`MOST`], or where a number is out of range.
#[must_use]
pub fn needed(least: u32, difference: f64, seen: LogDeviation, tests: impl Fn(u32) -> Vec<TTest>) -> Option<u32> {
    let sound = |value: f64| value > 0.0 && value.is_finite();
    if !(sound(difference.abs()) && sound(seen.value) && sound(seen.degrees)) {
        return None;
    }
    let enough = |n: u32| tests(n).iter().all(|test| test.power(difference.abs(), seen) >= POWER);
    // The power grows with the number of values, so bisection finds the smallest.
    let (mut few, mut many) = (least, least.max(1));
    while !enough(many) {
        few = many + 1;
        if many >= MOST {
            return None;
        }
        many = many.saturating_mul(2).min(MOST);
    }
    while few < many {
        let middle = few.midpoint(many);
        if enough(middle) {
            many = middle;
        } else {
            few = middle + 1;
        }
    }
    Some(many)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Lehmer;

    /// As good as known.
    const SURE: f64 = 1e6;

    #[test]
    fn the_power_of_the_t_test_is_that_of_the_tables() {
        // Cohen (1988), "Statistical Power Analysis", table 2.4.1: differences of 0.2, 0.5 and 0.8 deviations take 393, 64
        // and 26 values in each of two groups for 80 % at 5 %, both sides watched.
        for (difference, expected) in [(0.2, 393), (0.5, 64), (0.8, 26)] {
            let seen = LogDeviation { value: 1.0, degrees: SURE };
            let n = needed(2, difference, seen, |n| vec![TTest::groups(n, 2, 0.05)]).unwrap();
            assert!(n.abs_diff(expected) <= 1, "{difference}: {n}");
        }
    }

    #[test]
    fn a_deviation_that_is_hardly_known_takes_more() {
        let units = |degrees| {
            needed(2, 0.1, LogDeviation { value: 0.1, degrees }, |n| vec![TTest::groups(n, 2, 0.05)]).unwrap()
        };
        assert!(units(SURE) < units(10.0) && units(10.0) < units(4.0), "{} {}", units(10.0), units(4.0));
    }

    #[test]
    fn shares_of_deviations_add_up() {
        for degrees in [1.0, 2.0, 4.0, 30.0, SURE] {
            let sum: f64 = deviations(degrees).map(|(_, share)| share).sum();
            let square: f64 = deviations(degrees).map(|(u, share)| u * u * share).sum();
            assert!((sum - 1.0).abs() < 1e-6 && (square - 1.0).abs() < 1e-4, "{degrees}: {sum} {square}");
        }
    }

    #[test]
    fn what_no_number_finds_has_none() {
        let seen = LogDeviation { value: 0.1, degrees: 4.0 };
        let test = |n| vec![TTest::groups(n, 2, 0.05)];
        assert_eq!(needed(2, 1e-4, seen, test), None);
        assert_eq!(needed(2, 0.0, seen, test), None);
        assert_eq!(needed(2, f64::NAN, seen, test), None);
        assert_eq!(needed(2, 0.1, LogDeviation { value: 0.0, ..seen }, test), None);
        assert_eq!(needed(2, 5.0, seen, test), Some(2));
    }

    /// The number that a first sample of five each names is measured, and finds the difference in 80 of 100.
    #[test]
    fn the_number_finds_the_difference_in_80_of_100() {
        let mut random = Lehmer::new(3);
        let mut group = |n: u32, mean: f64| -> Vec<f64> { (0..n).map(|_| mean + 0.1 * random.normal()).collect() };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let squares = |values: &[f64]| values.iter().map(|v| (v - mean(values)).powi(2)).sum::<f64>();
        let mut found = 0;
        for _ in 0..2000 {
            let first = squares(&group(5, 0.0)) + squares(&group(5, 0.0));
            let seen = LogDeviation { value: (first / 8.0).sqrt(), degrees: 8.0 };
            let n = needed(2, 0.15, seen, |n| vec![TTest::groups(n, 2, 0.05)]).unwrap();
            let (a, b) = (group(n, 0.15), group(n, 0.0));
            let degrees = 2 * (n - 1);
            let error = ((squares(&a) + squares(&b)) / f64::from(degrees) * 2.0 / f64::from(n)).sqrt();
            found += usize::from(mean(&a) - mean(&b) > crate::student_t(0.95, degrees).unwrap() * error);
        }
        // One standard error is 0.009; the number is rounded up.
        let share = found as f64 / 2000.0;
        assert!((0.78..0.84).contains(&share), "{share}");
    }
}
