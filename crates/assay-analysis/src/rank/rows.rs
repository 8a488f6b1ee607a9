//! Models and pairs as rows.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::estimate::Estimate;
use assay_stats::log_mean;
use assay_stats::rank::{self as stats, Fit, ModelFit, Precision, Ranked, Ranking, Rule, aggregate};

use super::answer::{ModelRow, PairRow, Ratio, Standing, TwoSpeeds, UnitRow};
use super::collect::Session;
use super::setting::{Held, Setting};
use crate::reading::Mark;

/// All models, ordered ones first; then specimens and others by name, then those without a figure.
pub(super) fn rows(
    setting: &Setting<'_>,
    fit: &Fit,
    ranking: Option<&Ranking>,
    sessions: &[Session<'_>],
    held: &Held,
) -> Vec<ModelRow> {
    let level = 1.0 - setting.ask.alpha;
    let mut of: BTreeMap<&str, Vec<&Session<'_>>> = BTreeMap::new();
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
            standing: if model.is_none() { Standing::NoFigure } else { Standing::Unordered },
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
            units: model.map_or_else(Vec::new, |m| units(m, sessions, held)),
            marks: marks(sessions),
        }
    };
    let mut rows = Vec::with_capacity(setting.records.0.len());
    for (place, ranked) in ranking.iter().flat_map(|r| r.models.iter().enumerate()) {
        let estimate = Some(estimate(ranked, level));
        rows.push(ModelRow {
            standing: if ranked.provisional { Standing::Provisional } else { Standing::Ranked },
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
        let standing = if specimen { Standing::Specimen } else { Standing::Unordered };
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

/// Equal units are copies and say nothing of the next one.
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

fn to_first(ranking: &Ranking, place: usize) -> Option<Ratio> {
    if place == 0 {
        return Some(Ratio { point: 1.0, low: None, high: None });
    }
    let pair = ranking.pairs.iter().find(|p| p.first == 0 && p.second == place)?;
    Some(inverted(Ratio { point: pair.ratio, low: pair.low, high: pair.high }))
}

/// All pairs of a ranking.
pub(super) fn pairs(ranking: &Ranking) -> Vec<PairRow> {
    let name = |at: usize| ranking.models[at].name.clone();
    let row = |pair: &stats::Pair| PairRow {
        first: name(pair.first),
        second: name(pair.second),
        ratio: Ratio { point: pair.ratio, low: pair.low, high: pair.high },
        verdict: pair.verdict,
    };
    ranking.pairs.iter().map(row).collect()
}

fn units(model: &ModelFit, sessions: &[&Session<'_>], held: &Held) -> Vec<UnitRow> {
    let row = |unit: &stats::UnitFit| {
        let own: Vec<&&Session<'_>> = sessions.iter().filter(|s| s.identity.unit == unit.name).collect();
        UnitRow {
            unit: unit.name.clone(),
            value: unit.ln.exp(),
            runs: unit.repeats,
            run_deviation: run_deviation(&own),
            at_ceiling: held.unit(&model.name, &unit.name),
            erratic: own.iter().any(|s| s.unsteady),
            two_speeds: own.iter().find_map(|s| {
                let groups = aggregate(&s.values, Rule::Geometric).ok()?.groups?;
                Some(TwoSpeeds { record: s.record.id.clone(), ratio: groups.ratio, values: s.values.clone() })
            }),
        }
    };
    model.units.iter().map(row).collect()
}

/// Pooled over the records of a unit: slots and rounds differ between them.
fn run_deviation(sessions: &[&&Session<'_>]) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0usize);
    for values in sessions.iter().map(|s| &s.values).filter(|v| v.len() > 1) {
        let mean = log_mean(values);
        squares += values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
        degrees += values.len() - 1;
    }
    (degrees > 0).then(|| (squares / degrees as f64).sqrt())
}

fn marks(sessions: &[&Session<'_>]) -> Vec<(Mark, usize)> {
    let mut counts: BTreeMap<Mark, usize> = BTreeMap::new();
    for mark in sessions.iter().flat_map(|s| &s.marks) {
        *counts.entry(*mark).or_default() += 1;
    }
    counts.into_iter().collect()
}
