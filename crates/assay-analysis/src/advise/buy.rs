//! Which model to buy for a number of nodes.

use assay_core::observation::Observation;
use assay_stats::decide::About;
use serde::Serialize;

use super::cache::CacheQuestion;
use super::evidence::{
    AdviseError, EvidenceBasis, EvidenceFigure, Subject, figure, name_missing, nothing_left, some_subjects,
};
use super::nas::NasQuestion;
use super::purchase::{Candidate, ENOUGH, Fleet, FrontStanding, Price, Purchase, price_of, purchase, watts_of};
use crate::compare::Orders;
use crate::{Excluded, Load, Mark, Reason, by_model, deciding_load, deciding_quantity, loads};

const SEED: u64 = 25;

/// A question about a purchase.
#[derive(Debug, Clone, PartialEq)]
pub struct BuyQuestion {
    /// Nodes, one medium each.
    pub nodes: u32,
    /// Words that name the deciding load; `None`: the one of [`crate::deciding_load`].
    pub load: Option<String>,
    /// Most that may be spent.
    pub budget: Option<Price>,
    /// Prices by model. They take precedence over labels.
    pub prices: Vec<(String, Price)>,
    /// Price of a kilowatt-hour, in the currency of the prices.
    pub kilowatt_hour: Option<Price>,
    /// Hours of operation whose energy is paid for.
    pub hours: f64,
    /// Spares as a share of the nodes; by default the share of units that failed.
    pub spare_share: Option<f64>,
    /// The worth of one percent more performance to the whole fleet; by default one percent of the cost of the cheapest
    /// model that is judged.
    pub worth_of_percent: Option<Price>,
}

