//! The ranking: all loads of all records, the models under each of them, and units that deviate from their model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_core::observation::Observation;
use assay_core::workload::{Op, Unknown};
use assay_stats::power;
use assay_stats::rank::{
    Better, CampaignSize, Fit, FitValue, ModelRanking, ODD_ALPHA, Options, SlotTest, compressed, odd_units,
    units_to_name, {self as stats},
};

use super::answer::{
    LoadRanking, ModelRow, OddUnitDeviation, RankBasis, RankOptions, RankRemark, RankReport, Setting, Shares,
    SlotWarning, UnitGroups, Unresolved,
};
use super::collect::UnitUnderLoad;
use super::composite::composite;
use super::level::{Level, fit, observation, observations, pairs, rows};
use crate::admission::named;
use crate::deciding::{Needed, by_model, deciding_load, deciding_quantity};
use crate::identity::suite;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::manner;
use crate::several_media::several_media;

/// Ranks the models of records. The same records and the same options give the same answer to the last digit,
/// regardless of the order of the records.
///
/// # Errors
/// [`RankError`] where no answer is possible. Records that do not allow an order are an answer:
/// [`LoadRanking::refusal`].
pub fn rank(records: &[&Observation], ask: &RankOptions) -> Result<RankReport, RankError> {
    check(ask)?;
    if records.is_empty() {
        return Err(RankError::NoRecords);
    }
    let (named, nameless) = named(records.iter().copied());
    if named.is_empty() {
        return Err(RankError::NoModels(records.len()));
    }
    let primary = deciding_load(&by_model(named.iter().copied()), ask.primary.as_deref(), None)?;
    let setting = Setting::new(&named, ask);
    let catalogue = &setting.catalogue;
    let usual = |load: &Load| deciding_quantity(named.iter().copied(), load).quantity;
    let quantity = ask.quantity.unwrap_or_else(|| usual(&primary));
    let mut jobs = vec![(primary.clone(), quantity, false)];
    for load in catalogue.loads.keys().filter(|load| **load != primary) {
        jobs.push((load.clone(), ask.quantity.unwrap_or_else(|| usual(load)), true));
    }
    let mut rankings = all(&setting, &jobs).into_iter();
    let Some(mut decides) = rankings.next().flatten() else {
        return Err(match ask.quantity {
            Some(quantity) => RankError::NoSuchMetric { metric: quantity.name(), load: primary.title() },
            None => RankError::NoFigures(named.len()),
        });
    };
    decides.excluded.extend(nameless);
    let mut exploratory: Vec<LoadRanking> = rankings.flatten().collect();
    mark_compressed(&mut exploratory, &decides);
    let deviations = deviations(std::iter::once(&decides).chain(&exploratory));
    Ok(RankReport {
        primary: decides,
        exploratory,
        composite: ask.composite.map(|kind| composite(kind, catalogue, ask.seed)),
        deviations,
        records: records.len(),
        primary_by_default: ask.primary.is_none(),
        alpha: ask.alpha,
        delta: ask.delta,
        seed: ask.seed,
        borrow: ask.borrow,
    })
}

fn check(ask: &RankOptions) -> Result<(), RankError> {
    // Draws place no quantile beyond these.
    if !(0.001..=0.5).contains(&ask.alpha) {
        return Err(RankError::Option("--level must be between 50 % and 99.9 %".to_owned()));
    }
    if !(0.0..=1.0).contains(&ask.delta) {
        return Err(RankError::Option("--margin must be between 0 and 100 %".to_owned()));
    }
    Ok(())
}

/// All loads, by as many threads as there are processors, or as the system makes; each is on its own, so that the
/// answer does not depend on who did which.
fn all(setting: &Setting<'_>, jobs: &[(Load, Quantity, bool)]) -> Vec<Option<LoadRanking>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Option<LoadRanking>)>> = Mutex::new(Vec::with_capacity(jobs.len()));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((load, quantity, exploratory)) = jobs.get(at) else { break };
            let ranking = setting.rank(load, *quantity, *exploratory);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, ranking));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // What one that cannot be made would have done is left to the others.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, ranking)| ranking).collect()
}

