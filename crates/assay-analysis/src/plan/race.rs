//! The model to measure next, from the records so far.

use assay_core::observation::Observation;
use assay_core::verification::Verdict;
use assay_stats::days::{RunOfDay, log_mean_over_days};
use assay_stats::plan::{Contender, NextAction, Order, Outcome, RaceRules};
use assay_stats::{LEVEL, log_mean};
use serde::Serialize;

use super::names::PlanError;
use crate::admission::{admit, named};
use crate::compare::Orders;
use crate::exclusion::Excluded;
use crate::identity::{HostDays, Identity, identity};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::rank::{Levels, is_adjusted};
use crate::reading::{Mark, Reading};

/// The knowledge about a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chance {
    /// The model.
    pub model: String,
    /// Units with a figure.
    pub units: u32,
    /// Mean of the units' geometric means; null without a figure. In the unit of the quantity.
    pub mean: Option<f64>,
    /// 95 % interval of what the model does, less the luck of leading or trailing
    /// ([`assay_stats::plan::intervals`]); null before the first comparison and at a ceiling.
    pub interval: Option<(f64, f64)>,
    /// Probability that it is the best; null before all have their first units.
    pub best: Option<f64>,
    /// It runs at the ceiling of the bus.
    pub at_ceiling: bool,
    /// Some of its units failed.
    pub failed: bool,
    /// Some of its units returned wrong data.
    pub wrong_data: bool,
    /// It is out of the race, however fast it is: units of it failed or returned wrong data, and those of others did
    /// not.
    pub out: bool,
    /// This step or an earlier one dropped it.
    pub dropped: bool,
}

/// One step of the race.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Race {
    /// The load that decides.
    pub load: Load,
    /// Its title.
    pub load_title: String,
    /// The figure that decides.
    pub quantity: Quantity,
    /// What to do.
    #[serde(flatten)]
    pub action: NextAction,
    /// Models, likeliest first.
    pub chances: Vec<Chance>,
    /// The leader.
    pub leader: Option<String>,
    /// Probability that the leader is at most 3 % behind the best.
    pub good: Option<f64>,
    /// The probability that is asked for here.
    pub sure: f64,
    /// Expected loss by taking the leader now: 0.01 is 1 %.
    pub regret: Option<f64>,
    /// Standard deviation of units within a model (logarithms), combined with the prior.
    pub unit_deviation: Option<f64>,
    /// Standard deviation of the means of models (logarithms).
    pub spread: Option<f64>,
    /// Whether models are so close that the higher probability is required.
    pub close_models: bool,
    /// Models in the race that the ranking and the comparison cannot separate from the one to buy, which is the choice of
    /// least expected loss all the same.
    pub not_separated: Vec<String>,
    /// Models that this step drops; name them in the next one.
    pub newly_dropped: Vec<String>,
    /// Units whose figures are not as measured: the effects of slots and rounds were taken out, and so those of computers.
    pub adjusted_units: usize,
    /// Models with records that name no unit; all such records of a model count as one unit.
    pub unnamed_units: Vec<String>,
    /// Records that are not used, with reasons.
    pub excluded: Vec<Excluded>,
}

