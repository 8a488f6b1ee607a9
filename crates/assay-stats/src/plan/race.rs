//! A campaign that measures units of the models that may still be the best, and stops when one is.
//!
//! Sequential elimination by the probability of being best, with the expected loss as second way
//! out (Chick and Inoue 2001 for the expected loss; Frazier 2014 for elimination). The prior on
//! the deviation of units is centred at 10 %, as seen on cards; the thresholds come from simulated
//! campaigns of eight models.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::super::interval::log_mean;
use super::design::PlanFault;
use crate::LEVEL;
use crate::decide::bounds::{at_least, positive};
use crate::random::Generator;

/// What happened to the units of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All finished.
    Finished,
    /// Some hung, erred, turned read-only or vanished.
    Failed,
    /// Some returned other data than was written, or had less capacity than announced.
    Corrupt,
}

/// A model in the race.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// Its name, which no other one has.
    pub name: String,
    /// Means of its units so far: rates, or other positive values where more is better.
    pub unit_means: Vec<f64>,
    /// What happened to its units.
    pub outcome: Outcome,
    /// It runs at the ceiling of the bus, so that its true rate is unknown.
    pub censored: bool,
    /// An earlier step dropped it.
    pub dropped: bool,
}

/// How the race is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaceRules {
    /// Units of every model before anything is concluded.
    pub first_units: u32,
    /// Slots that can be used at once: a stage takes one unit of each model, two where slots idle.
    pub slots: u32,
    /// Units of one model at most.
    pub most_per_model: u32,
    /// Units that can still be measured.
    pub units_left: u32,
    /// Probability of the leader being good at which the race is over.
    pub sure: f64,
    /// The same where models are so close that the usual one promises too much.
    pub sure_if_close: f64,
    /// A leader within this ratio of the best is good.
    pub close: f64,
    /// A model that is best with less probability is dropped.
    pub drop_below: f64,
    /// Expected loss (log scale) at which more measuring cannot pay.
    pub least_regret: f64,
    /// Degrees of freedom of the prior for the deviation of units.
    pub prior_degrees: f64,
    /// The prior: standard deviation of logarithms.
    pub prior_deviation: f64,
    /// Draws per step.
    pub draws: u32,
}

impl Default for RaceRules {
    fn default() -> Self {
        Self {
            first_units: 2,
            slots: 1,
            most_per_model: 12,
            units_left: u32::MAX,
            sure: 0.95,
            sure_if_close: 0.97,
            close: 1.03,
            drop_below: 0.01,
            least_regret: 0.01,
            prior_degrees: 4.0,
            prior_deviation: 0.10,
            draws: 4000,
        }
    }
}

/// One step of the race.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceStep {
    /// What to do.
    pub action: NextAction,
    /// Models that are dropped by this step; mark them before the next one.
    pub dropped: Vec<usize>,
    /// The numbers behind it; `None` before all have their first units.
    pub chances: Option<Chances>,
    /// Models are so close that the higher probability is asked for; claims are calibrated for
    /// models that differ by 15 % and more.
    pub close_models: bool,
}

/// The probability that a set of candidates has to hold.
const SET: f64 = 0.95;
/// A stage takes this many units of a model at most.
const LARGEST_BATCH: u32 = 2;

