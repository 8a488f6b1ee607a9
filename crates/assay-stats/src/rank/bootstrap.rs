//! The distribution of the largest t of many pairs, when all models are equal.
//!
//! The parametric bootstrap draws means and variances as the data would have them and moderates the
//! variances of every draw again, so that the critical value holds with two or three units, where
//! normal quantiles let through five to ten times the errors asked for (simulated). Stepping down:
//! Romano and Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing".

use super::moderate::{Spread, cautious, pooled};
use crate::random::Generator;

/// A model as the bootstrap sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arm {
    /// Its own variance; the one drawn from is the moderated one.
    pub(super) spread: Spread,
    /// Variance of its units that it is tested with.
    pub(super) variance: f64,
    /// Its units.
    pub(super) units: u32,
}

/// Two arms that are tested against each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestedPair {
    pub(super) a: usize,
    pub(super) b: usize,
    /// The observed |t|.
    pub(super) t: f64,
}

/// Means and squared standard errors of all arms in all draws.
struct Sample {
    arms: usize,
    /// Per draw and arm: deviation of the mean, squared standard error.
    rows: Vec<(f64, f64)>,
}

impl Sample {
    fn draw(arms: &[Arm], prior: f64, draws: usize, seed: u64) -> Self {
        let mut random = Generator::new(seed);
        let mut rows = Vec::with_capacity(draws * arms.len());
        let mut spreads: Vec<Spread> = arms.iter().map(|arm| arm.spread).collect();
        for _ in 0..draws {
            let start = rows.len();
            for (arm, spread) in arms.iter().zip(&mut spreads) {
                let mean = random.normal() * (arm.variance / f64::from(arm.units)).sqrt();
                let degrees = arm.spread.degrees;
                spread.variance = arm.variance * random.chi_squared_whole(degrees) / f64::from(degrees.max(1));
                rows.push((mean, 0.0));
            }
            let pool = pooled(&spreads).map_or(0.0, |(pool, _)| pool);
            for ((arm, spread), row) in arms.iter().zip(&spreads).zip(&mut rows[start..]) {
                row.1 = cautious(*spread, pool, prior) / f64::from(arm.units);
            }
        }
        Self { arms: arms.len(), rows }
    }

    /// The largest squared t of one draw over the contests that are still open, and whose it is.
    fn largest(&self, draw: usize, contests: &[TestedPair], open: &[usize]) -> (f64, usize) {
        let row = &self.rows[draw * self.arms..(draw + 1) * self.arms];
        let mut best = (0.0, open.first().copied().unwrap_or(0));
        for &at in open {
            let (a, b) = (row[contests[at].a], row[contests[at].b]);
            let square = (a.0 - b.0) * (a.0 - b.0) / (a.1 + b.1);
            if square > best.0 {
                best = (square, at);
            }
        }
        best
    }
}

/// What the bootstrap decides.
#[derive(Debug)]
pub(super) struct Decision {
    /// The critical |t| over all contests: it makes the simultaneous intervals.
    pub(super) critical: f64,
    /// For each contest whether equality is rejected.
    pub(super) rejected: Vec<bool>,
}

/// Place of the `1 - alpha` order statistic among `draws`, counted from 0.
pub(super) fn place(alpha: f64, draws: usize) -> usize {
    // A millionth keeps 0.95 * 20 000 from being rounded up to 19 001.
    let at = ((1.0 - alpha) * (draws as f64 + 1.0) - 1e-6).ceil().max(1.0) as usize;
    at.min(draws) - 1
}

/// Tests all `contests` at once, stepping down.
pub(super) fn decide(
    arms: &[Arm],
    contests: &[TestedPair],
    prior: f64,
    (alpha, draws, seed): (f64, usize, u64),
) -> Decision {
    let sample = Sample::draw(arms, prior, draws, seed);
    let mut open: Vec<usize> = (0..contests.len()).collect();
    let mut rejected = vec![false; contests.len()];
    let mut largest: Vec<(f64, usize)> = (0..draws).map(|draw| sample.largest(draw, contests, &open)).collect();
    let mut first = None;
    loop {
        let mut squares: Vec<f64> = largest.iter().map(|l| l.0).collect();
        let (_, critical, _) = squares.select_nth_unstable_by(place(alpha, draws), f64::total_cmp);
        let critical = critical.sqrt();
        let first = *first.get_or_insert(critical);
        let before = open.len();
        open.retain(|&at| {
            rejected[at] = contests[at].t > critical;
            !rejected[at]
        });
        if open.len() == before || open.is_empty() {
            return Decision { critical: first, rejected };
        }
        // Only draws whose largest belonged to a rejected pair have another one now.
        for (draw, largest) in largest.iter_mut().enumerate() {
            if rejected[largest.1] {
                *largest = sample.largest(draw, contests, &open);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_statistic_by_hand() {
        assert_eq!(place(0.05, 19_999), 18_999);
        assert_eq!(place(0.05, 999), 949);
        assert_eq!(place(0.01, 9), 8, "too few draws: the largest");
    }
}
