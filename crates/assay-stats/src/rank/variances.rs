//! Variances of models with few units, drawn towards what all models share; their degrees of freedom; and the largest t
//! of many pairs with such variances.
//!
//! With two or three units a model's own variance is hardly known, and a pooled one is wrong where
//! a model is truly more erratic. Between them lies the posterior mean under a scaled inverse
//! chi-square prior (Smyth 2004, "Linear models and empirical Bayes methods for assessing
//! differential expression").

use crate::random::Generator;

/// Degrees of freedom that the shared variance counts for: 2 keeps the family-wise error at 4 to
/// 7 % even where one model varies four times as much as the others (simulated, 2 to 6 units).
pub const PRIOR_DEGREES: f64 = 2.0;

/// A variance and its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Variance of logarithms; arbitrary where there is no degree of freedom.
    pub variance: f64,
    /// Degrees of freedom: units less one.
    pub degrees: u32,
    /// Whether it tells about the others: not so at a ceiling, where all values are alike.
    pub shared: bool,
}

/// The variance over all models, weighted by degrees of freedom, and their sum.
/// `None` without any degree of freedom.
#[must_use]
pub fn pooled(spreads: &[Spread]) -> Option<(f64, u32)> {
    let (mut sum, mut degrees) = (0.0, 0);
    for spread in spreads.iter().filter(|s| s.shared && s.degrees > 0) {
        sum += spread.variance * f64::from(spread.degrees);
        degrees += spread.degrees;
    }
    (degrees > 0).then(|| (sum / f64::from(degrees), degrees))
}

/// One model's variance, moderated by the pooled one; `prior` may be infinite, which is pooling.
#[must_use]
pub fn moderated(own: Spread, pool: f64, prior: f64) -> f64 {
    if own.degrees == 0 || prior.is_infinite() {
        return pool;
    }
    let degrees = f64::from(own.degrees);
    (prior * pool + degrees * own.variance) / (prior + degrees)
}

/// What a model is tested with: its moderated variance, and the pooled one at least. Units that happen to be alike, as
/// three of one kind of a model that is sold with two, say nothing about the next ones.
#[must_use]
pub(crate) fn cautious(own: Spread, pool: f64, prior: f64) -> f64 {
    moderated(own, pool, prior).max(pool)
}

// Degrees of freedom of two groups.

/// Where one group has this many times the values of the other, the degrees of freedom are those of the smaller one
/// alone (Mickey and Brown 1966). Welch's approximation would call up to 11 of 100 equal groups different there;
/// elsewhere it calls up to 6 different, for any spreads (simulated).
const LOPSIDED: u32 = 2;

/// More degrees of freedom change the quantile by less than 2 in 100 000, and the library's iteration
/// loses its accuracy from ten million on and does not end from a hundred million on.
const MOST_DEGREES: f64 = 1e5;

/// Degrees of freedom of two groups, from the squared error of each mean and the number of its values, at least two:
/// Welch's, or those of the smaller group where one has at least twice as many values.
pub(super) fn cautious_degrees((x, n): (f64, u32), (y, m): (f64, u32)) -> f64 {
    let welch = (x + y).powi(2) / (x * x / (f64::from(n) - 1.0) + y * y / (f64::from(m) - 1.0));
    let (small, large) = (n.min(m), n.max(m));
    let lopsided = large >= LOPSIDED.saturating_mul(small);
    // Without any spread there is no quotient, and no test either.
    let degrees = if lopsided { f64::from(small) - 1.0 } else { welch };
    degrees.clamp(1.0, MOST_DEGREES)
}

/// Three values against three are the fewest that most people measure. Welch's approximation keeps their error at 3.5
/// of 100 where both vary alike, at the price of a seventh of the power of Student's test. With the reduction of the
/// degrees of freedom beyond two raised to this power, the error is 4.0 of 100, and at most 6.3 for any spreads
/// (simulated), with nine tenths of that power.
const OF_THREE: f64 = 0.6;

/// Degrees of freedom of two groups alone: [`cautious_degrees`], and more of them for three values against three.
pub(crate) fn pair_degrees(a: (f64, u32), b: (f64, u32)) -> f64 {
    let cautious = cautious_degrees(a, b);
    if (a.1, b.1) == (3, 3) { 2.0 + 2.0 * ((cautious - 2.0) / 2.0).max(0.0).powf(OF_THREE) } else { cautious }
}

// The distribution of the largest t of many pairs, when all models are equal.
//
// The parametric bootstrap draws means and variances as the data would have them and moderates the
// variances of every draw again, so that the critical value holds with two or three units, where
// normal quantiles let through five to ten times the errors asked for (simulated). Stepping down:
// Romano and Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing".

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
pub(super) fn quantile_index(alpha: f64, draws: usize) -> usize {
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
        let (_, critical, _) = squares.select_nth_unstable_by(quantile_index(alpha, draws), f64::total_cmp);
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
    fn between_the_own_and_the_pooled_one() {
        let a = Spread { variance: 1.0, degrees: 2, shared: true };
        let b = Spread { variance: 4.0, degrees: 1, shared: true };
        let capped = Spread { variance: 0.0, degrees: 9, shared: false };
        let (pool, degrees) = pooled(&[a, b, capped]).unwrap();
        assert_eq!((pool, degrees), (2.0, 3));
        assert_eq!(moderated(a, pool, 2.0), 1.5);
        assert_eq!(moderated(a, pool, f64::INFINITY), 2.0);
        assert_eq!(moderated(Spread { degrees: 0, ..a }, pool, 2.0), 2.0);
        assert_eq!((cautious(a, pool, 2.0), cautious(b, pool, 2.0)), (2.0, moderated(b, pool, 2.0)));
        assert_eq!(pooled(&[capped]), None);
    }

    #[test]
    fn the_order_statistic_by_hand() {
        assert_eq!(quantile_index(0.05, 19_999), 18_999);
        assert_eq!(quantile_index(0.05, 999), 949);
        assert_eq!(quantile_index(0.01, 9), 8, "too few draws: the largest");
    }
}
