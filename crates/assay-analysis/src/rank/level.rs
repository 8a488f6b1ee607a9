//! What models do under a load, and which of two is better. Every command that speaks of models takes it from here.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use assay_stats::days::{RunOfDay, log_mean_over_days};
use assay_stats::log_mean;
use assay_stats::rank::{
    AggregateRule, Fit, FitValue, ModelFit, ModelRanking, Options, Precision, RankRefusal, Ranked, Sense, aggregate,
    {self as stats},
};

use super::answer::{Held, ModelRow, PairRow, RankOptions, RankStanding, Ratio, Setting, TwoSpeeds, UnitRow};
use super::collect::UnitUnderLoad;
use crate::admission::named;
use crate::exclusion::Excluded;
use crate::identity::{Seen, not_connected};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Mark, uniform};

/// Draws for the load that decides: the standard error of an error rate of 5 % is 0.15 %.
const DRAWS: usize = 19_999;
/// Draws for the others: 0.3 %, at a quarter of the time.
const FEWER_DRAWS: usize = 4_999;

/// The measurements under a load, with the effects of slots and rounds removed.
#[derive(Debug)]
pub(super) struct Level<'a> {
    pub(super) sessions: Vec<UnitUnderLoad<'a>>,
    pub(super) excluded: Vec<Excluded>,
    pub(super) fit: Fit,
    pub(super) held: Held,
}

impl Setting<'_> {
    /// `None` where no model has a figure.
    pub(super) fn level(&self, load: &Load, quantity: Quantity) -> Option<Level<'_>> {
        let (sessions, excluded) = self.catalogue.gather(load, quantity);
        // The values have been checked: the only possible error is that there are none.
        let fit = fit(&sessions, &observations(&sessions))?;
        let held = self.held(&sessions, load);
        Some(Level { sessions, excluded, fit, held })
    }

    /// The effects of slots and rounds on each unit, and the units at the ceiling.
    pub(crate) fn levels(&self, load: &Load, quantity: Quantity) -> Levels {
        self.level(load, quantity).map_or_else(Levels::default, |level| Levels::from(&level))
    }

    /// Orders the models, as far as their units allow.
    pub(super) fn order(
        &self,
        fit: &Fit,
        held: &Held,
        quantity: Quantity,
        exploratory: bool,
    ) -> Result<ModelRanking, RankRefusal> {
        stats::rank_sharing(&self.entrants(fit, held), &fit.shared, &self.options(quantity, exploratory))
    }

    pub(super) fn options(&self, quantity: Quantity, exploratory: bool) -> Options {
        Options {
            alpha: self.ask.alpha,
            delta: self.ask.delta.ln_1p(),
            draws: if exploratory { FEWER_DRAWS } else { DRAWS },
            seed: self.ask.seed,
            borrow: self.ask.borrow,
            sense: if quantity.more_is_better() { Sense::HigherIsBetter } else { Sense::LowerIsBetter },
            ..Options::default()
        }
    }

    /// Units at the ceiling by model and unit: at least half of their records are.
    fn held(&self, sessions: &[UnitUnderLoad<'_>], load: &Load) -> Held {
        let mut records: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
        for session in sessions {
            let key = (session.identity.model.clone(), session.identity.unit.clone());
            let (held, of) = records.entry(key).or_default();
            *held += usize::from(self.ceilings.holds(session, load.op()));
            *of += 1;
        }
        let best_of = sessions.iter().filter(|session| session.marks.contains(&Mark::BestOf));
        Held {
            units: records.into_iter().map(|(key, (held, of))| (key, 2 * held >= of)).collect(),
            flattered: best_of.map(|session| session.identity.model.clone()).collect(),
        }
    }

    pub(super) fn entrants(&self, fit: &Fit, held: &Held) -> Vec<stats::Entrant> {
        let mut entrants = fit.entrants();
        for entrant in &mut entrants {
            entrant.class = self.records.class(&entrant.name);
        }
        entrants.into_iter().map(|entrant| held.bounded(entrant)).collect()
    }
}

pub(super) fn observation<'a>(session: &'a UnitUnderLoad<'_>, value: f64, weight: f64) -> FitValue<'a> {
    FitValue {
        model: session.identity.model.as_str().into(),
        unit: session.identity.unit.as_str().into(),
        slot: session.identity.slot.as_deref().map(Into::into),
        wave: session.wave,
        day: None,
        order: None,
        weight,
        value,
    }
}

