//! Normal and chi-square draws from a seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of draws that depends on its seed alone.
#[derive(Debug)]
pub(super) struct Draws {
    generator: Xoshiro256PlusPlus,
    spare: Option<f64>,
}

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(seed), spare: None }
    }

    /// Uniform between 0 (excluded) and 1: 53 bits, moved by half a step.
    pub(super) fn uniform(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `end`; the bias of the multiplication is below 2^-32.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.generator.next_u64()) * end as u128) >> 64) as usize
    }

    /// Standard normal: Marsaglia and Bray (1964), the polar method.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Chi-square with `degrees` of freedom, 0 for none. Marsaglia and Tsang (2000), "A simple
    /// method for generating gamma variables"; one and two degrees directly.
    pub(super) fn chi_square(&mut self, degrees: u32) -> f64 {
        match degrees {
            0 => 0.0,
            1 => self.normal().powi(2),
            2 => -2.0 * self.uniform().ln(),
            _ => {
                let d = f64::from(degrees) / 2.0 - 1.0 / 3.0;
                let c = 1.0 / (9.0 * d).sqrt();
                loop {
                    let x = self.normal();
                    let v = (1.0 + c * x).powi(3);
                    if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                        return 2.0 * d * v;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_distributions() {
        // 40 000 draws: four standard errors of the mean are 0.02 deviations, of the variance of
        // chi-square(1) 4 * sqrt(60 - 4) / 200 = 0.15 (fourth central moment 60).
        let mut draws = Draws::new(1);
        let n = 40_000;
        let moments = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64)
        };
        let (mean, variance) = moments(&(0..n).map(|_| draws.normal()).collect::<Vec<_>>());
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        for degrees in [1, 2, 3, 9] {
            let f = f64::from(degrees);
            let (mean, variance) = moments(&(0..n).map(|_| draws.chi_square(degrees)).collect::<Vec<_>>());
            assert!((mean - f).abs() < 0.02 * (2.0 * f).sqrt(), "{degrees}: {mean}");
            assert!((variance / (2.0 * f) - 1.0).abs() < 0.08, "{degrees}: {variance}");
        }
        assert_eq!(draws.chi_square(0), 0.0);
    }
}
