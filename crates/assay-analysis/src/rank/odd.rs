//! Units that deviate from the others of their model.

use std::collections::BTreeMap;

use assay_core::workload::Op;
use assay_stats::rank::{Fit, ODD_ALPHA, Ranking, odd_units, units_to_name};

use super::answer::{Deviation, LoadRanking, Unresolved};

/// A ranking without a unit.
pub(super) type Without<'a> = &'a dyn Fn(&str, &str) -> Option<Ranking>;

/// Whether a unit has only one repeat, on a disturbed host.
pub(super) type Once<'a> = &'a dyn Fn(&str, &str) -> bool;

/// The share of the false-alarm probability for one load. The load that decides gets half of it, and all others share
/// the other half.
pub(super) fn alpha(exploratory: bool, loads: usize) -> f64 {
    match loads {
        0 | 1 => ODD_ALPHA,
        _ if !exploratory => ODD_ALPHA / 2.0,
        more => ODD_ALPHA / 2.0 / (more - 1) as f64,
    }
}

/// All odd units, with probability `alpha` of any false alarm, and the number of units tested. With `without`, also
/// whether medals change when a unit is left out. `once` is true for units that were measured once, while their host
/// was disturbed.
pub(super) fn odd(
    fit: &Fit,
    ranking: Option<&Ranking>,
    alpha: f64,
    (without, once): (Option<Without<'_>>, Once<'_>),
) -> (Vec<Unresolved>, usize) {
    let found = odd_units(&fit.models, alpha);
    let of = |model: &str| fit.models.iter().find(|m| m.name == model);
    let count = |model: &str| of(model).map_or(0, |m| m.units.len());
    let depends = |model: &str, unit: &str| {
        let rest = without.and_then(|without| without(model, unit));
        ranking.zip(rest).is_some_and(|(with, rest)| layers(with) != layers(&rest))
    };
    let new = |model: &str, unit: Option<String>, ratio: f64, tested: bool, heavy_tails: bool| Unresolved {
        model: model.to_owned(),
        ranking_depends: unit.as_ref().is_some_and(|unit| depends(model, unit)),
        needed: unit.is_none().then(|| units_to_name(&fit.models, model, ratio, alpha)).flatten(),
        again: unit.as_ref().is_some_and(|unit| once(model, unit)),
        unit,
        ratio,
        of: count(model),
        tested,
        heavy_tails,
        slot_known: fit.units_known(),
    };
    let mut all: Vec<Unresolved> =
        found.odd.iter().map(|o| new(&o.model, Some(o.unit.clone()), o.ratio, true, false)).collect();
    all.extend(found.disagree.iter().map(|d| new(&d.model, None, d.ratio, true, d.heavy_tails)));
    all.extend(found.untested.iter().map(|d| new(&d.model, None, d.ratio, false, d.heavy_tails)));
    (all, found.tested)
}

fn layers(ranking: &Ranking) -> BTreeMap<&str, usize> {
    ranking.models.iter().map(|m| (m.name.as_str(), m.layer)).collect()
}

/// Model, unit, direction, and whether it is below the others.
type Who<'a> = (&'a str, &'a str, &'static str, bool);

/// Units that deviate, over all loads of a direction. A unit that deviates both ways is there twice.
pub(super) fn deviations<'a>(rankings: impl Iterator<Item = &'a LoadRanking> + Clone) -> Vec<Deviation> {
    let direction = |ranking: &LoadRanking| match ranking.load.op() {
        Op::Read => "reads",
        Op::Mixed => "mixed work",
        Op::Write => "writes",
    };
    let mut found: BTreeMap<Who<'_>, Vec<&Unresolved>> = BTreeMap::new();
    for ranking in rankings.clone() {
        for odd in &ranking.odd {
            let Some(unit) = odd.unit.as_deref() else { continue };
            let key = (odd.model.as_str(), unit, direction(ranking), odd.ratio < 1.0);
            found.entry(key).or_default().push(odd);
        }
    }
    let measured = |model: &str, unit: &str, towards: &str| {
        let of = rankings.clone().filter(|r| direction(r) == towards);
        of.filter(|r| r.models.iter().any(|m| m.model == model && m.units.iter().any(|u| u.unit == unit))).count()
    };
    let elsewhere: Vec<Who<'_>> = found.keys().copied().collect();
    let not_in = |model: &str, unit: &str| {
        let clean = |towards: &&'static str| {
            let odd = elsewhere.iter().any(|(m, u, d, _)| (*m, *u, d) == (model, unit, towards));
            !odd && measured(model, unit, towards) > 0
        };
        ["reads", "mixed work", "writes"].into_iter().filter(|towards| clean(towards)).collect()
    };
    let new = |((model, unit, direction, _), odd): (Who<'_>, Vec<&Unresolved>)| {
        let ratios = || odd.iter().map(|o| o.ratio);
        Deviation {
            model: model.to_owned(),
            unit: unit.to_owned(),
            of: odd.iter().map(|o| o.of).max().unwrap_or(0),
            direction,
            loads: odd.len(),
            of_loads: measured(model, unit, direction),
            ratio: (ratios().map(f64::ln).sum::<f64>() / odd.len() as f64).exp(),
            least: ratios().fold(f64::MAX, f64::min),
            most: ratios().fold(f64::MIN, f64::max),
            again: odd.iter().all(|o| o.again),
            not_in: not_in(model, unit),
        }
    };
    found.into_iter().map(new).collect()
}
