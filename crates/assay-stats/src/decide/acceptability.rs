//! One number from several workloads, and whether the order by it depends on the weights.
//!
//! Stochastic multicriteria acceptability analysis (Lahdelma, Hokkanen and Salminen 1998): weights
//! are drawn at random, and it is counted how often each medium gets each rank.

use super::posterior::{About, Posterior, Sampler};
use super::refusal::{Refusal, all_positive, not_negative, positive};
use crate::random::Generator;

/// A winner has to be first with this share of the weights; else the result is weight-dependent.
pub const FIRST: f64 = 0.90;
/// Draws of weights: the standard error of a share of 0.5 is 0.005.
const DRAWS: usize = 10_000;
/// Ends of the printed interval of ranks.
const RANKS: (f64, f64) = (0.05, 0.95);

/// How workloads make one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// Weighted geometric mean.
    Geometric,
    /// Weighted sum, as published scores do; needs figures in one unit.
    Sum,
}

/// Which weights are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights<'a> {
    /// Any, all equally likely (Dirichlet distribution with parameters 1).
    Any,
    /// Those given, each times or divided by up to 2 (even on the log scale).
    Around(&'a [f64]),
}

/// How often media get ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptability {
    /// `shares[medium][rank]`, rank 0 first; rows add up to 1.
    pub shares: Vec<Vec<f64>>,
    /// `before[a][b]`: share in which a comes before b.
    pub before: Vec<Vec<f64>>,
    /// Ranks, first is 1, between which 90 % lie.
    pub ranks: Vec<(usize, usize)>,
    /// The medium that is first with at least 90 % of the weights; `None`: weight-dependent.
    pub winner: Option<usize>,
}

/// Ranks `media[medium][workload]` under random weights. Figures with an interval are drawn too,
/// points stay. More is better.
///
/// # Errors
/// No medium or workload, lists of different lengths, weights that are not positive.
pub fn acceptability(
    media: &[Vec<Posterior>],
    combination: Combination,
    weights: Weights<'_>,
    seed: u64,
) -> Result<Acceptability, Refusal> {
    let workloads = media.first().map_or(0, Vec::len);
    if workloads == 0 {
        return Err(Refusal::TooFew { what: "media with workloads", least: 1, given: media.len() });
    }
    if let Some(other) = media.iter().find(|m| m.len() != workloads) {
        return Err(Refusal::Lengths { what: "workloads of media", expected: workloads, given: other.len() });
    }
    if let Weights::Around(given) = weights {
        if given.len() != workloads {
            return Err(Refusal::Lengths { what: "workloads and weights", expected: workloads, given: given.len() });
        }
        for weight in given {
            positive("a weight", *weight)?;
        }
    }
    let figures: Vec<Vec<Figure>> = media.iter().map(|m| m.iter().map(Figure::new).collect()).collect();
    let mut generator = Generator::new(seed);
    let mut counts = vec![vec![0usize; media.len()]; media.len()];
    let mut before = vec![vec![0usize; media.len()]; media.len()];
    let mut order: Vec<usize> = (0..media.len()).collect();
    for _ in 0..DRAWS {
        let drawn = draw_weights(weights, workloads, &mut generator);
        let scores: Vec<f64> = figures.iter().map(|f| score(f, &drawn, combination, &mut generator)).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        for (rank, medium) in order.iter().enumerate() {
            counts[*medium][rank] += 1;
            order[rank + 1..].iter().for_each(|later| before[*medium][*later] += 1);
        }
    }
    let share = |rows: Vec<Vec<usize>>| -> Vec<Vec<f64>> {
        rows.into_iter().map(|row| row.into_iter().map(|c| c as f64 / DRAWS as f64).collect()).collect()
    };
    let shares = share(counts);
    let ranks = shares.iter().map(|row| (rank_at(row, RANKS.0), rank_at(row, RANKS.1))).collect();
    let winner = shares.iter().position(|row| row[0] >= FIRST);
    Ok(Acceptability { shares, before: share(before), ranks, winner })
}

/// A logarithm that is fixed or drawn.
enum Figure {
    Fixed(f64),
    Drawn(Sampler),
}

impl Figure {
    fn new(figure: &Posterior) -> Self {
        figure.sampler(About::Mean).map_or(Self::Fixed(figure.log_mean()), Self::Drawn)
    }
}

fn draw_weights(weights: Weights<'_>, workloads: usize, generator: &mut Generator) -> Vec<f64> {
    match weights {
        // Exponential values over their sum are Dirichlet(1, …, 1); the sum does not change ranks.
        Weights::Any => (0..workloads).map(|_| generator.exponential()).collect(),
        Weights::Around(given) => given.iter().map(|w| w * (2.0 * generator.uniform() - 1.0).exp2()).collect(),
    }
}

fn score(figures: &[Figure], weights: &[f64], combination: Combination, generator: &mut Generator) -> f64 {
    let terms = figures.iter().zip(weights).map(|(figure, weight)| {
        let log = match figure {
            Figure::Fixed(log) => *log,
            Figure::Drawn(sampler) => sampler.next(generator),
        };
        weight * if combination == Combination::Sum { log.exp() } else { log }
    });
    terms.sum()
}

/// The first rank, counted from 1, up to which at least `share` lies.
fn rank_at(row: &[f64], share: f64) -> usize {
    let mut sum = 0.0;
    row.iter()
        .position(|s| {
            sum += s;
            sum >= share - 1e-12
        })
        .map_or(row.len(), |rank| rank + 1)
}

// One number from several workloads.

/// Weighted geometric mean of the ratios of `values` to those of a reference medium; 1 is as fast
/// as it. The order of media does not depend on the reference, which the arithmetic mean of
/// ratios does not give (Fleming and Wallace 1986). Weights are used in proportion.
///
/// # Errors
/// Lists of different lengths, values that are not positive, negative weights or none above zero.
pub fn index(values: &[f64], reference: &[f64], weights: &[f64]) -> Result<f64, Refusal> {
    all_positive("workloads", values)?;
    all_positive("workloads of the reference", reference)?;
    for (what, given) in
        [("workloads and those of the reference", reference.len()), ("workloads and weights", weights.len())]
    {
        if given != values.len() {
            return Err(Refusal::Lengths { what, expected: values.len(), given });
        }
    }
    for weight in weights {
        not_negative("a weight", *weight)?;
    }
    let total = positive("the sum of the weights", weights.iter().sum())?;
    let logs = values.iter().zip(reference).zip(weights).map(|((v, r), w)| w / total * (v / r).ln());
    Ok(logs.sum::<f64>().exp())
}