/// The models of these sessions, by some of their observations.
pub(super) fn fit(sessions: &[UnitUnderLoad<'_>], observations: &[FitValue<'_>]) -> Option<Fit> {
    let mut fit = stats::fit(observations).ok()?;
    let seen = |session: &'_ UnitUnderLoad<'_>| (session.identity.model.clone(), session.identity.unit.clone());
    let whose: Vec<(String, String)> = sessions.iter().map(seen).collect();
    let all: Vec<Seen<'_, &str>> = sessions
        .iter()
        .zip(&whose)
        .map(|(session, (model, unit))| Seen {
            group: model.as_str(),
            unit: (model, unit),
            computer: session.computer.as_deref(),
        })
        .collect();
    not_connected(&all).into_iter().for_each(|(a, b)| fit.shared.set_apart(a, b));
    let mut printed: BTreeMap<&str, f64> = BTreeMap::new();
    for session in sessions {
        let own = printed.entry(&session.identity.model).or_default();
        *own = own.max(uniform(session.resolution));
    }
    fit.shared.add_own(&printed);
    Some(fit)
}

/// Each day of a unit counts for as much, however many sessions it has, and each session of it, however many repeats: so do
/// comparison, race and advice.
pub(super) fn observations<'a>(sessions: &'a [UnitUnderLoad<'_>]) -> Vec<FitValue<'a>> {
    let mut of_day: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
    let day = |session: &'a UnitUnderLoad<'_>| {
        (session.identity.model.as_str(), session.identity.unit.as_str(), session.day.as_deref())
    };
    sessions.iter().for_each(|session| *of_day.entry(day(session)).or_default() += 1);
    let rounds = sessions.iter().any(|session| session.wave.is_some());
    let of = |session: &'a UnitUnderLoad<'_>| {
        let weight = 1.0 / (session.values.len() * of_day[&day(session)]) as f64;
        // Rounds are the days of a plan.
        let day = session.day.as_deref().filter(|_| !rounds).map(Into::into);
        session.values.iter().map(move |value| FitValue { day: day.clone(), ..observation(session, *value, weight) })
    };
    sessions.iter().flat_map(of).collect()
}

/// The levels of each model under a load, for commands that do not show a whole ranking.
#[derive(Debug, Clone, Default)]
pub(crate) struct Levels {
    /// By model and unit: the effect of slots and rounds on its logarithm, on average over its runs.
    added: BTreeMap<(String, String), f64>,
    held: Held,
    precisions: BTreeMap<String, Precision>,
}

impl Levels {
    /// Of records under a load.
    pub(crate) fn of<'a>(records: impl IntoIterator<Item = &'a Observation>, load: &Load, quantity: Quantity) -> Self {
        let (named, _) = named(records);
        Setting::new(&named, &RankOptions::default()).levels(load, quantity)
    }

    fn from(level: &Level<'_>) -> Self {
        let (held, precisions) = (level.held.clone(), level.held.precisions(&level.fit));
        // Nothing was taken out.
        if !has_effects(&level.fit) {
            return Self { added: BTreeMap::new(), held, precisions };
        }
        let mut runs: BTreeMap<(&str, &str), Vec<RunOfDay<'_>>> = BTreeMap::new();
        for session in &level.sessions {
            let run = RunOfDay { values: &session.values, day: session.day.as_deref() };
            runs.entry((&session.identity.model, &session.identity.unit)).or_default().push(run);
        }
        let units =
            level.fit.models.iter().flat_map(|model| model.units.iter().map(|unit| (model.name.as_str(), unit)));
        let added = units.filter_map(|(model, unit)| {
            let runs = runs.get(&(model, unit.name.as_str()))?;
            let mean = log_mean_over_days(runs.iter().copied())?;
            Some(((model.to_owned(), unit.name.clone()), mean - unit.ln))
        });
        Self { added: added.collect(), held, precisions }
    }

    /// What a figure of a unit is multiplied by, so that it is what the unit does in the mean slot and round.
    pub(crate) fn factor(&self, model: &str, unit: &str) -> f64 {
        self.added.get(&(model.to_owned(), unit.to_owned())).map_or(1.0, |added| (-added).exp())
    }

    /// Whether anything was taken out.
    pub(crate) fn adjusted(&self) -> bool {
        self.added.values().any(|added| is_adjusted(*added))
    }

    /// How well the units of a model tell its mean; `None` where nothing tells that, as of one unit.
    pub(crate) fn precision(&self, model: &str) -> Option<Precision> {
        self.precisions.get(model).copied()
    }

    /// Whether a model runs at the ceiling of its bus.
    pub(crate) fn at_ceiling(&self, model: &str) -> bool {
        self.held.model(model)
    }
}

/// Whether effects of slots or rounds were taken out of figures.
fn has_effects(fit: &Fit) -> bool {
    !(fit.slots.is_empty() && fit.waves.is_empty())
}

/// Whether an effect on a logarithm makes the figure another one than what was measured.
pub(crate) fn is_adjusted(effect: f64) -> bool {
    effect.abs() > 1e-9
}

/// Models under a load, with the decision on each pair.
#[derive(Debug)]
pub(crate) struct DecidedLoad {
    pub(crate) levels: Levels,
    ranking: Option<ModelRanking>,
    fit: Fit,
}