/// Marks models whose units vary less than a quarter of what they do at the smallest block of the
/// same kind of load.
fn mark_compressed(rankings: &mut [LoadRanking], primary: &LoadRanking) {
    let variances = |r: &LoadRanking| -> BTreeMap<String, f64> {
        r.models.iter().filter_map(|m| Some((m.model.clone(), m.unit_variance?))).collect()
    };
    let all: Vec<(Load, BTreeMap<String, f64>)> =
        rankings.iter().chain([primary]).map(|r| (r.load.clone(), variances(r))).collect();
    for ranking in rankings {
        let alike = all.iter().filter(|(load, _)| like(load, &ranking.load));
        let Some((load, base)) = alike.min_by_key(|(load, _)| load.block_bytes) else { continue };
        if load.block_bytes == ranking.load.block_bytes {
            continue;
        }
        for model in &mut ranking.models {
            let pair = model.unit_variance.zip(base.get(&model.model));
            model.variance_compressed = pair.is_some_and(|(own, base)| compressed(own, *base));
        }
    }
}

/// Whether two loads differ in nothing but the block size.
fn like(a: &Load, b: &Load) -> bool {
    let rest = |load: &Load| (load.op(), load.pattern(), load.queue_depth, load.jobs, load.read_percent, load.synced);
    rest(a) == rest(b) && a.is_plain() && b.is_plain()
}

// The models under one load.

impl Setting<'_> {
    /// Ranks the models under a load; `None` where no model has a figure.
    pub(super) fn rank(&self, load: &Load, quantity: Quantity, exploratory: bool) -> Option<LoadRanking> {
        let Level { sessions, excluded, fit: all, held } = self.level(load, quantity)?;
        let options = self.options(quantity, exploratory);
        let ranked = self.order(&all, &held, quantity, exploratory);
        let without = |model: &str, unit: &str| {
            let rest: Vec<FitValue<'_>> =
                observations(&sessions).into_iter().filter(|o| o.model != model || o.unit != unit).collect();
            let fit = fit(&sessions, &rest)?;
            stats::rank_sharing(&self.entrants(&fit, &held), &fit.shared, &options).ok()
        };
        let alpha = alpha(exploratory, self.catalogue.loads.len());
        let once = |model: &str, unit: &str| once_disturbed(&sessions, model, unit);
        let without: Option<Without<'_>> = if exploratory { None } else { Some(&without) };
        let (odd, odd_tested) = odd(&all, ranked.as_ref().ok(), alpha, (without, &once));
        let (slots, too_few) = slots(&sessions, self.catalogue.loads.len());
        let (ranking, refusal) = match ranked {
            Ok(ranking) => (Some(ranking), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let (smallest_ratio, least_units) = resolution(ranking.as_ref(), options.alpha);
        let models = rows(self, &all, ranking.as_ref(), &sessions, &held);
        Some(LoadRanking {
            load: load.clone(),
            title: load.title(),
            quantity,
            exploratory,
            refusal,
            remarks: [adjusted(&models), too_few, self.acknowledged(load)]
                .into_iter()
                .flatten()
                .chain(remarks(&all, &sessions))
                .collect(),
            models,
            pairs: ranking.as_ref().map_or_else(Vec::new, pairs),
            degrees: ranking
                .as_ref()
                .map_or_else(|| all.models.iter().map(stats::ModelFit::degrees).sum(), |r| r.degrees),
            unit_deviation: ranking.as_ref().and_then(|r| r.deviation),
            critical: ranking.as_ref().and_then(|r| r.critical),
            draws: options.draws,
            weak: ranking.as_ref().is_some_and(|r| r.weak && r.critical.is_some()),
            smallest_ratio,
            least_units,
            needed: ranking.as_ref().and_then(|ranking| needed(ranking, &options)),
            shares: shares(&all),
            run_deviation: all.components.run,
            ceiling: self.ceilings.used(&sessions, load.op()),
            odd,
            odd_tested,
            slots,
            excluded,
            basis: basis(&sessions),
        })
    }
}

impl Setting<'_> {
    /// That some figures of a write keep the durable rate from deciding, unless a figure was asked for.
    fn acknowledged(&self, load: &Load) -> Option<RankRemark> {
        let records = self.catalogue.entries.iter().map(|entry| entry.record);
        let decides = deciding_quantity(records, load);
        (self.ask.quantity.is_none() && decides.lacking > 0)
            .then_some(RankRemark::Acknowledged { lacking: decides.lacking })
    }
}