/// The next action after the measurements so far. Models that failed leave the race unless all did; models that
/// returned wrong data always leave it.
///
/// # Errors
/// No model, unit means that are not positive and finite, or such rules.
pub fn next(contenders: &[Contender], rules: &RaceRules, seed: u64) -> Result<RaceStep, PlanFault> {
    check(contenders, rules)?;
    let Some(class) = class(contenders) else {
        return Ok(RaceStep::at_once(NextAction::NothingFit));
    };
    let names = |models: Vec<usize>| models.iter().map(|k| contenders[*k].name.clone()).collect();
    let eligible = |c: &Contender| c.outcome == class;
    let active: Vec<usize> =
        (0..contenders.len()).filter(|k| eligible(&contenders[*k]) && !contenders[*k].dropped).collect();
    let censored: Vec<usize> = active.iter().copied().filter(|k| contenders[*k].censored).collect();
    if censored.len() > 1 {
        return Ok(RaceStep::at_once(NextAction::CeilingTie { models: names(censored) }));
    }
    let first = first_units(contenders, &active, rules);
    if !first.is_empty() {
        return Ok(RaceStep::at_once(match within_budget(first, rules) {
            orders if orders.is_empty() => NextAction::Exhausted { models: names(active) },
            orders => NextAction::Measure { orders },
        }));
    }
    let (variance, degrees) = pooled(contenders, rules);
    let models = summaries(contenders, &active, class);
    let close = rules.close.ln();
    let found = chances(&models, contenders.len(), variance, degrees, close, rules.draws, seed);
    let Some(chances) = found else {
        return Ok(RaceStep::at_once(NextAction::NothingFit));
    };
    let fewest = models.iter().map(|m| m.n).fold(f64::MAX, f64::min);
    let close_models = models.len() > 1 && chances.spread < 2.0 * (variance / fewest).sqrt();
    let sure = if close_models { rules.sure_if_close.max(rules.sure) } else { rules.sure };
    let (dropped, mut left): (Vec<usize>, Vec<usize>) =
        active.iter().copied().partition(|k| *k != chances.leader && chances.best[*k] < rules.drop_below);
    left.sort_by(|a, b| chances.best[*b].total_cmp(&chances.best[*a]).then(a.cmp(b)));
    let action = if chances.good >= sure {
        NextAction::Buy { model: contenders[chances.leader].name.clone() }
    } else if left.len() == 1 {
        NextAction::OnlyOneLeft { model: contenders[chances.leader].name.clone() }
    } else if chances.regret <= rules.least_regret {
        let (tied, loss) = chances.tie(close);
        NextAction::PracticallyTied { models: names(tied), loss: lost(loss) }
    } else {
        match within_budget(more_units(contenders, &left, rules), rules) {
            orders if orders.is_empty() => NextAction::Exhausted { models: names(chances.set(SET)) },
            orders => NextAction::Measure { orders },
        }
    };
    Ok(RaceStep { action, dropped, chances: Some(chances), close_models })
}

/// The failure class of the models that race: sound models, or models with failed units where there are no sound ones.
fn class(contenders: &[Contender]) -> Option<Outcome> {
    contenders.iter().map(|c| c.outcome).min().filter(|class| *class < Outcome::Corrupt)
}

/// Whether a model is not excluded from the race by what happened to its units.
#[must_use]
pub fn in_race(contenders: &[Contender], model: usize) -> bool {
    contenders.get(model).is_some_and(|c| class(contenders) == Some(c.outcome))
}

/// The share that a loss on the log scale is: 0.03 is 3 %.
#[must_use]
pub fn lost(log: f64) -> f64 {
    1.0 - (-log).exp()
}

impl RaceStep {
    /// An action that needs no probabilities.
    fn at_once(action: NextAction) -> Self {
        Self { action, dropped: Vec::new(), chances: None, close_models: false }
    }
}

fn check(contenders: &[Contender], rules: &RaceRules) -> Result<(), PlanFault> {
    at_least("models", 1, contenders.len())?;
    for value in contenders.iter().flat_map(|c| &c.unit_means) {
        positive("the mean of a unit", *value)?;
    }
    at_least("units of each model", 2, rules.first_units as usize)?;
    at_least("units of each model at most", rules.first_units as usize, rules.most_per_model as usize)?;
    at_least("draws", 1, rules.draws as usize)?;
    positive("the ratio of a good model", rules.close)?;
    positive("the assumed deviation of units", rules.prior_deviation)?;
    positive("the degrees of freedom", rules.prior_degrees)?;
    Ok(())
}

fn units(contender: &Contender) -> u32 {
    u32::try_from(contender.unit_means.len()).unwrap_or(u32::MAX)
}

fn first_units(contenders: &[Contender], active: &[usize], rules: &RaceRules) -> Vec<Order> {
    let missing = |c: &Contender| rules.first_units.saturating_sub(units(c));
    let order = |c: &Contender| Order { model: c.name.clone(), units: missing(c) };
    active.iter().map(|k| order(&contenders[*k])).filter(|o| o.units > 0).collect()
}

