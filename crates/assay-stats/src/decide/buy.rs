//! Which model to buy for a number of nodes: what is on the front of price and performance, and
//! what choosing wrong may cost.

use super::posterior::{About, Posterior, Sampler};
use super::refusal::{Refusal, not_negative, positive};
use crate::random::Generator;

/// Performance within this ratio counts as equal; then the cheaper one wins.
pub(crate) const EQUAL: f64 = 1.03;
/// Expected regret (log scale) from which on more testing cannot pay.
pub const ENOUGH: f64 = 0.01;
/// Probability of being on the front that makes a member, and a certain one.
const MEMBER: f64 = 0.50;
const CERTAIN: f64 = 0.95;
/// Draws: the standard error of a probability of 0.5 is 0.005.
const DRAWS: usize = 10_000;

/// A model that can be bought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// What it gives.
    pub performance: Posterior,
    /// Price of one.
    pub price: f64,
    /// Power in watts, where running costs count.
    pub watts: Option<f64>,
    /// Spares as a share of the nodes: those expected to fail.
    pub spare_share: f64,
}

/// What is bought for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fleet {
    /// Nodes, one medium each.
    pub nodes: u32,
    /// Hours of running that are paid for.
    pub hours: f64,
    /// Price of a kilowatt-hour.
    pub kilowatt_hour: f64,
}

/// How firmly a model stands on the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// With 95 % probability.
    Certain,
    /// With half or more.
    Member,
    /// Less likely than not: something else is as fast and cheaper.
    Off,
    /// One unit carries no interval.
    CannotTell,
}

/// One model's part of the answer, in the order of the candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offer {
    /// Media that are bought, with spares.
    pub pieces: u64,
    /// Cost of all, with power.
    pub cost: f64,
    /// Probability of being on the front.
    pub on_front: Option<f64>,
    /// In a word.
    pub standing: Standing,
    /// Expected loss of performance against the best there is, on the log scale: 0.01 is 1 %.
    pub regret: Option<f64>,
    /// Expected loss in money against the best choice, where performance has a value.
    pub regret_money: Option<f64>,
    /// Performance per unit of money; favours slow and cheap media, so nothing is decided by it.
    pub per_money: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Purchase {
    /// One per candidate.
    pub offers: Vec<Offer>,
    /// The candidate with the least expected regret of those that have an interval.
    pub fastest: Option<usize>,
    /// Its expected regret is 1 % or less: more testing cannot pay more than that.
    pub tested_enough: bool,
}

impl Candidate {
    /// Media to buy and their cost with power.
    ///
    /// # Errors
    /// A price, power or time that is negative or not finite, a fleet of none.
    pub fn cost(&self, fleet: &Fleet) -> Result<(u64, f64), Refusal> {
        let nodes = positive("the number of nodes", f64::from(fleet.nodes))?;
        let spares = (nodes * not_negative("the share of spares", self.spare_share)?).ceil();
        let pieces = nodes + spares;
        let watts = not_negative("the power", self.watts.unwrap_or(0.0))?;
        let hours = not_negative("the hours", fleet.hours)?;
        let energy = nodes * watts * hours / 1000.0 * not_negative("the price of energy", fleet.kilowatt_hour)?;
        Ok((pieces as u64, pieces * positive("the price", self.price)? + energy))
    }
}

/// Prices, performance and their uncertainty put together. `worth` is the value of performance to
/// the whole fleet, in money per unit of its logarithm: 1 % more is worth `0.01 * worth`.
///
/// A candidate is off the front in a draw where another is cheaper and not slower by more than
/// 3 %, or costs the same and is faster by more than that. One without interval takes no part.
///
/// # Errors
/// No candidate, or a quantity that is negative or not finite.
pub fn purchase(
    candidates: &[Candidate],
    fleet: &Fleet,
    about: About,
    worth: Option<f64>,
    seed: u64,
) -> Result<Purchase, Refusal> {
    if candidates.is_empty() {
        return Err(Refusal::TooFew { what: "candidates", least: 1, given: 0 });
    }
    let worth = worth.map(|v| not_negative("the worth of performance", v)).transpose()?;
    let costs = candidates.iter().map(|c| c.cost(fleet)).collect::<Result<Vec<_>, _>>()?;
    let known: Vec<(usize, f64, Sampler)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(i, c)| Some((i, costs[i].1, c.performance.sampler(about).ok()?)))
        .collect();
    let tally = tally(&known, worth.unwrap_or(0.0), seed);
    let mut offers: Vec<Offer> = candidates.iter().zip(&costs).map(|(c, cost)| without_interval(c, *cost)).collect();
    for ((i, _, _), seen) in known.iter().zip(&tally) {
        let share = seen.on_front as f64 / DRAWS as f64;
        offers[*i].on_front = Some(share);
        offers[*i].standing = match share {
            s if s >= CERTAIN => Standing::Certain,
            s if s >= MEMBER => Standing::Member,
            _ => Standing::Off,
        };
        offers[*i].regret = Some(seen.regret / DRAWS as f64);
        offers[*i].regret_money = worth.map(|_| seen.money / DRAWS as f64);
    }
    let fastest =
        offers.iter().enumerate().filter_map(|(i, o)| o.regret.map(|r| (i, r))).min_by(|a, b| a.1.total_cmp(&b.1));
    let tested_enough = known.len() == candidates.len() && fastest.is_some_and(|(_, regret)| regret <= ENOUGH);
    Ok(Purchase { offers, fastest: fastest.map(|(i, _)| i), tested_enough })
}

fn without_interval(candidate: &Candidate, (pieces, cost): (u64, f64)) -> Offer {
    let per_money = candidate.performance.value() / cost;
    let standing = Standing::CannotTell;
    Offer { pieces, cost, on_front: None, standing, regret: None, regret_money: None, per_money }
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    on_front: usize,
    regret: f64,
    money: f64,
}

fn tally(known: &[(usize, f64, Sampler)], worth: f64, seed: u64) -> Vec<Tally> {
    let mut generator = Generator::new(seed);
    let mut tally = vec![Tally::default(); known.len()];
    let equal = EQUAL.ln();
    for _ in 0..DRAWS {
        let drawn: Vec<(f64, f64)> = known.iter().map(|(_, cost, s)| (*cost, s.next(&mut generator))).collect();
        let best = drawn.iter().map(|d| d.1).fold(f64::MIN, f64::max);
        let gain = drawn.iter().map(|d| worth * d.1 - d.0).fold(f64::MIN, f64::max);
        for (seen, mine) in tally.iter_mut().zip(&drawn) {
            let beaten = drawn.iter().any(|other| {
                (other.0 < mine.0 && other.1 >= mine.1 - equal) || (other.0 == mine.0 && other.1 > mine.1 + equal)
            });
            seen.on_front += usize::from(!beaten);
            seen.regret += best - mine.1;
            seen.money += gain - (worth * mine.1 - mine.0);
        }
    }
    tally
}