/// Whether all that is known of a unit is one repeat, while something else took from its host: equal nodes deviated by a fifth
/// to a third where other programs kept the processors busy.
fn once_disturbed(sessions: &[UnitUnderLoad<'_>], model: &str, unit: &str) -> bool {
    let mut own = sessions.iter().filter(|s| (s.identity.model.as_str(), s.identity.unit.as_str()) == (model, unit));
    match (own.next(), own.next()) {
        (Some(only), None) => only.values.len() == 1 && only.disturbed,
        _ => false,
    }
}

/// Slots are tested with one value for a unit in a slot and a round: records of one day vary less than those of several, and would
/// make a slot seem to differ that only had another day.
fn slots(sessions: &[UnitUnderLoad<'_>], loads: usize) -> (Vec<SlotWarning>, Option<RankRemark>) {
    let mut cells: BTreeMap<_, Vec<&UnitUnderLoad<'_>>> = BTreeMap::new();
    for session in sessions {
        let of = &session.identity;
        cells.entry((&of.model, &of.unit, &of.slot, session.wave)).or_default().push(session);
    }
    let log = |session: &&UnitUnderLoad<'_>| {
        session.values.iter().map(|value| value.ln()).sum::<f64>() / session.values.len() as f64
    };
    let mean = |cell: &Vec<&UnitUnderLoad<'_>>| cell.iter().map(log).sum::<f64>() / cell.len() as f64;
    let means: Vec<FitValue<'_>> = cells.values().map(|cell| observation(cell[0], mean(cell).exp(), 1.0)).collect();
    match stats::slot_check(&means, loads) {
        Ok(SlotTest::Tested(check)) => {
            let warning =
                |s: stats::OutstandingSlot| SlotWarning { slot: s.slot, ratio: s.ratio, p_value: check.p_value };
            (check.outstanding.into_iter().map(warning).collect(), None)
        }
        Ok(SlotTest::TooFewWaves) => (Vec::new(), Some(RankRemark::TooFewRounds)),
        Ok(SlotTest::Inseparable) | Err(_) => (Vec::new(), None),
    }
}

/// Where the variance lies; nothing where no model has two units.
fn shares(fit: &Fit) -> Option<Shares> {
    fit.components.unit?;
    let shares = fit.shares?;
    Some(Shares {
        model: (fit.models.len() > 1).then_some(shares.model),
        unit: shares.unit,
        slot: fit.components.slot.map(|_| shares.slot),
        run: fit.components.run.map(|_| shares.run),
    })
}

fn resolution(ranking: Option<&ModelRanking>, alpha: f64) -> (Option<f64>, u32) {
    let Some(ranking) = ranking else { return (None, 0) };
    let tested = ranking.models.iter().filter(|m| m.units > 1);
    let least = tested.clone().map(|m| m.units).min().unwrap_or(0);
    let ratio = ranking.deviation.and_then(|deviation| {
        let models = u32::try_from(tested.count()).ok()?;
        stats::smallest_ratio(&CampaignSize { models, units: least, deviation, alpha })
    });
    (ratio, least)
}

/// What would tell the models of the first place apart.
fn needed(ranking: &ModelRanking, options: &Options) -> Option<Needed> {
    let open = |pair: &&stats::Pair| {
        let first = |at: usize| ranking.models[at].layer == 0 && !ranking.models[at].provisional;
        pair.verdict == Better::Unresolved
            && pair.low.is_some()
            && pair.high.is_some()
            && first(pair.first)
            && first(pair.second)
    };
    let difference = |pair: &&stats::Pair| pair.ratio.ln().abs();
    let widest = ranking.pairs.iter().filter(open).max_by(|a, b| difference(a).total_cmp(&difference(b)))?;
    let there_are =
        [widest.first, widest.second].map(|at| ranking.models[at].units).into_iter().min().unwrap_or(0) as usize;
    let tested = ranking.models.iter().filter(|m| m.units > 1).count();
    let seen = power::LogDeviation { value: ranking.deviation?, degrees: f64::from(ranking.degrees) };
    let models = u32::try_from(tested).ok()?;
    Needed::of_models(models, (difference(&widest), options.delta), seen, there_are, options.alpha)
}

/// That figures are not as measured.
fn adjusted(models: &[ModelRow]) -> Option<RankRemark> {
    let units = models.iter().flat_map(|model| &model.units).filter(|unit| unit.measured.is_some()).count();
    (units > 0).then_some(RankRemark::Adjusted { units })
}

fn remarks(fit: &Fit, sessions: &[UnitUnderLoad<'_>]) -> Vec<RankRemark> {
    let mut remarks: Vec<RankRemark> = fit.notices.iter().copied().map(RankRemark::Design).collect();
    let mut nameless: BTreeMap<&str, usize> = BTreeMap::new();
    for session in sessions.iter().filter(|s| s.identity.unit.is_empty()) {
        *nameless.entry(&session.identity.model).or_default() += 1;
    }
    let several = nameless.into_iter().filter(|(_, records)| *records > 1);
    remarks.extend(several.map(|(model, records)| RankRemark::NamelessUnit { model: model.to_owned(), records }));
    let media = several_media(sessions.iter().map(|session| session.record)).into_iter();
    remarks.extend(media.map(|of| RankRemark::SeveralMedia {
        unit: of.name,
        least_bytes: of.least_bytes,
        most_bytes: of.most_bytes,
    }));
    let mut lacks: BTreeMap<&str, usize> = BTreeMap::new();
    for what in sessions.iter().flat_map(|s| &s.measurement.workload.unknown).filter(|what| **what != Unknown::Stop) {
        *lacks.entry(what.title()).or_default() += 1;
    }
    if !lacks.is_empty() {
        let what = lacks.into_iter().map(|(what, records)| (what.to_owned(), records)).collect();
        remarks.push(RankRemark::NotTold { what });
    }
    let mut manners: BTreeMap<String, usize> = BTreeMap::new();
    for words in sessions.iter().filter_map(|s| manner(s.record, s.measurement)) {
        *manners.entry(words).or_default() += 1;
    }
    if manners.len() > 1 {
        remarks.push(RankRemark::Manners { of: manners.into_iter().collect() });
    }
    let suites: BTreeSet<String> = sessions.iter().map(|s| suite(s.record)).collect();
    if suites.len() > 1 {
        remarks.push(RankRemark::Suites { suites: suites.into_iter().collect() });
    }
    remarks
}

fn basis(sessions: &[UnitUnderLoad<'_>]) -> RankBasis {
    let units: BTreeSet<_> = sessions.iter().map(|s| (&s.identity.model, &s.identity.unit)).collect();
    let slots: BTreeSet<_> = sessions.iter().filter_map(|s| s.identity.slot.as_ref()).collect();
    let rounds: BTreeSet<_> = sessions.iter().filter_map(|s| s.identity.round.as_ref()).collect();
    RankBasis {
        records: sessions.len(),
        units: units.len(),
        runs: sessions.iter().map(|s| s.values.len()).sum(),
        rounds: rounds.len(),
        slots: slots.len(),
    }
}

// Units that deviate from the others of their model.

/// A ranking without a unit.
pub(super) type Without<'a> = &'a dyn Fn(&str, &str) -> Option<ModelRanking>;

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
    ranking: Option<&ModelRanking>,
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
        groups: None,
    };
    let mut all: Vec<Unresolved> =
        found.odd.iter().map(|o| new(&o.model, Some(o.unit.clone()), o.ratio, true, false)).collect();
    all.extend(found.disagree.iter().map(|d| new(&d.model, None, d.ratio, true, d.heavy_tails)));
    all.extend(found.untested.iter().map(|d| new(&d.model, None, d.ratio, false, d.heavy_tails)));
    all.extend(found.groups.into_iter().map(|two| {
        let again = [&two.low, &two.high].iter().any(|group| group.iter().all(|unit| once(&two.model, unit)));
        let groups = Some(UnitGroups { low: two.low, high: two.high });
        Unresolved { again, groups, needed: None, ..new(&two.model, None, two.ratio, true, false) }
    }));
    (all, found.tested)
}

fn layers(ranking: &ModelRanking) -> BTreeMap<&str, usize> {
    ranking.models.iter().map(|m| (m.name.as_str(), m.layer)).collect()
}

/// Model, unit, direction, and whether it is below the others.
type Who<'a> = (&'a str, &'a str, &'static str, bool);

/// Units that deviate, over all loads of a direction. A unit that deviates both ways is there twice.
pub(super) fn deviations<'a>(rankings: impl Iterator<Item = &'a LoadRanking> + Clone) -> Vec<OddUnitDeviation> {
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
        OddUnitDeviation {
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

// Why no ranking is possible.

/// Input that allows no ranking.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RankError {
    /// No record.
    #[error("no record to rank; measure something first: assay run")]
    NoRecords,
    /// No record has a figure under any load.
    #[error("none of the {0} records has a figure to rank; assay show ID says why")]
    NoFigures(usize),
    /// No record names its model.
    #[error("ranking needs models, and all {0} records lack one; add it with assay label QUERY model=…")]
    NoModels(usize),
    /// No load matches the requested one.
    #[error("{0}")]
    NoSuchLoad(#[from] crate::LoadError),
    /// The load has no such figure.
    #[error("no record has the metric `{metric}` under {load}; choose another --metric")]
    NoSuchMetric {
        /// Name of the metric.
        metric: &'static str,
        /// Title of the load.
        load: String,
    },
    /// An option is out of range.
    #[error("{0}")]
    Option(String),
}
