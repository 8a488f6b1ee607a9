//! The arithmetic of a purchase for a number of nodes: prices, the Pareto front of price and performance, and the
//! expected loss of a wrong choice.

use std::str::FromStr;

use assay_core::observation::Observation;
use assay_core::text::quoted;
use assay_stats::decide::{About, Alternative, InputRefusal, Posterior, losses, not_negative, positive};
use serde::Serialize;

use super::evidence::AdviseError;

/// Performance within this ratio counts as equal; then the cheaper one wins.
const EQUAL: f64 = 1.03;
/// Expected regret (log scale) from which on more testing cannot pay.
pub(super) const ENOUGH: f64 = 0.01;
/// Probability of being on the front that makes a member, and a certain one.
const MEMBER: f64 = 0.50;
const CERTAIN: f64 = 0.95;

/// A model that can be bought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// Its performance.
    pub performance: Posterior,
    /// Price of one.
    pub price: f64,
    /// Power in watts, where running costs count.
    pub watts: Option<f64>,
    /// Spares as a share of the nodes: those expected to fail.
    pub spare_share: f64,
}

/// The nodes to buy for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fleet {
    /// Nodes, one medium each.
    pub nodes: u32,
    /// Hours of running that are paid for.
    pub hours: f64,
    /// Price of a kilowatt-hour.
    pub kilowatt_hour: f64,
}

/// How firmly a model stands on the front of price and performance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FrontStanding {
    /// Probability at least 0.95.
    Certain,
    /// Probability at least 0.5.
    Member,
    /// Something else is as fast and cheaper.
    Off,
    /// One value.
    CannotTell,
    /// It costs more than the budget.
    OverBudget,
}

