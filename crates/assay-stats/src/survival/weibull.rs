//! Weibull's distribution by maximum likelihood, with intervals of the profile likelihood. Only of many failures: with few of
//! them any shape fits.

use assay_core::estimate::Estimate;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::lifetime::Lifetime;

/// Failures that it takes (Jeng and Meeker 2000, Technometrics 42: likelihood ratios hold down to 20 to 30).
pub const WEIBULL_FROM: u32 = 20;

const METHOD: &str = "Weibull by maximum likelihood, profile likelihood interval";
/// Shapes beyond these are no lives of media.
const SHAPES: (f64, f64) = (1e-3, 1e3);

/// A fitted distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Weibull {
    shape: f64,
    /// On the scale of the times.
    scale: f64,
    likelihood: f64,
    sums: Sums,
}

/// Times over their geometric mean, so that powers of them stay in range.
#[derive(Debug, Clone, PartialEq)]
struct Sums {
    logs: Vec<f64>,
    /// Mean logarithm of all times.
    middle: f64,
    failed: f64,
    /// Sum of the logarithms of failures, over the middle.
    failed_logs: f64,
    n: u32,
}

impl Sums {
    fn new(lifetimes: &[Lifetime]) -> Self {
        let positive: Vec<&Lifetime> = lifetimes.iter().filter(|life| life.time > 0.0).collect();
        let middle = positive.iter().map(|life| life.time.ln()).sum::<f64>() / positive.len() as f64;
        let failures = positive.iter().filter(|life| life.cause.is_some());
        Self {
            failed: failures.clone().count() as f64,
            failed_logs: failures.map(|life| life.time.ln() - middle).sum(),
            logs: positive.iter().map(|life| life.time.ln() - middle).collect(),
            middle,
            n: lifetimes.len() as u32,
        }
    }

    /// Sum of powers, and of powers times logarithms, of times over `exp(by)`.
    fn powers(&self, shape: f64, by: f64) -> (f64, f64) {
        let of = |(sum, logs): (f64, f64), log: &f64| {
            let power = (shape * (log - by)).exp();
            (sum + power, logs + power * (log - by))
        };
        self.logs.iter().fold((0.0, 0.0), of)
    }

    /// Derivative of the profile likelihood by the shape.
    fn slope(&self, shape: f64) -> f64 {
        let (sum, logs) = self.powers(shape, 0.0);
        self.failed / shape + self.failed_logs - self.failed * logs / sum
    }

    /// The likelihood of a shape with the best scale.
    fn profile(&self, shape: f64) -> f64 {
        let (sum, _) = self.powers(shape, 0.0);
        self.failed * (shape.ln() - (sum / self.failed).ln() - 1.0) + (shape - 1.0) * self.failed_logs
    }

    /// The best likelihood where the hazard up to `exp(log)` is `hazard`.
    fn profile_through(&self, log: f64, hazard: f64) -> f64 {
        let slope = |shape: f64| {
            let (_, logs) = self.powers(shape, log);
            self.failed / shape - self.failed * log + self.failed_logs - hazard * logs
        };
        let shape = root(SHAPES, slope);
        let (sum, _) = self.powers(shape, log);
        self.failed * (shape.ln() + hazard.ln() - shape * log) + (shape - 1.0) * self.failed_logs - hazard * sum
    }
}

/// Where a falling function of a positive number is 0, by bisection of its logarithm.
fn root((from, to): (f64, f64), falls: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (from.ln(), to.ln());
    for _ in 0..200 {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            break;
        }
        if falls(middle.exp()) > 0.0 { low = middle } else { high = middle }
    }
    low.midpoint(high).exp()
}

/// The fit; `None` of fewer failures than [`WEIBULL_FROM`], of failures at time 0, and where no shape is best.
#[must_use]
pub fn weibull(lifetimes: &[Lifetime]) -> Option<Weibull> {
    let failed = lifetimes.iter().filter(|life| life.cause.is_some()).count();
    let at_nought = lifetimes.iter().any(|life| life.cause.is_some() && life.time <= 0.0);
    if failed < WEIBULL_FROM as usize || at_nought || lifetimes.iter().any(|life| !life.time.is_finite()) {
        return None;
    }
    let sums = Sums::new(lifetimes);
    if sums.slope(SHAPES.0) <= 0.0 || sums.slope(SHAPES.1) >= 0.0 {
        return None;
    }
    let shape = root(SHAPES, |shape| sums.slope(shape));
    let (sum, _) = sums.powers(shape, 0.0);
    let scale = (sums.middle + (sum / sums.failed).ln() / shape).exp();
    Some(Weibull { shape, scale, likelihood: sums.profile(shape), sums })
}

impl Weibull {
    /// Shape: below 1 failures become rarer with age, above 1 they become more frequent.
    #[must_use]
    pub fn shape(&self, level: f64) -> Estimate {
        let beyond = |shape: f64| self.beyond(self.sums.profile(shape), level);
        self.estimate(self.shape, level, beyond)
    }

