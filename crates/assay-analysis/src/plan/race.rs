//! The model to measure next, from the records so far.

use assay_core::record::Record;
use assay_stats::LEVEL;
use assay_stats::plan::{Contender, NextAction, Order, Rules};

use super::error::PlanError;
use super::field::{Model, gather};
use super::race_types::{Chance, Race};
use crate::compare::Orders;
use crate::load::Load;
use crate::quantity::Quantity;

/// How the race is run.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceOptions {
    /// Probability of the leader being within 3 % of the best at which the race is over.
    pub threshold: f64,
    /// Units of one model at most, at least 2.
    pub cap: u32,
    /// Units that can still be measured.
    pub left: Option<u32>,
    /// Slots that can be used at once.
    pub slots: u32,
    /// Models that an earlier step dropped.
    pub dropped: Vec<String>,
    /// Seed of the draws.
    pub seed: u64,
}

/// The next step of a race among the models of `records` under a load.
///
/// # Errors
/// [`PlanError`]: no model, options out of range, or an unknown dropped model.
pub fn race(records: &[Record], load: &Load, quantity: Quantity, options: &RaceOptions) -> Result<Race, PlanError> {
    in_range(options)?;
    let (mut field, excluded) = gather(records, load, quantity);
    drop_models(&mut field, &options.dropped)?;
    let better = |value: f64| if quantity.more_is_better() { value } else { 1.0 / value };
    let contenders: Vec<Contender> = field.iter().map(|model| model.contender(&better)).collect();
    let usual = Rules::default();
    let rules = Rules {
        sure: options.threshold,
        most_per_model: options.cap,
        units_left: options.left.unwrap_or(usual.units_left),
        slots: options.slots,
        ..usual
    };
    let step = assay_stats::plan::next(&contenders, &rules, options.seed)
        .map_err(|fault| PlanError::new("race", format!("{fault}; measure units of two models or more")))?;
    let name = |index: &usize| field[*index].name.clone();
    let names = |indexes: &[usize]| indexes.iter().map(name).collect::<Vec<_>>();
    let known = std::cell::OnceCell::new();
    let orders = || known.get_or_init(|| Orders::of(records, load, quantity)).clone();
    // The probabilities assume one variance for all units. A model that is worse by the variance of its own units is
    // not as good as another.
    let keep_unbeaten = |models: &mut Vec<String>| {
        let orders = orders();
        let all = models.clone();
        models.retain(|model| !orders.beaten(model, all.iter().map(String::as_str)));
    };
    refuse(&orders(), step.chances.as_ref().map(|chances| chances.leader), &field, &contenders)?;
    let mut action = step.action;
    match &mut action {
        NextAction::PracticallyTied { models, loss } => {
            keep_unbeaten(models);
            let losses = step.chances.iter().flat_map(|chances| field.iter().zip(&chances.loss));
            let tied = losses.filter(|(model, _)| models.contains(&model.name));
            *loss = assay_stats::plan::lost(tied.map(|(_, loss)| *loss).fold(0.0, f64::max));
        }
        NextAction::Exhausted { models } => keep_unbeaten(models),
        NextAction::Measure { orders } => keep_own(orders, &field),
        _ => {}
    }
    let found = step.chances.as_ref();
    let intervals = assay_stats::plan::intervals(&contenders, &rules, LEVEL);
    let mut chances: Vec<Chance> = field.iter().zip(&contenders).map(|(model, c)| model.chance(c)).collect();
    for (index, chance) in chances.iter_mut().enumerate() {
        chance.best = found.map(|found| found.best[index]);
        chance.dropped |= step.dropped.contains(&index);
        chance.out = !assay_stats::plan::in_race(&contenders, index);
        // Figures where less is better were inverted for the race.
        let turned =
            |(low, high): (f64, f64)| if quantity.more_is_better() { (low, high) } else { (1.0 / high, 1.0 / low) };
        chance.interval = intervals[index].filter(|_| found.is_some() && !chance.at_ceiling).map(turned);
    }
    // Of several that are tied the answer says so itself.
    let taken = match &action {
        NextAction::Buy { model } => Some(model),
        NextAction::PracticallyTied { models, .. } if models.len() == 1 => models.first(),
        _ => None,
    };
    let left = || chances.iter().filter(|c| !c.out).map(|c| c.model.as_str());
    let not_separated = taken.map(|model| orders().not_separated(model, left())).unwrap_or_default();
    chances.sort_by(likeliest_first);
    Ok(Race {
        load: load.clone(),
        load_title: load.title(),
        quantity,
        action,
        chances,
        leader: found.map(|found| name(&found.leader)),
        good: found.map(|found| found.good),
        sure: if step.close_models { rules.sure.max(rules.sure_if_close) } else { rules.sure },
        regret: found.map(|found| found.regret),
        unit_deviation: found.map(|found| found.unit_deviation),
        spread: found.map(|found| found.spread),
        close_models: step.close_models,
        not_separated,
        newly_dropped: names(&step.dropped),
        unnamed_units: unnamed_units(&field),
        excluded,
    })
}