impl Race {
    /// Whether every model returned wrong data, so that none can be bought.
    #[must_use]
    pub fn nothing_fit(&self) -> bool {
        self.action == NextAction::NothingFit
    }
}

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
pub fn race(
    records: &[Observation],
    load: &Load,
    quantity: Quantity,
    options: &RaceOptions,
) -> Result<Race, PlanError> {
    in_range(options)?;
    let (mut field, excluded) = gather(records, load, quantity);
    drop_models(&mut field, &options.dropped)?;
    let better = |value: f64| if quantity.more_is_better() { value } else { 1.0 / value };
    let contenders: Vec<Contender> = field.iter().map(|model| model.contender(&better)).collect();
    let usual = RaceRules::default();
    let rules = RaceRules {
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
    let orders = || known.get_or_init(|| Orders::of_models(records, load, quantity)).clone();
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
        adjusted_units: field.iter().flat_map(|model| &model.units).filter(|unit| unit.adjusted).count(),
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

// Who takes part in a race, from records.

/// Records of a model, by unit.
pub(super) struct Model {
    pub(super) name: String,
    pub(super) units: Vec<Unit>,
    /// Whether it was measured, or was to be: one that was only checked takes no part.
    measured: bool,
    failed: bool,
    wrong_data: bool,
    pub(super) dropped: bool,
    /// Whether figures of it are the best of several runs.
    pub(super) flattered: bool,
    /// Whether it has published records only, so that the user has no unit of it to measure.
    pub(super) published: bool,
    at_ceiling: bool,
}

pub(super) struct Unit {
    pub(super) name: String,
    /// Whether effects of slots and rounds were taken out.
    adjusted: bool,
    /// The values of its records, each with its day and host.
    runs: Vec<(Vec<f64>, Option<String>)>,
}

impl Model {
    fn means<'a>(&'a self) -> Vec<f64> {
        let dated = |(values, day): &'a (Vec<f64>, Option<String>)| RunOfDay { values, day: day.as_deref() };
        let mean = |unit: &'a Unit| log_mean_over_days(unit.runs.iter().map(dated)).map(f64::exp);
        self.units.iter().filter_map(mean).collect()
    }

    pub(super) fn contender(&self, better: &dyn Fn(f64) -> f64) -> Contender {
        Contender {
            name: self.name.clone(),
            unit_means: self.means().into_iter().map(better).collect(),
            outcome: match (self.wrong_data, self.failed) {
                (true, _) => Outcome::Corrupt,
                (false, true) => Outcome::Failed,
                (false, false) => Outcome::Finished,
            },
            censored: self.at_ceiling,
            dropped: self.dropped,
        }
    }

    pub(super) fn chance(&self, contender: &Contender) -> Chance {
        let means = self.means();
        let mean = log_mean(&means);
        Chance {
            model: self.name.clone(),
            units: u32::try_from(means.len()).unwrap_or(u32::MAX),
            mean: (!means.is_empty()).then(|| mean.exp()),
            interval: None,
            best: None,
            at_ceiling: contender.censored,
            failed: self.failed,
            wrong_data: self.wrong_data,
            out: false,
            dropped: self.dropped,
        }
    }
}

/// The models of these records with what can be used of them, and what cannot.
pub(super) fn gather(records: &[Observation], load: &Load, quantity: Quantity) -> (Vec<Model>, Vec<Excluded>) {
    let mut field: Vec<Model> = Vec::new();
    // A plan cannot ask for a further unit of an unnamed model.
    let (named, mut excluded) = named(records);
    let (levels, days) = (Levels::of(records, load, quantity), HostDays::of(records));
    for record in named {
        let Identity { model, unit, .. } = identity(record);
        let index = field.iter().position(|known| known.name == model).unwrap_or_else(|| {
            let (units, name) = (Vec::new(), model);
            let (measured, failed, wrong_data, dropped) = (false, false, false, false);
            let at_ceiling = levels.at_ceiling(&name);
            let (flattered, published) = (false, true);
            field.push(Model { name, units, measured, failed, wrong_data, dropped, flattered, published, at_ceiling });
            field.len() - 1
        });
        let model = &mut field[index];
        model.published &= record.is_published();
        let verdict = record.verification.as_ref().map(|verification| verification.verdict);
        model.wrong_data |= verdict.is_some_and(Verdict::is_bad);
        model.failed |= record.outcome.medium_failed();
        model.measured |= verdict.is_none() || !record.measurements.is_empty();
        let (reading, reasons) = admit(record, load, quantity);
        excluded.extend(reasons.into_iter().map(|reason| Excluded::new(record, Some(load), reason)));
        let factor = levels.factor(&model.name, &unit);
        model.flattered |= reading.iter().any(|reading| reading.marks.contains(&Mark::BestOf));
        reading.iter().for_each(|reading| model.add(&unit, reading, factor, days.name(record)));
    }
    // A check without findings says nothing about speed. A check that found a fake or a failure says something about
    // the model. A published model without a figure of this load is not asked about.
    let asked = |model: &Model| !(model.published && model.units.is_empty());
    field.retain(|model| (model.measured && asked(model)) || model.failed || model.wrong_data);
    (field, excluded)
}

impl Model {
    fn add(&mut self, unit: &str, reading: &Reading<'_>, factor: f64, day: Option<String>) {
        let run = (reading.values.iter().map(|value| value * factor).collect(), day);
        match self.units.iter_mut().find(|known| known.name == unit) {
            Some(known) => known.runs.push(run),
            None => {
                self.units.push(Unit { name: unit.to_owned(), adjusted: is_adjusted(factor.ln()), runs: vec![run] })
            }
        }
    }
}
