//! The expected loss from choosing one of several alternatives by cost and uncertain value.
//!
//! Expected loss: Chick and Inoue (2001), "New two-stage and sequential procedures for selecting the best simulated
//! system".

use super::posterior::{About, Posterior, Sampler};
use crate::random::Generator;

/// Draws: the standard error of a probability of 0.5 is 0.005.
const DRAWS: usize = 10_000;

/// One that can be chosen. More is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// Its cost.
    pub cost: f64,
    /// Its value.
    pub value: Posterior,
}

/// The results of choosing one alternative, over all draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Probability of being on the front of cost and value.
    pub on_front: f64,
    /// Expected loss of value against the best, on the log scale: 0.01 is 1 %.
    pub value: f64,
    /// Expected loss of worth less cost against the best choice, in the unit of the cost.
    pub money: f64,
}

/// What choosing each of them loses; `None` of one without an interval, which takes no part. Values whose logarithms
/// differ by `equal` or less count as equal. `worth` is what a logarithm of 1 more is worth, in the unit of the cost.
///
/// One is off the front in a draw where another costs less and is not worse by more than `equal`, or costs the same and
/// is better by more than that.
#[must_use]
pub fn losses(alternatives: &[Alternative], about: About, equal: f64, worth: f64, seed: u64) -> Vec<Option<Loss>> {
    let samplers = alternatives.iter().map(|a| a.value.sampler(about).ok());
    let known: Vec<(f64, Sampler)> =
        alternatives.iter().zip(samplers).filter_map(|(a, sampler)| Some((a.cost, sampler?))).collect();
    let mut tally = tally(&known, equal, worth, seed).into_iter();
    let share = |sum: f64| sum / DRAWS as f64;
    let loss = |seen: Tally| Loss {
        on_front: share(seen.on_front as f64),
        value: share(seen.value),
        money: share(seen.money),
    };
    alternatives.iter().map(|a| if a.value.knows(about) { tally.next().map(loss) } else { None }).collect()
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    on_front: usize,
    value: f64,
    money: f64,
}

fn tally(known: &[(f64, Sampler)], equal: f64, worth: f64, seed: u64) -> Vec<Tally> {
    let mut generator = Generator::new(seed);
    let mut tally = vec![Tally::default(); known.len()];
    for _ in 0..DRAWS {
        let drawn: Vec<(f64, f64)> = known.iter().map(|(cost, s)| (*cost, s.next(&mut generator))).collect();
        let best = drawn.iter().map(|d| d.1).fold(f64::MIN, f64::max);
        let gain = drawn.iter().map(|d| worth * d.1 - d.0).fold(f64::MIN, f64::max);
        for (seen, mine) in tally.iter_mut().zip(&drawn) {
            let beaten = drawn.iter().any(|other| {
                (other.0 < mine.0 && other.1 >= mine.1 - equal) || (other.0 == mine.0 && other.1 > mine.1 + equal)
            });
            seen.on_front += usize::from(!beaten);
            seen.value += best - mine.1;
            seen.money += gain - (worth * mine.1 - mine.0);
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(cost: f64) -> Alternative {
        Alternative { cost, value: Posterior::moderated(0.0, 0.01, None, 1e6).unwrap() }
    }

    #[test]
    fn the_loss_of_two_equals_is_that_of_the_normal_distribution() {
        // E max(a, b) - E a for two normal values of deviation s: s / sqrt(pi). 10 000 draws: the
        // standard error is below 0.6 s / 100.
        for loss in losses(&[normal(20.0), normal(20.0)], About::Mean, 0.0, 1000.0, 5) {
            let loss = loss.unwrap();
            assert!((loss.value - 0.1 / std::f64::consts::PI.sqrt()).abs() < 0.0018, "{loss:?}");
            assert!((loss.money - 1000.0 * loss.value).abs() < 1e-6, "{loss:?}");
            // Of equal cost the better one alone is on the front.
            assert!((loss.on_front - 0.5).abs() < 0.015, "{loss:?}");
        }
    }

    #[test]
    fn one_without_an_interval_takes_no_part() {
        let point = Alternative { cost: 1.0, value: Posterior::point(9.0).unwrap() };
        let found = losses(&[point, normal(20.0)], About::Mean, 0.03, 0.0, 1);
        assert_eq!(found, [None, Some(Loss { on_front: 1.0, value: 0.0, money: 0.0 })]);
        assert_eq!(losses(&[], About::Mean, 0.03, 0.0, 1), []);
    }
}
