//! A campaign that measures units of the models that may still be the best, and stops when one is.
//!
//! Sequential elimination by the probability of being best, with the expected loss as second way
//! out (Chick and Inoue 2001 for the expected loss; Frazier 2014 for elimination). The prior on
//! the deviation of units is centred at 10 %, as seen on cards; the thresholds come from simulated
//! campaigns of eight models.

use super::action::{NextAction, Order};
use super::fault::Fault;
use super::pbest::{Chances, Summary, chances};
use crate::decide::refusal::{at_least, positive};
use crate::logs::log_mean;

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
pub struct Rules {
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

impl Default for Rules {
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
pub struct Step {
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
pub fn next(contenders: &[Contender], rules: &Rules, seed: u64) -> Result<Step, Fault> {
    check(contenders, rules)?;
    let Some(class) = class(contenders) else {
        return Ok(Step::at_once(NextAction::NothingFit));
    };
    let names = |models: Vec<usize>| models.iter().map(|k| contenders[*k].name.clone()).collect();
    let eligible = |c: &Contender| c.outcome == class;
    let active: Vec<usize> =
        (0..contenders.len()).filter(|k| eligible(&contenders[*k]) && !contenders[*k].dropped).collect();
    let censored: Vec<usize> = active.iter().copied().filter(|k| contenders[*k].censored).collect();
    if censored.len() > 1 {
        return Ok(Step::at_once(NextAction::CeilingTie { models: names(censored) }));
    }
    let first = first_units(contenders, &active, rules);
    if !first.is_empty() {
        return Ok(Step::at_once(match within_budget(first, rules) {
            orders if orders.is_empty() => NextAction::Exhausted { models: names(active) },
            orders => NextAction::Measure { orders },
        }));
    }
    let (variance, degrees) = pooled(contenders, rules);
    let models = summaries(contenders, &active, class);
    let close = rules.close.ln();
    let found = chances(&models, contenders.len(), variance, degrees, close, rules.draws, seed);
    let Some(chances) = found else {
        return Ok(Step::at_once(NextAction::NothingFit));
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
    Ok(Step { action, dropped, chances: Some(chances), close_models })
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

impl Step {
    /// An action that needs no probabilities.
    fn at_once(action: NextAction) -> Self {
        Self { action, dropped: Vec::new(), chances: None, close_models: false }
    }
}

fn check(contenders: &[Contender], rules: &Rules) -> Result<(), Fault> {
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

fn first_units(contenders: &[Contender], active: &[usize], rules: &Rules) -> Vec<Order> {
    let missing = |c: &Contender| rules.first_units.saturating_sub(units(c));
    let order = |c: &Contender| Order { model: c.name.clone(), units: missing(c) };
    active.iter().map(|k| order(&contenders[*k])).filter(|o| o.units > 0).collect()
}

fn more_units(contenders: &[Contender], left: &[usize], rules: &Rules) -> Vec<Order> {
    let models = u32::try_from(left.len()).unwrap_or(u32::MAX).max(1);
    let batch = (rules.slots / models).clamp(1, LARGEST_BATCH);
    let more = |c: &Contender| batch.min(rules.most_per_model.saturating_sub(units(c)));
    let order = |c: &Contender| Order { model: c.name.clone(), units: more(c) };
    left.iter().map(|k| order(&contenders[*k])).filter(|o| o.units > 0).collect()
}

/// As many of the orders as may be measured, those in front first.
fn within_budget(orders: Vec<Order>, rules: &Rules) -> Vec<Order> {
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
pub(super) fn pooled(contenders: &[Contender], rules: &Rules) -> (f64, f64) {
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
