//! How likely each model is the best, from the means of its units so far.

use crate::LEVEL;
use crate::random::Generator;

/// Chances of the models that take part, in the order of the contenders.
#[derive(Debug, Clone, PartialEq)]
pub struct Chances {
    /// The leader: the highest mean of those still measured.
    pub leader: usize,
    /// Probability of being the best, for each contender; zero for those out of the competition.
    pub best: Vec<f64>,
    /// Probability that the leader is at most 3 % behind the best.
    pub good: f64,
    /// Expected loss by taking the leader now (log scale, 0.01 is 1 %).
    pub regret: f64,
    /// What each contender loses against the best at most, with 95 % probability (log scale); infinite for those out of
    /// the competition.
    pub loss: Vec<f64>,
    /// Standard deviation of units within a model, combined with the prior.
    pub unit_deviation: f64,
    /// Standard deviation of the means of the models.
    pub spread: f64,
}

/// Sums over the units of one model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summary {
    pub(super) index: usize,
    pub(super) mean: f64,
    pub(super) n: f64,
    pub(super) racing: bool,
}

/// Draws `draws` times deviation and means: the variance of units is scaled inverse chi-squared
/// with the degrees and variance of `prior` and of the data, the means are normal around those
/// measured (Gelman et al., "Bayesian Data Analysis", 3rd ed., sections 2.6 and 3.2).
pub(super) fn chances(
    models: &[Summary],
    contenders: usize,
    variance: f64,
    degrees: f64,
    close: f64,
    draws: u32,
    seed: u64,
) -> Option<Chances> {
    let leader = models.iter().filter(|m| m.racing).max_by(|a, b| a.mean.total_cmp(&b.mean))?.index;
    let mut generator = Generator::new(seed);
    let mut wins = vec![0u32; contenders];
    let (mut good, mut regret) = (0u32, 0.0);
    let mut losses: Vec<Vec<f64>> = models.iter().map(|_| Vec::with_capacity(draws as usize)).collect();
    for _ in 0..draws {
        let deviation = (variance * degrees / generator.chi_squared(degrees)).sqrt();
        let (mut best, mut winner, mut mine) = (f64::MIN, leader, f64::MIN);
        for (model, losses) in models.iter().zip(&mut losses) {
            let value = model.mean + generator.normal() * deviation / model.n.sqrt();
            losses.push(value);
            if value > best {
                (best, winner) = (value, model.index);
            }
            if model.index == leader {
                mine = value;
            }
        }
        losses.iter_mut().filter_map(|of| of.last_mut()).for_each(|value| *value = best - *value);
        wins[winner] += 1;
        good += u32::from(mine >= best - close);
        regret += best - mine;
    }
    let mut loss = vec![f64::INFINITY; contenders];
    for (model, mut of) in models.iter().zip(losses).filter(|(model, _)| model.racing) {
        of.sort_by(f64::total_cmp);
        loss[model.index] = of[(LEVEL * f64::from(draws - 1)).ceil() as usize];
    }
    let all = f64::from(draws);
    let count = models.len() as f64;
    let centre = models.iter().map(|m| m.mean).sum::<f64>() / count;
    let squares = models.iter().map(|m| (m.mean - centre).powi(2)).sum::<f64>();
    Some(Chances {
        leader,
        best: wins.into_iter().map(|w| f64::from(w) / all).collect(),
        good: f64::from(good) / all,
        regret: regret / all,
        loss,
        unit_deviation: variance.sqrt(),
        spread: if models.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
    })
}

impl Chances {
    /// Those that lose no more than `close`, or than the leader does where that is more, with what each of them loses at
    /// most, with 95 % probability. The leader comes first.
    #[must_use]
    pub fn tie(&self, close: f64) -> (Vec<usize>, f64) {
        let most = self.loss[self.leader].max(close);
        let mut order: Vec<usize> = (0..self.loss.len()).filter(|k| self.loss[*k] <= most).collect();
        order.sort_by(|a, b| {
            (*a != self.leader).cmp(&(*b != self.leader)).then(self.loss[*a].total_cmp(&self.loss[*b]))
        });
        let loss = order.iter().map(|k| self.loss[*k]).fold(0.0, f64::max);
        (order, loss)
    }

    /// The smallest set that holds the best with probability `level`, most likely first.
    #[must_use]
    pub fn set(&self, level: f64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.best.len()).filter(|k| self.best[*k] > 0.0).collect();
        order.sort_by(|a, b| self.best[*b].total_cmp(&self.best[*a]).then(a.cmp(b)));
        let mut sum = 0.0;
        let enough = order.iter().position(|k| {
            sum += self.best[*k];
            sum >= level - 1e-12
        });
        order.truncate(enough.map_or(order.len(), |last| last + 1));
        order
    }
}