fn more_units(contenders: &[Contender], left: &[usize], rules: &RaceRules) -> Vec<Order> {
    let models = u32::try_from(left.len()).unwrap_or(u32::MAX).max(1);
    let batch = (rules.slots / models).clamp(1, LARGEST_BATCH);
    let more = |c: &Contender| batch.min(rules.most_per_model.saturating_sub(units(c)));
    let order = |c: &Contender| Order { model: c.name.clone(), units: more(c) };
    left.iter().map(|k| order(&contenders[*k])).filter(|o| o.units > 0).collect()
}

/// As many of the orders as may be measured, those in front first.
fn within_budget(orders: Vec<Order>, rules: &RaceRules) -> Vec<Order> {
    let mut left = rules.units_left;
    let cut = orders.into_iter().map(|o| {
        let units = o.units.min(left);
        left -= units;
        Order { units, ..o }
    });
    cut.filter(|o| o.units > 0).collect()
}

/// Variance of units and its degrees of freedom, prior and data together. A ceiling presses units
/// together, so that models at it say nothing about the variance.
pub(super) fn pooled(contenders: &[Contender], rules: &RaceRules) -> (f64, f64) {
    let (squares, degrees) = squares(contenders);
    let all = rules.prior_degrees + degrees;
    ((rules.prior_degrees * rules.prior_deviation.powi(2) + squares) / all, all)
}

/// The sum of squares of units about their models, and its degrees of freedom.
pub(super) fn squares(contenders: &[Contender]) -> (f64, f64) {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for values in contenders.iter().filter(|c| !c.censored && !c.unit_means.is_empty()).map(|c| &c.unit_means) {
        let mean = log_mean(values);
        squares += values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
        degrees += values.len() as f64 - 1.0;
    }
    (squares, degrees)
}

fn summaries(contenders: &[Contender], active: &[usize], class: Outcome) -> Vec<Summary> {
    let measured = contenders.iter().enumerate().filter(|(_, c)| c.outcome == class && !c.unit_means.is_empty());
    measured
        .map(|(index, c)| Summary {
            index,
            mean: log_mean(&c.unit_means),
            n: c.unit_means.len() as f64,
            racing: active.contains(&index),
        })
        .collect()
}

// The next step of a race.

/// A number of new units of a model to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Order {
    /// The model.
    pub model: String,
    /// New units of it.
    pub units: u32,
}

/// The next step. Models have the names of the contenders.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum NextAction {
    /// Measure new units of these models.
    Measure {
        /// The models and the number of their units, likeliest first.
        orders: Vec<Order>,
    },
    /// Buy: the model is within 3 % of the best model in the race, with the requested probability.
    Buy {
        /// The model.
        model: String,
    },
    /// Buy: all others were dropped, or are out of the race.
    OnlyOneLeft {
        /// The model.
        model: String,
    },
    /// More measuring cannot gain 1 %: take the cheapest of these.
    PracticallyTied {
        /// The models, the leader first.
        models: Vec<String>,
        /// The largest loss of each of them against the best, with 95 % probability; 0.03 is 3 %.
        loss: f64,
    },
    /// No more units may be measured; the best is among these.
    Exhausted {
        /// The models, likeliest first.
        models: Vec<String>,
    },
    /// These run at the ceiling of the bus: take the cheapest.
    CeilingTie {
        /// The models.
        models: Vec<String>,
    },
    /// Every model returned wrong data.
    NothingFit,
}

// How likely each model is the best, from the means of its units so far.

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

// Intervals of models in a race.