/// One model's part of the answer, in the order of the candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offer {
    /// Media that are bought, with spares.
    pub pieces: u64,
    /// Cost of all, with power.
    pub cost: f64,
    /// Probability of being on the front.
    pub on_front: Option<f64>,
    /// In a word.
    pub standing: FrontStanding,
    /// Expected loss of performance against the best there is, on the log scale: 0.01 is 1 %.
    pub regret: Option<f64>,
    /// Expected loss in money against the best choice, where performance has a value.
    pub regret_money: Option<f64>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Purchase {
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
    pub fn cost(&self, fleet: &Fleet) -> Result<(u64, f64), InputRefusal> {
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
pub(super) fn purchase(
    candidates: &[Candidate],
    fleet: &Fleet,
    about: About,
    worth: Option<f64>,
    seed: u64,
) -> Result<Purchase, InputRefusal> {
    if candidates.is_empty() {
        return Err(InputRefusal::TooFew { what: "candidates", least: 1, given: 0 });
    }
    let worth = worth.map(|v| not_negative("the worth of performance", v)).transpose()?;
    let costs = candidates.iter().map(|c| c.cost(fleet)).collect::<Result<Vec<_>, _>>()?;
    let alternatives: Vec<Alternative> =
        candidates.iter().zip(&costs).map(|(c, (_, cost))| Alternative { cost: *cost, value: c.performance }).collect();
    let losses = losses(&alternatives, about, EQUAL.ln(), worth.unwrap_or(0.0), seed);
    let mut offers: Vec<Offer> = costs.iter().map(|cost| without_interval(*cost)).collect();
    for (offer, loss) in offers.iter_mut().zip(&losses) {
        let Some(loss) = loss else { continue };
        offer.on_front = Some(loss.on_front);
        offer.standing = match loss.on_front {
            s if s >= CERTAIN => FrontStanding::Certain,
            s if s >= MEMBER => FrontStanding::Member,
            _ => FrontStanding::Off,
        };
        offer.regret = Some(loss.value);
        offer.regret_money = worth.map(|_| loss.money);
    }
    let fastest =
        offers.iter().enumerate().filter_map(|(i, o)| o.regret.map(|r| (i, r))).min_by(|a, b| a.1.total_cmp(&b.1));
    let tested_enough = losses.iter().all(Option::is_some) && fastest.is_some_and(|(_, regret)| regret <= ENOUGH);
    Ok(Purchase { offers, fastest: fastest.map(|(i, _)| i), tested_enough })
}

fn without_interval((pieces, cost): (u64, f64)) -> Offer {
    let standing = FrontStanding::CannotTell;
    Offer { pieces, cost, on_front: None, standing, regret: None, regret_money: None }
}

// Prices and powers as people label their media.

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// How much; above zero.
    pub amount: f64,
    /// Of what, as it was written: `USD`, `EUR`, `$`.
    pub currency: String,
}

/// A text that is no price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a price; write an amount and a currency, like 12.90USD", quoted(.0))]
pub struct PriceError(pub String);

/// Longest name of a currency.
const LONGEST: usize = 8;

impl FromStr for Price {
    type Err = PriceError;

    /// `12.90USD`, `12.90 USD`, `USD 12.90`, `$25`.
    fn from_str(text: &str) -> Result<Self, PriceError> {
        let fail = || PriceError(text.to_owned());
        let part = |number: bool| -> String {
            text.chars().filter(|c| (c.is_ascii_digit() || *c == '.') == number && !c.is_whitespace()).collect()
        };
        let (number, currency) = (part(true), part(false));
        // The number is in one piece, before or after the currency.
        let whole = text.replace(char::is_whitespace, "");
        let tidy = whole == format!("{number}{currency}") || whole == format!("{currency}{number}");
        let named = !currency.is_empty()
            && currency.chars().count() <= LONGEST
            && currency.chars().all(|c| c.is_alphabetic() || "$€£¥".contains(c));
        let amount: f64 = number.parse().map_err(|_| fail())?;
        if !tidy || !named || !amount.is_finite() || amount <= 0.0 {
            return Err(fail());
        }
        Ok(Self { amount, currency: currency.to_uppercase() })
    }
}

/// The price that the records of a model agree on, if any has one.
pub(super) fn price_of(model: &str, records: &[&Observation]) -> Result<Option<Price>, AdviseError> {
    let fail = |problem: String| AdviseError::Label { model: model.to_owned(), problem };
    let mut found: Option<Price> = None;
    for text in records.iter().filter_map(|r| r.labels.get("price")) {
        let price: Price = text.parse().map_err(|e: PriceError| fail(format!("label price: {e}")))?;
        if found.as_ref().is_some_and(|known| *known != price) {
            return Err(fail("its records have different prices; say which with --price 'MODEL=12.90USD'".to_owned()));
        }
        found = Some(price);
    }
    Ok(found)
}

/// Watts that the records of a model agree on, from the label `power`: `1.2W`, `150mW`, `0.3`.
pub(super) fn watts_of(model: &str, records: &[&Observation]) -> Result<Option<f64>, AdviseError> {
    let mut found: Option<f64> = None;
    for text in records.iter().filter_map(|r| r.labels.get("power")) {
        let bare = text.trim();
        let (number, factor) = match bare.strip_suffix("mW") {
            Some(number) => (number, 1e-3),
            None => (bare.strip_suffix('W').unwrap_or(bare), 1.0),
        };
        let watts = number.trim().parse::<f64>().ok().map(|w| w * factor).filter(|w| w.is_finite() && *w >= 0.0);
        let problem = match (watts, found) {
            (None, _) => Some(format!("label power: {} is not a power; write watts, like power=1.2W", quoted(text))),
            (Some(watts), Some(known)) if watts != known => {
                Some("its records have different powers; make their labels power equal".to_owned())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(AdviseError::Label { model: model.to_owned(), problem });
        }
        found = watts;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_people_write_them() {
        for text in ["12.90USD", "12.90 usd", "USD 12.90"] {
            assert_eq!(text.parse(), Ok(Price { amount: 12.9, currency: "USD".to_owned() }), "{text}");
        }
        assert_eq!("$25".parse(), Ok(Price { amount: 25.0, currency: "$".to_owned() }));
        for bad in ["", "25", "USD", "0USD", "-3USD", "1.2.3USD", "NaNUSD", "1U2SD", "12,90EUR", "inf", "25US/D"] {
            assert!(bad.parse::<Price>().is_err(), "{bad}");
        }
    }
}