impl DecidedLoad {
    /// `None` where no model has a figure.
    pub(crate) fn from_setting(
        setting: &Setting<'_>,
        load: &Load,
        quantity: Quantity,
        exploratory: bool,
    ) -> Option<Self> {
        let level = setting.level(load, quantity)?;
        let ranking = setting.order(&level.fit, &level.held, quantity, exploratory).ok();
        Some(Self { levels: Levels::from(&level), ranking, fit: level.fit })
    }

    /// The ends of the interval of the logarithm of one model over another, and whether the difference is significant;
    /// `None` where it was not tested: a model of one unit, or both at the ceiling.
    pub(crate) fn between(&self, a: &str, b: &str) -> Option<((f64, f64), bool)> {
        self.ranking.as_ref()?.between(a, b)
    }

    /// The estimate for a model of several units, as the ranking shows it.
    pub(crate) fn estimate(&self, model: &str, level: f64) -> Option<Estimate> {
        let ranked = self.ranking.iter().flat_map(|ranking| &ranking.models).find(|ranked| ranked.name == model);
        if let Some(ranked) = ranked {
            return Some(estimate(ranked, level));
        }
        let fit = self.fit.models.iter().find(|fit| fit.name == model && fit.units.len() > 1)?;
        let known = self.levels.precision(model).filter(|_| !self.levels.at_ceiling(model));
        Some(unordered(fit, known, level))
    }

    /// Models that were tested.
    pub(crate) fn models(&self) -> usize {
        self.ranking.as_ref().map_or(0, |ranking| ranking.models.len())
    }
}

// Models and pairs as rows.