/// The interval, at `level`, of what each model does; `None` for a model without units or at its ceiling.
///
/// How units vary is taken from the units alone where they are enough: the prior that makes a race short promises too much
/// where units vary by more. Who leads, leads by luck in part, and who trails, trails by it: the interval is laid around the
/// mean drawn to that of all models by the share of the spread between them that chance explains (Efron and Morris 1975),
/// and reaches to the mean itself at least. That share is an estimate, too, of few models: its error is that of Morris (1983),
/// "Parametric empirical Bayes inference", JASA 78.
#[must_use]
pub fn intervals(contenders: &[Contender], rules: &RaceRules, level: f64) -> Vec<Option<(f64, f64)>> {
    let (sum, measured) = squares(contenders);
    let (variance, degrees) =
        if measured >= rules.prior_degrees { (sum / measured, measured) } else { pooled(contenders, rules) };
    let free: Vec<&Contender> = contenders.iter().filter(|c| !c.censored && !c.unit_means.is_empty()).collect();
    let count = free.len() as f64;
    let means: Vec<f64> = free.iter().map(|c| log_mean(&c.unit_means)).collect();
    let centre = means.iter().sum::<f64>() / count.max(1.0);
    let error = |c: &Contender| variance / c.unit_means.len() as f64;
    let chance = free.iter().map(|c| error(c)).sum::<f64>() / count.max(1.0);
    let spread = means.iter().map(|m| (m - centre).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let between = (spread - chance).max(0.0);
    let t = StudentsT::new(0.0, 1.0, degrees).ok().filter(|_| (0.0..1.0).contains(&level));
    let t = t.map(|t| t.inverse_cdf((1.0 + level) / 2.0));
    let of = |c: &Contender| {
        if c.censored || c.unit_means.is_empty() {
            return None;
        }
        let (mean, error) = (log_mean(&c.unit_means), error(c));
        let luck = if free.len() > 1 && error + between > 0.0 { error / (error + between) } else { 0.0 };
        let drawn = luck * (mean - centre);
        let of_luck = 2.0 / (count - 3.0).max(1.0) * drawn * drawn;
        let (middle, half) = (mean - drawn, t? * (error + of_luck).sqrt());
        Some(((middle - half).min(mean).exp(), (middle + half).max(mean).exp()))
    };
    contenders.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::{Outcome, *};

    fn model(logs: &[f64]) -> Contender {
        let unit_means = logs.iter().map(|y| y.exp()).collect();
        Contender { name: String::new(), unit_means, outcome: Outcome::Finished, censored: false, dropped: false }
    }

    /// Means 0, 1 and 2; each model varies by 0.02 with one degree of freedom.
    #[test]
    fn the_leader_is_drawn_to_the_others_by_what_chance_explains() {
        let pair = |mean: f64| model(&[mean - 0.1, mean + 0.1]);
        let rules = RaceRules { prior_degrees: 3.0, ..RaceRules::default() };
        let all = intervals(&[pair(0.0), pair(1.0), pair(2.0)], &rules, 0.95);
        // t(3) at 97.5 % is 3.1824; the error 0.02 / 2; chance explains 0.01 of 1 between the models, which is known with
        // the squared error 2 · (0.01 · 1)².
        let (half, luck) = (3.1824 * 0.1, 0.01);
        let (low, high) = all[2].unwrap();
        let wider = 3.1824 * (0.01f64 + 2.0 * 1e-4).sqrt();
        assert!((low.ln() - (2.0 - luck - wider)).abs() < 1e-4 && (high.ln() - (2.0 - luck + wider)).abs() < 1e-4);
        let (low, high) = all[1].unwrap();
        assert!((low.ln() - (1.0 - half)).abs() < 1e-4 && (high.ln() - (1.0 + half)).abs() < 1e-4);
    }

    #[test]
    fn few_units_take_the_prior_and_models_at_the_ceiling_have_no_interval() {
        let held = Contender { censored: true, ..model(&[0.0, 0.1]) };
        let all = intervals(&[model(&[0.0, 0.0]), held, model(&[])], &RaceRules::default(), 0.95);
        // Four degrees of 10 % and one of 0: 0.008. t(5) at 97.5 % is 2.5706.
        let (low, high) = all[0].unwrap();
        assert!((high.ln() - 2.5706 * (0.008f64 / 2.0).sqrt()).abs() < 1e-4 && (low * high - 1.0).abs() < 1e-9);
        assert_eq!(all[1..], [None, None]);
        assert_eq!(intervals(&[model(&[0.0, 0.0])], &RaceRules::default(), 1.0), [None]);
    }
}