fn likeliest_first(a: &Chance, b: &Chance) -> std::cmp::Ordering {
    b.best.unwrap_or(0.0).total_cmp(&a.best.unwrap_or(0.0)).then_with(|| a.model.cmp(&b.model))
}

/// Models with records that do not say their unit.
fn unnamed_units(field: &[Model]) -> Vec<String> {
    let unnamed = |model: &&Model| model.units.iter().any(|unit| unit.name.is_empty());
    field.iter().filter(unnamed).map(|model| model.name.clone()).collect()
}

/// Removes published models from the models to measure, where there are others.
fn keep_own(orders: &mut Vec<Order>, field: &[Model]) {
    let own = |order: &Order| field.iter().any(|known| known.name == order.model && !known.published);
    if orders.iter().any(own) {
        orders.retain(own);
    }
}

/// Refuses a race between models whose figures cannot be compared.
fn refuse(orders: &Orders, leader: Option<usize>, field: &[Model], contenders: &[Contender]) -> Result<(), PlanError> {
    refuse_apart(orders, field, contenders)?;
    refuse_flattered(leader, field, contenders)
}

/// Refuses a race between models whose computers no common unit connects.
fn refuse_apart(orders: &Orders, field: &[Model], contenders: &[Contender]) -> Result<(), PlanError> {
    let is_in = |at: &usize| assay_stats::plan::in_race(contenders, *at) && !field[*at].dropped;
    let left: Vec<&str> = (0..field.len()).filter(is_in).map(|at| field[at].name.as_str()).collect();
    match orders.apart(&left) {
        Some((a, b)) => {
            let message = format!("{a} was measured on another computer than {b}; measure one unit on both");
            Err(PlanError::new("race", message))
        }
        None => Ok(()),
    }
}

/// A model whose figure is the best of several runs may trail a mean, but not lead it: on average its medium is slower.
fn refuse_flattered(leader: Option<usize>, field: &[Model], contenders: &[Contender]) -> Result<(), PlanError> {
    let others =
        |at: &usize| assay_stats::plan::in_race(contenders, *at) && !field[*at].dropped && !field[*at].flattered;
    let leads = leader.filter(|leader| field[*leader].flattered);
    match leads.zip((0..field.len()).find(others)) {
        Some((leader, other)) => {
            let (leader, other) = (&field[leader].name, &field[other].name);
            let message = format!(
                "{leader} leads, as the best of several runs, and {other} is none; measure both in the same way"
            );
            Err(PlanError::new("race", message))
        }
        None => Ok(()),
    }
}

fn in_range(options: &RaceOptions) -> Result<(), PlanError> {
    if !(options.threshold > 0.5 && options.threshold < 1.0) {
        let message = format!("{} %; give more than 50% and less than 100%", options.threshold * 100.0);
        return Err(PlanError::new("--level", message));
    }
    if options.cap < 2 {
        return Err(PlanError::new("--cap", "nothing can be said of a model by one unit; give 2 or more"));
    }
    Ok(())
}

/// What earlier steps dropped takes no part.
fn drop_models(field: &mut [Model], dropped: &[String]) -> Result<(), PlanError> {
    for name in dropped {
        let Some(model) = field.iter_mut().find(|model| model.name.eq_ignore_ascii_case(name)) else {
            return Err(PlanError::new(
                "--dropped",
                format!("there are no records of model `{name}`; see `assay list`"),
            ));
        };
        model.dropped = true;
    }
    Ok(())
}