impl BuyQuestion {
    /// A question for a number of nodes with the defaults: prices from labels, no budget, no energy.
    #[must_use]
    pub fn for_nodes(nodes: u32) -> Self {
        Self {
            nodes,
            load: None,
            budget: None,
            prices: Vec::new(),
            kilowatt_hour: None,
            hours: 0.0,
            spare_share: None,
            worth_of_percent: None,
        }
    }
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuyOffer {
    /// Its name.
    pub model: String,
    /// The performance of the model.
    pub performance: EvidenceFigure,
    /// Whether the bus of the slot was the limit: the performance is a lower bound.
    pub at_ceiling: bool,
    /// Price of one.
    pub price: f64,
    /// Power in watts.
    pub watts: Option<f64>,
    /// Media that are bought.
    pub pieces: u64,
    /// Spares among them.
    pub spares: u64,
    /// Units that were seen, and the number of them that failed.
    pub units: (usize, usize),
    /// Total cost, with energy.
    pub cost: f64,
    /// Standing on the Pareto front of cost and performance.
    pub standing: FrontStanding,
    /// Probability of being on it.
    pub on_front: Option<f64>,
    /// Expected loss of performance against the best, on the log scale.
    pub regret: Option<f64>,
    /// Expected loss of money against the best choice, where performance has a worth.
    pub regret_money: Option<f64>,
    /// Performance of the media of all nodes per unit of money. It favours slow and cheap media, so nothing is decided
    /// by it.
    pub per_money: f64,
}

/// The one to buy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Choice {
    /// This model.
    Buy {
        /// Place in the list.
        index: usize,
        /// Whether more testing cannot gain more than 1 %.
        tested_enough: bool,
        /// Whether the figure is about one unit, so that nothing is known of the model.
        one_unit: bool,
    },
    /// Fewer than two candidates have an interval, or one is left.
    CannotTell {
        /// The fastest of the cheapest, by the estimates alone.
        by_estimate: usize,
    },
    /// None is within the budget.
    OverBudget,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuyAdvice {
    /// Nodes.
    pub nodes: u32,
    /// The deciding load.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// Currency of all money.
    pub currency: String,
    /// Most that may be spent.
    pub budget: Option<f64>,
    /// Hours that are paid for, where energy has a price.
    pub hours: Option<f64>,
    /// Price of a kilowatt-hour.
    pub kilowatt_hour: Option<f64>,
    /// The assumed worth of one percent more performance to the whole fleet, and whether it is a default; `None` where
    /// nothing can be bought.
    pub worth: Option<(f64, bool)>,
    /// The one to buy.
    pub choice: Choice,
    /// Models within the budget that the ranking and the comparison cannot separate from the one to buy.
    pub not_separated: Vec<String>,
    /// All offers, by cost.
    pub options: Vec<BuyOffer>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

/// Puts price, performance and their uncertainty together.
///
/// # Errors
/// No record, no common load, prices that are missing or in several currencies, no node.
pub fn buy(records: &[Observation], question: &BuyQuestion) -> Result<BuyAdvice, AdviseError> {
    let mut excluded = Vec::new();
    let subjects = some_subjects(records, "media", &mut excluded)?;
    let load = deciding_load(&by_model(records), question.load.as_deref(), None)?;
    let quantity =
        deciding_quantity(subjects.iter().flat_map(|subject| subject.records.iter().copied()), &load).quantity;
    let mut offers = Vec::new();
    for subject in subjects {
        let found = figure(&subject, &load, quantity, &mut excluded)?;
        name_missing(&subject, |r| loads([r]).contains(&load), Some(&load), &mut excluded);
        if let Some(performance) = found {
            offers.push((subject, performance));
        }
    }
    if offers.is_empty() {
        return Err(nothing_left("a model under that load", &excluded));
    }
    let offers = priced(offers, question, &mut excluded)?;
    let asked = [&question.budget, &question.kilowatt_hour, &question.worth_of_percent];
    let currency = one_currency(offers.iter().map(|(_, _, price)| price).chain(asked.into_iter().flatten()))?;
    let kilowatt_hour = question.kilowatt_hour.as_ref().map(|price| price.amount);
    let fleet = Fleet { nodes: question.nodes, hours: question.hours, kilowatt_hour: kilowatt_hour.unwrap_or(0.0) };
    let (mut options, mut powerless) = (Vec::new(), Vec::new());
    for (subject, performance, price) in offers {
        let Some(watts) = power(&subject, kilowatt_hour.is_some(), &mut powerless)? else { continue };
        let spare_share = question.spare_share.unwrap_or(subject.failed as f64 / subject.units.max(1) as f64);
        let candidate = Candidate { performance: performance.model()?, price: price.amount, watts, spare_share };
        let (pieces, cost) = candidate.cost(&fleet)?;
        let over = question.budget.as_ref().is_some_and(|b| cost > b.amount);
        let option = BuyOffer {
            at_ceiling: subject.at_ceiling(&load, quantity),
            model: subject.model,
            per_money: performance.value * f64::from(question.nodes) / cost,
            performance,
            price: price.amount,
            watts,
            pieces,
            spares: pieces - u64::from(question.nodes),
            units: (subject.units, subject.failed),
            cost,
            standing: if over { FrontStanding::OverBudget } else { FrontStanding::CannotTell },
            on_front: None,
            regret: None,
            regret_money: None,
        };
        options.push((option, candidate));
    }
    if options.is_empty() {
        return Err(nothing_left("a model with a power", &powerless));
    }
    excluded.extend(powerless);
    options.sort_by(|a, b| a.0.cost.total_cmp(&b.0.cost));
    let (mut options, candidates): (Vec<BuyOffer>, Vec<Candidate>) = options.into_iter().unzip();
    let worth = worth(&options, question);
    let orders = orders(records, &load, &options);
    refuse_apart(&orders, &options)?;
    let choice = choose(&mut options, &candidates, &fleet, question, &orders)?;
    refuse_bounds(&options, &choice)?;
    let affordable = options.iter().filter(|o| o.standing != FrontStanding::OverBudget).map(|o| o.model.as_str());
    let not_separated = match choice {
        Choice::Buy { index, .. } => orders.not_separated(&options[index].model, affordable),
        _ => Vec::new(),
    };
    Ok(BuyAdvice {
        nodes: question.nodes,
        title: load.title(),
        load,
        currency,
        budget: question.budget.as_ref().map(|b| b.amount),
        hours: kilowatt_hour.map(|_| question.hours),
        kilowatt_hour,
        worth,
        choice,
        not_separated,
        options,
        excluded,
    })
}

/// The power of a model, which has to be known where power has a price. `None` where it is left out: figures of articles take
/// no labels.
fn power(
    subject: &Subject<'_>,
    is_asked: bool,
    left_out: &mut Vec<Excluded>,
) -> Result<Option<Option<f64>>, AdviseError> {
    let watts = watts_of(&subject.model, &subject.records)?;
    if !is_asked || watts.is_some() {
        return Ok(Some(watts));
    }
    if subject.records.iter().all(|record| record.is_published()) {
        left_out.extend(subject.records.iter().map(|record| Excluded::new(record, None, Reason::NoPower)));
        return Ok(None);
    }
    let problem = "no label power; give it, like power=1.2W, or leave out --power-price".to_owned();
    Err(AdviseError::Label { model: subject.model.clone(), problem })
}

/// What one percent more performance is worth, and whether that is assumed: one percent of the cheapest, so that twice
/// the price is paid for 2.7 times the performance and not for a few percent.
fn worth(options: &[BuyOffer], question: &BuyQuestion) -> Option<(f64, bool)> {
    if let Some(given) = &question.worth_of_percent {
        return Some((given.amount, false));
    }
    // A model with a single value is not judged, so its price does not count here.
    let within = options.iter().filter(|o| o.standing != FrontStanding::OverBudget && o.performance.n > 1);
    within.map(|o| o.cost / 100.0).min_by(f64::total_cmp).map(|percent| (percent, true))
}

/// Bounds decide in one direction only.
fn refuse_bounds(options: &[BuyOffer], choice: &Choice) -> Result<(), AdviseError> {
    refuse_flattered(options, choice)?;
    refuse_held(options, choice)
}

/// The best of several runs may lose against a mean, and not win: on average its medium does less.
fn refuse_flattered(options: &[BuyOffer], choice: &Choice) -> Result<(), AdviseError> {
    let flattered = |option: &&BuyOffer| option.performance.marks.contains(&Mark::BestOf);
    let Choice::Buy { index, .. } = *choice else { return Ok(()) };
    let other = options.iter().find(|other| other.standing != FrontStanding::OverBudget && !flattered(other));
    match other.filter(|_| flattered(&&options[index])) {
        Some(other) => {
            let (model, other) = (options[index].model.clone(), other.model.clone());
            Err(AdviseError::BestOf { model, other })
        }
        None => Ok(()),
    }
}

/// A figure at the ceiling of a bus may win, but not lose: without the bus, its medium may be faster.
fn refuse_held(options: &[BuyOffer], choice: &Choice) -> Result<(), AdviseError> {
    let Choice::Buy { index, .. } = *choice else { return Ok(()) };
    let taken = &options[index];
    let slower = |other: &&BuyOffer| {
        let within = other.standing != FrontStanding::OverBudget;
        within && other.at_ceiling && other.performance.value < taken.performance.value
    };
    match options.iter().find(slower).filter(|_| !taken.at_ceiling) {
        Some(other) => Err(AdviseError::AtCeiling { model: other.model.clone(), other: taken.model.clone() }),
        None => Ok(()),
    }
}

/// Models whose computers no common unit connects are not compared.
fn refuse_apart(orders: &Orders, options: &[BuyOffer]) -> Result<(), AdviseError> {
    let all: Vec<&str> = options.iter().map(|option| option.model.as_str()).collect();
    match orders.apart(&all) {
        Some((model, other)) => Err(AdviseError::OtherComputer { model, other }),
        None => Ok(()),
    }
}

/// What the comparison tells apart, where all figures are of one kind.
fn orders(records: &[Observation], load: &Load, options: &[BuyOffer]) -> Orders {
    let mut kinds = options.iter().map(|option| option.performance.quantity);
    match kinds.next() {
        Some(first) if kinds.all(|kind| kind == first) => Orders::of_models(records, load, first),
        _ => Orders::default(),
    }
}

fn choose(
    options: &mut [BuyOffer],
    candidates: &[Candidate],
    fleet: &Fleet,
    question: &BuyQuestion,
    orders: &Orders,
) -> Result<Choice, AdviseError> {
    let within: Vec<usize> = (0..options.len()).filter(|i| options[*i].standing != FrontStanding::OverBudget).collect();
    if within.is_empty() {
        return Ok(Choice::OverBudget);
    }
    // One candidate is compared with nothing.
    if options.len() == 1 {
        return Ok(Choice::CannotTell { by_estimate: 0 });
    }
    let affordable: Vec<Candidate> = within.iter().map(|i| candidates[*i]).collect();
    // A logarithm of 0.01 is one percent.
    let worth = worth(options, question).map(|(percent, _)| percent * 100.0);
    let found: Purchase = purchase(&affordable, fleet, About::Mean, worth, SEED)?;
    for (i, offer) in within.iter().zip(&found.offers) {
        let option = &mut options[*i];
        option.standing = match offer.standing {
            // One unit makes nothing certain of its model.
            FrontStanding::Certain if option.performance.basis != EvidenceBasis::Units => FrontStanding::Member,
            standing => standing,
        };
        (option.on_front, option.regret, option.regret_money) = (offer.on_front, offer.regret, offer.regret_money);
    }
    // The one that loses least money, with what performance is worth.
    let known = within.iter().copied().filter(|i| options[*i].regret.is_some());
    let loss = |i: usize| Some((i, options[i].regret_money?));
    // A model of one value takes no part in the draws, and may be better all the same.
    let beaten = |i: usize| {
        let no_dearer = within.iter().filter(|other| options[**other].cost <= options[i].cost);
        orders.beaten(&options[i].model, no_dearer.map(|other| options[*other].model.as_str()))
    };
    let chosen =
        known.clone().filter(|i| !beaten(*i)).filter_map(loss).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i);
    // One of several says nothing of the others: there is no comparison.
    let compared = known.clone().count();
    Ok(match chosen.filter(|_| compared > 1 || within.len() == 1) {
        Some(index) => Choice::Buy {
            index,
            tested_enough: found.tested_enough
                && options[index].regret.is_some_and(|r| r <= ENOUGH)
                && within.iter().all(|i| options[*i].performance.basis == EvidenceBasis::Units),
            one_unit: options[index].performance.basis != EvidenceBasis::Units,
        },
        None => {
            let by_value =
                |a: &&usize, b: &&usize| options[**a].performance.value.total_cmp(&options[**b].performance.value);
            Choice::CannotTell { by_estimate: within.iter().max_by(by_value).copied().unwrap_or(0) }
        }
    })
}

/// Whether the user meant this model. Case is ignored, as in the query `model=`.
fn is_model(written: &str, model: &str) -> bool {
    written.trim().eq_ignore_ascii_case(model)
}

/// What can be bought: a model without a price is left out and named, and does not keep the others from an answer.
fn priced<'a>(
    offers: Vec<(Subject<'a>, EvidenceFigure)>,
    question: &BuyQuestion,
    excluded: &mut Vec<Excluded>,
) -> Result<Vec<(Subject<'a>, EvidenceFigure, Price)>, AdviseError> {
    if let Some((model, _)) = question.prices.iter().find(|(m, _)| offers.iter().all(|(s, _)| !is_model(m, &s.model))) {
        let models: Vec<&str> = offers.iter().map(|(s, _)| s.model.as_str()).collect();
        let problem =
            format!("--price names no model that was measured under that load; there are {}", models.join(", "));
        return Err(AdviseError::Label { model: model.clone(), problem });
    }
    let mut priced = Vec::new();
    let mut unpriced = Vec::new();
    for (subject, performance) in offers {
        let given = question.prices.iter().find(|(model, _)| is_model(model, &subject.model));
        match given.map_or_else(|| price_of(&subject.model, &subject.records), |(_, price)| Ok(Some(price.clone())))? {
            Some(price) => priced.push((subject, performance, price)),
            None => unpriced.extend(subject.records.iter().map(|record| Excluded::new(record, None, Reason::NoPrice))),
        }
    }
    if priced.is_empty() {
        return Err(nothing_left("a model with a price", &unpriced));
    }
    excluded.extend(unpriced);
    Ok(priced)
}

fn one_currency<'a>(prices: impl Iterator<Item = &'a Price>) -> Result<String, AdviseError> {
    let mut all: Vec<&str> = prices.map(|p| p.currency.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    match all[..] {
        [one] => Ok(one.to_owned()),
        _ => Err(AdviseError::Currencies { currencies: all.join(" and ") }),
    }
}

/// A question with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// A medium in each node, or a share of one volume?
    Nas(NasQuestion),
    /// Good as cache?
    Cache(CacheQuestion),
    /// Which one to buy?
    Buy(BuyQuestion),
    /// Which of these classes are met? None: all.
    Class(Vec<&'static str>),
}
