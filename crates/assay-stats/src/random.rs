//! Random numbers from a seed: the one generator of all draws.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of draws that depends on its seed alone (xoshiro256++, Blackman and Vigna 2021).
#[derive(Debug, Clone)]
pub struct Generator {
    source: Xoshiro256PlusPlus,
    spare: Option<f64>,
}

impl Generator {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { source: Xoshiro256PlusPlus::seed_from_u64(seed), spare: None }
    }

    /// From 0 to below 1, in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.source.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Above 0 and below 1.
    pub fn inside(&mut self) -> f64 {
        ((self.source.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// A whole number below `limit`, which is at least 1. Whole-number arithmetic only, so that a
    /// plan is the same on every platform.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u64;
        // Numbers of the incomplete last turn are drawn again, else small results would be favoured.
        let whole = u64::MAX - u64::MAX % limit;
        loop {
            let value = self.source.next_u64();
            if value < whole {
                return (value % limit) as usize;
            }
        }
    }

    /// In random order (Fisher and Yates; Durstenfeld 1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }

    /// Standard normal (polar method, Marsaglia and Bray 1964).
    pub fn normal(&mut self) -> f64 {
        if let Some(value) = self.spare.take() {
            return value;
        }
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// Standard exponential.
    pub fn exponential(&mut self) -> f64 {
        -self.inside().ln()
    }

    /// Gamma of `shape` and scale 1 (Marsaglia and Tsang 2000, with their boost below shape 1).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.inside().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.inside().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Chi-squared with `degrees` of freedom.
    pub fn chi_squared(&mut self, degrees: f64) -> f64 {
        2.0 * self.gamma(degrees / 2.0)
    }

    /// Chi-squared with a whole number of degrees, 0 for none; one and two degrees directly, which takes less time.
    pub fn chi_squared_whole(&mut self, degrees: u32) -> f64 {
        match degrees {
            0 => 0.0,
            1 => self.normal().powi(2),
            2 => 2.0 * self.exponential(),
            _ => self.chi_squared(f64::from(degrees)),
        }
    }
}

// The generator of the reference vectors: a series that any language can make again.

/// Lehmer's generator with the multiplier 48271 (Park, Miller and Stockmeyer 1993).
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Lehmer(u64);

#[cfg(test)]
impl Lehmer {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next value, between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    /// About normal: the sum of twelve, less six.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(n: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64)
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        // 20 000 draws: five standard errors of the mean are 0.035 standard deviations, of the
        // variance at most 0.09 of it (kurtosis of the exponential: 9).
        let mut g = Generator::new(7);
        let near = |(m, v): (f64, f64), mean: f64, variance: f64| {
            assert!((m - mean).abs() < 0.04 * variance.sqrt(), "mean {m} of {mean}");
            assert!((v / variance - 1.0).abs() < 0.10, "variance {v} of {variance}");
        };
        near(moments(20_000, || g.uniform()), 0.5, 1.0 / 12.0);
        near(moments(20_000, || g.normal()), 0.0, 1.0);
        near(moments(20_000, || g.exponential()), 1.0, 1.0);
        near(moments(20_000, || g.chi_squared(1.0)), 1.0, 2.0);
        near(moments(20_000, || g.chi_squared(7.0)), 7.0, 14.0);
    }

    #[test]
    fn moments_of_whole_degrees() {
        // 40 000 draws: four standard errors of the mean are 0.02 deviations, of the variance of
        // chi-square(1) 4 * sqrt(60 - 4) / 200 = 0.15 (fourth central moment 60).
        let mut g = Generator::new(1);
        for degrees in [1, 2, 3, 9] {
            let f = f64::from(degrees);
            let (mean, variance) = moments(40_000, || g.chi_squared_whole(degrees));
            assert!((mean - f).abs() < 0.02 * (2.0 * f).sqrt(), "{degrees}: {mean}");
            assert!((variance / (2.0 * f) - 1.0).abs() < 0.08, "{degrees}: {variance}");
        }
        assert_eq!(g.chi_squared_whole(0), 0.0);
    }

    #[test]
    fn whole_numbers_are_even_and_a_shuffle_keeps_all() {
        let mut g = Generator::new(3);
        let mut counts = [0; 6];
        (0..60_000).for_each(|_| counts[g.below(6)] += 1);
        assert!(counts.iter().all(|c| (9_500..10_500).contains(c)), "{counts:?}");
        let mut items: Vec<usize> = (0..20).collect();
        g.shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