    /// The time by which 63 % failed.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The logarithm of the likelihood.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        // Over the middle each density is larger by that factor.
        self.likelihood - self.sums.failed * self.sums.middle
    }

    /// The time by which a share of the units failed.
    #[must_use]
    pub fn quantile(&self, share: f64, level: f64) -> Estimate {
        let hazard = -(1.0 - share).ln();
        let point = self.scale * hazard.powf(1.0 / self.shape);
        let beyond = |time: f64| self.beyond(self.sums.profile_through(time.ln() - self.sums.middle, hazard), level);
        self.estimate(point, level, beyond)
    }

    /// The share that lasts longer than a time above 0.
    #[must_use]
    pub fn survival(&self, time: f64, level: f64) -> Estimate {
        let hazard = (time / self.scale).powf(self.shape);
        let log = time.ln() - self.sums.middle;
        let of = self.estimate(hazard, level, |hazard| self.beyond(self.sums.profile_through(log, hazard), level));
        let left = |hazard: f64| (-hazard).exp();
        Estimate { point: left(of.point), low: of.high.map(left), high: of.low.map(left), ..of }
    }

    /// How far a likelihood lies beyond the interval: above 0 outside.
    fn beyond(&self, likelihood: f64, level: f64) -> f64 {
        let most = ChiSquared::new(1.0).map_or(f64::NAN, |chi| chi.inverse_cdf(level));
        2.0 * (self.likelihood - likelihood) - most
    }

    /// A positive quantity with the ends at which `beyond` is 0.
    fn estimate(&self, point: f64, level: f64, beyond: impl Fn(f64) -> f64) -> Estimate {
        let end = |factor: f64| {
            let mut far = point;
            for _ in 0..200 {
                far *= factor;
                if beyond(far) > 0.0 {
                    let sign = (factor - 1.0).signum();
                    let (from, to) = if sign > 0.0 { (point, far) } else { (far, point) };
                    return Some(root((from, to), |value| -sign * beyond(value)));
                }
            }
            None
        };
        let (low, high) = (end(0.8), end(1.25));
        let method = METHOD.to_owned();
        Estimate { point, low, high, level: Some(level), n: self.sums.n, method }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Generator;

    fn drawn(generator: &mut Generator, units: usize, shape: f64, end: f64) -> Vec<Lifetime> {
        let of = |_| {
            let life = 3000.0 * generator.exponential().powf(1.0 / shape);
            if life <= end { Lifetime::failed(life, 0) } else { Lifetime::censored(end) }
        };
        (0..units).map(of).collect()
    }

    #[test]
    fn of_fewer_than_twenty_failures_there_is_none() {
        let mut generator = Generator::new(1);
        let lives = drawn(&mut generator, 19, 2.0, f64::INFINITY);
        assert_eq!(weibull(&lives), None);
        let more = [lives, drawn(&mut generator, 1, 2.0, f64::INFINITY)].concat();
        assert!(weibull(&more).is_some());
        assert_eq!(weibull(&vec![Lifetime::failed(7.0, 0); 30]), None, "equal lives have no shape");
    }

    #[test]
    fn intervals_hold_and_move_with_the_unit() {
        let mut generator = Generator::new(2);
        let (mut shape, mut median, mut left) = (0, 0, 0);
        let truth = (3000.0 * 2f64.ln().powf(0.5), (-(2000f64 / 3000.0).powi(2)).exp());
        let holds = |estimate: &Estimate, truth: f64| {
            estimate.low.is_some_and(|low| low <= truth) && estimate.high.is_some_and(|high| high >= truth)
        };
        let campaigns = 400;
        for _ in 0..campaigns {
            let lives = drawn(&mut generator, 40, 2.0, 3500.0);
            let Some(fit) = weibull(&lives) else { continue };
            shape += u32::from(holds(&fit.shape(0.95), 2.0));
            median += u32::from(holds(&fit.quantile(0.5, 0.95), truth.0));
            left += u32::from(holds(&fit.survival(2000.0, 0.95), truth.1));
        }
        println!("of {campaigns}: shape {shape}, median {median}, survival {left}");
        // Three standard errors of 95 % over 400 are 3.3 %.
        assert!([shape, median, left].iter().all(|held| *held >= 367), "{shape} {median} {left}");
        let lives = drawn(&mut generator, 40, 2.0, 3500.0);
        let larger: Vec<Lifetime> = lives.iter().map(|life| Lifetime { time: life.time * 1e12, ..*life }).collect();
        let (one, other) = (weibull(&lives).unwrap(), weibull(&larger).unwrap());
        assert!((one.scale() * 1e12 / other.scale() - 1.0).abs() < 1e-9);
        assert!((one.shape(0.95).low.unwrap() / other.shape(0.95).low.unwrap() - 1.0).abs() < 1e-9);
    }
}
