//! Random numbers that repeat in every run.

use std::ops::Range;

use assay_engine::mix;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator that depends only on its seed.
#[derive(Debug, Clone)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// The generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns a number below `bound`; 0 if `bound` is 0. It is the high half of a product, with a bias of at most
    /// `bound` in 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number of `range`; its start if the range is empty.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end.saturating_sub(range.start))
    }

    /// Returns a number of `range` whose logarithm is uniform: all powers of two are equally likely.
    pub(crate) fn log_within(&mut self, range: Range<u64>) -> u64 {
        let (low, high) = ((range.start.max(1) as f64).ln(), (range.end.max(2) as f64).ln());
        let value = (low + self.unit() * (high - low)).exp() as u64;
        value.clamp(range.start, range.end.saturating_sub(1).max(range.start))
    }

    /// Returns a number from 0 up to but not including 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number from the normal distribution with mean 0 and deviation 1 (Box and Muller 1958, one of the two).
    pub fn normal(&mut self) -> f64 {
        // 1 - unit() is never 0, so the logarithm is finite.
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(crate) fn pick<T: Clone, const N: usize>(&mut self, from: &[T; N]) -> T {
        const { assert!(N > 0) };
        from[self.below(N as u64) as usize].clone()
    }

    /// Returns one of several values, each with its weight.
    pub(crate) fn weighted<T: Clone, const N: usize>(&mut self, from: &[(u32, T); N]) -> T {
        const { assert!(N > 0) };
        let total: u64 = from.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        for (weight, value) in from {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return value.clone(),
            }
        }
        from[N - 1].1.clone()
    }

    /// Returns how many trials of `probability` fail before the next success: a geometric number. So rare events cost
    /// no time where they do not happen.
    pub(crate) fn failures_before(&mut self, probability: f64) -> u64 {
        if probability <= 0.0 {
            return u64::MAX;
        }
        // 1 - unit() is never 0, so the logarithm is finite.
        ((1.0 - self.unit()).ln() / (-probability).ln_1p()) as u64
    }
}

/// A plain generator for campaigns (splitmix64; Steele, Lea, Flood 2014). Campaigns report findings by seed, so the
/// numbers of a seed must never change.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number of 64 bits.
    pub fn number(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        number
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// Returns an index of a list with `length` entries; 0 if it is empty.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns true once in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// The increment of splitmix64: 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_repeat_and_stay_inside() {
        let draw = |seed| {
            let mut dice = Dice::new(seed);
            (dice.below(10), dice.within(5..9), dice.log_within(4096..1 << 40), dice.pick(&[1, 2, 3]))
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!((0..9).map(draw).collect::<Vec<_>>(), (9..18).map(draw).collect::<Vec<_>>());
        for seed in 0..500 {
            let (small, five, large, _) = draw(seed);
            assert!(small < 10 && (5..9).contains(&five) && (4096..1 << 40).contains(&large));
        }
        assert_eq!((Dice::new(0).below(0), Dice::new(0).within(7..7)), (0, 7));
    }

    /// The first numbers of seed 0 in the generator's published test (Vigna, splitmix64.c, with x = 0).
    #[test]
    fn numbers_of_a_seed_never_change() {
        let mut numbers = SplitMix::new(0);
        let expected = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(expected.map(|_| numbers.number()), expected);
        assert_eq!((numbers.below(0), numbers.index(0), numbers.one_in(1)), (0, 0, true));
    }

    #[test]
    fn odds_are_as_stated() {
        let mut dice = Dice::new(1);
        let thirds = (0..30_000).filter(|_| dice.weighted(&[(1, true), (2, false)])).count();
        assert!((9_500..10_500).contains(&thirds), "{thirds}");
        let mean = (0..10_000).map(|_| dice.failures_before(0.01)).sum::<u64>() / 10_000;
        assert!((95..103).contains(&mean), "{mean}");
        assert_eq!((dice.failures_before(0.0), dice.failures_before(1.0)), (u64::MAX, 0));
    }
}