/// All models, ordered ones first; then specimens and others by name, then those without a figure.
pub(super) fn rows(
    setting: &Setting<'_>,
    fit: &Fit,
    ranking: Option<&ModelRanking>,
    sessions: &[UnitUnderLoad<'_>],
    held: &Held,
) -> Vec<ModelRow> {
    let level = 1.0 - setting.ask.alpha;
    let mut of: BTreeMap<&str, Vec<&UnitUnderLoad<'_>>> = BTreeMap::new();
    for session in sessions {
        of.entry(&session.identity.model).or_default().push(session);
    }
    let named: BTreeMap<&str, &ModelFit> = fit.models.iter().map(|m| (m.name.as_str(), m)).collect();
    let base = |name: &str| {
        let sessions = of.get(name).map_or(&[][..], Vec::as_slice);
        let model = named.get(name).copied();
        let (failures, failed) = setting.records.failures(name, level);
        ModelRow {
            model: name.to_owned(),
            standing: if model.is_none() { RankStanding::NoFigure } else { RankStanding::Unordered },
            layer: None,
            medal: None,
            tied: false,
            ranks: None,
            estimate: None,
            to_first: None,
            at_ceiling: held.model(name),
            variance_compressed: false,
            class: setting.records.class(name),
            failures,
            failed,
            unit_variance: model.and_then(|m| m.variance),
            further_unit: model.filter(|_| !held.model(name)).and_then(|m| further_unit(m, level)),
            units: model.map_or_else(Vec::new, |m| units(m, sessions, (held, has_effects(fit)))),
            marks: marks(sessions),
        }
    };
    let mut rows = Vec::with_capacity(setting.records.0.len());
    for (place, ranked) in ranking.iter().flat_map(|r| r.models.iter().enumerate()) {
        let estimate = Some(estimate(ranked, level));
        rows.push(ModelRow {
            standing: if ranked.provisional { RankStanding::Provisional } else { RankStanding::Ranked },
            layer: Some(ranked.layer + 1),
            medal: ranked.medal,
            tied: ranked.tied,
            ranks: Some(ranked.ranks),
            estimate,
            to_first: ranking.and_then(|r| to_first(r, place)),
            ..base(&ranked.name)
        });
    }
    let placed: BTreeSet<String> = rows.iter().map(|r| r.model.clone()).collect();
    let known = held.precisions(fit);
    for model in fit.models.iter().filter(|m| !placed.contains(&m.name)) {
        let row = base(&model.name);
        let specimen = model.units.len() == 1;
        let standing = if specimen { RankStanding::Specimen } else { RankStanding::Unordered };
        let known = known.get(&model.name).copied().filter(|_| !row.at_ceiling);
        rows.push(ModelRow { standing, estimate: Some(unordered(model, known, level)), ..row });
    }
    rows.extend(setting.records.0.keys().filter(|name| !named.contains_key(name.as_str())).map(|name| base(name)));
    rows
}

pub(super) fn estimate(ranked: &Ranked, level: f64) -> Estimate {
    let interval = ranked.low.is_some() || ranked.high.is_some();
    let method = match (ranked.censored, interval) {
        (true, _) => "geometric mean over units, a lower bound of the medium: held by the bus",
        (false, true) => "geometric mean over units, t interval on logarithms, moderated variance",
        (false, false) => "geometric mean over units, not tested",
    };
    Estimate {
        point: ranked.value,
        low: ranked.low,
        high: ranked.high,
        level: interval.then_some(level),
        n: ranked.units,
        method: method.to_owned(),
    }
}

/// Equal units are copies and say nothing about the next one.
fn further_unit(model: &ModelFit, level: f64) -> Option<(f64, f64)> {
    let copies = model.variance.is_some_and(|variance| variance <= 0.0);
    assay_stats::variation::further_unit(level, model.units.len(), model.mean, model.variance).filter(|_| !copies)
}

/// A model without an order; `None` of how well its mean is known where nothing tells, as at the ceiling.
pub(super) fn unordered(model: &ModelFit, known: Option<Precision>, level: f64) -> Estimate {
    let n = model.degrees() + 1;
    let half = known.and_then(|known| known.half(level));
    Estimate {
        point: model.mean.exp(),
        low: half.map(|half| (model.mean - half).exp()),
        high: half.map(|half| (model.mean + half).exp()),
        level: half.map(|_| level),
        n,
        method: match (n, half) {
            (1, _) => "one unit: no interval for the model".to_owned(),
            (_, Some(_)) => "geometric mean over units, t interval on logarithms".to_owned(),
            _ => "geometric mean over units, no interval".to_owned(),
        },
    }
}

fn inverted(ratio: Ratio) -> Ratio {
    Ratio { point: 1.0 / ratio.point, low: ratio.high.map(|v| 1.0 / v), high: ratio.low.map(|v| 1.0 / v) }
}

fn to_first(ranking: &ModelRanking, place: usize) -> Option<Ratio> {
    if place == 0 {
        return Some(Ratio { point: 1.0, low: None, high: None });
    }
    let pair = ranking.pairs.iter().find(|p| p.first == 0 && p.second == place)?;
    Some(inverted(Ratio { point: pair.ratio, low: pair.low, high: pair.high }))
}

/// All pairs of a ranking.
pub(super) fn pairs(ranking: &ModelRanking) -> Vec<PairRow> {
    let name = |at: usize| ranking.models[at].name.clone();
    let row = |pair: &stats::Pair| PairRow {
        first: name(pair.first),
        second: name(pair.second),
        ratio: Ratio { point: pair.ratio, low: pair.low, high: pair.high },
        verdict: pair.verdict,
    };
    ranking.pairs.iter().map(row).collect()
}

/// The units of a model; `placed` if effects of slots or rounds were taken out of any.
fn units(model: &ModelFit, sessions: &[&UnitUnderLoad<'_>], (held, placed): (&Held, bool)) -> Vec<UnitRow> {
    let row = |unit: &stats::UnitFit| {
        let own: Vec<&&UnitUnderLoad<'_>> = sessions.iter().filter(|s| s.identity.unit == unit.name).collect();
        UnitRow {
            unit: unit.name.clone(),
            value: unit.ln.exp(),
            measured: as_measured(&own).filter(|ln| placed && is_adjusted(ln - unit.ln)).map(f64::exp),
            runs: unit.repeats,
            run_deviation: run_deviation(&own),
            at_ceiling: held.unit(&model.name, &unit.name),
            erratic: own.iter().any(|s| s.unsteady),
            two_speeds: own.iter().find_map(|s| {
                let groups = aggregate(&s.values, AggregateRule::Geometric).ok()?.groups?;
                Some(TwoSpeeds { record: s.record.id.clone(), ratio: groups.ratio, values: s.values.clone() })
            }),
        }
    };
    model.units.iter().map(row).collect()
}

/// The mean of logarithms of a unit over its days, with the effects of slots and rounds.
fn as_measured(sessions: &[&&UnitUnderLoad<'_>]) -> Option<f64> {
    log_mean_over_days(sessions.iter().map(|session| RunOfDay { values: &session.values, day: session.day.as_deref() }))
}

/// Pooled over the records of a unit: slots and rounds differ between them.
fn run_deviation(sessions: &[&&UnitUnderLoad<'_>]) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0usize);
    for values in sessions.iter().map(|s| &s.values).filter(|v| v.len() > 1) {
        let mean = log_mean(values);
        squares += values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
        degrees += values.len() - 1;
    }
    (degrees > 0).then(|| (squares / degrees as f64).sqrt())
}

fn marks(sessions: &[&UnitUnderLoad<'_>]) -> Vec<(Mark, usize)> {
    let mut counts: BTreeMap<Mark, usize> = BTreeMap::new();
    for mark in sessions.iter().flat_map(|s| &s.marks) {
        *counts.entry(*mark).or_default() += 1;
    }
    counts.into_iter().collect()
}
