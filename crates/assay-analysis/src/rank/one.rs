//! The models under one load.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::workload::Unknown;
use assay_stats::power::Deviation;
use assay_stats::rank::{self as stats, Better, CampaignSize, Fit, Observation, Options, Ranking};

use super::answer::{Basis, LoadRanking, Remark, Shares, SlotWarning};
use super::collect::Session;
use super::level::{Level, fit, observation, observations};
use super::odd::{Without, alpha, odd};
use super::rows::{pairs, rows};
use super::setting::Setting;
use crate::deciding_quantity::deciding_quantity;
use crate::identity::suite;
use crate::load::Load;
use crate::manner::manner;
use crate::needed::Needed;
use crate::quantity::Quantity;

impl Setting<'_> {
    /// Ranks the models under a load; `None` where no model has a figure.
    pub(super) fn rank(&self, load: &Load, quantity: Quantity, exploratory: bool) -> Option<LoadRanking> {
        let Level { sessions, excluded, fit: all, held } = self.level(load, quantity)?;
        let options = self.options(quantity, exploratory);
        let ranked = self.order(&all, &held, quantity, exploratory);
        let without = |model: &str, unit: &str| {
            let rest: Vec<Observation<'_>> =
                observations(&sessions).into_iter().filter(|o| o.model != model || o.unit != unit).collect();
            let fit = fit(&sessions, &rest)?;
            stats::rank_sharing(&self.entrants(&fit, &held), &fit.shared, &options).ok()
        };
        let alpha = alpha(exploratory, self.catalogue.loads.len());
        let once = |model: &str, unit: &str| once_disturbed(&sessions, model, unit);
        let without: Option<Without<'_>> = if exploratory { None } else { Some(&without) };
        let (odd, odd_tested) = odd(&all, ranked.as_ref().ok(), alpha, (without, &once));
        let slots = if exploratory { Vec::new() } else { slots(&sessions, self.ask.seed) };
        let (ranking, refusal) = match ranked {
            Ok(ranking) => (Some(ranking), None),
            Err(refusal) => (None, Some(refusal.to_string())),
        };
        let (smallest_ratio, least_units) = resolution(ranking.as_ref(), options.alpha);
        Some(LoadRanking {
            load: load.clone(),
            title: load.title(),
            quantity,
            exploratory,
            refusal,
            models: rows(self, &all, ranking.as_ref(), &sessions, &held),
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
            remarks: self.acknowledged(load).into_iter().chain(remarks(&all, &sessions)).collect(),
            excluded,
            basis: basis(&sessions),
        })
    }
}

impl Setting<'_> {
    /// That some figures of a write keep the durable rate from deciding, unless a figure was asked for.
    fn acknowledged(&self, load: &Load) -> Option<Remark> {
        let records = self.catalogue.entries.iter().map(|entry| entry.record);
        let decides = deciding_quantity(records, load);
        (self.ask.quantity.is_none() && decides.lacking > 0)
            .then_some(Remark::Acknowledged { lacking: decides.lacking })
    }
}

/// Whether all that is known of a unit is one repeat, while something else took from its host: equal nodes deviated by a fifth
/// to a third where other programs kept the processors busy.
fn once_disturbed(sessions: &[Session<'_>], model: &str, unit: &str) -> bool {
    let mut own = sessions.iter().filter(|s| (s.identity.model.as_str(), s.identity.unit.as_str()) == (model, unit));
    match (own.next(), own.next()) {
        (Some(only), None) => only.values.len() == 1 && only.disturbed,
        _ => false,
    }
}

/// Slots are permuted among records, not among the repeats of a record, which share their slot.
fn slots(sessions: &[Session<'_>], seed: u64) -> Vec<SlotWarning> {
    let means: Vec<Observation<'_>> = sessions
        .iter()
        .map(|s| {
            let logs = s.values.iter().map(|v| v.ln()).sum::<f64>();
            observation(s, (logs / s.values.len() as f64).exp(), 1.0)
        })
        .collect();
    let Ok(Some(check)) = stats::slot_check(&means, seed) else { return Vec::new() };
    let warning = |s: stats::OutstandingSlot| SlotWarning { slot: s.slot, ratio: s.ratio, p_value: check.p_value };
    check.outstanding.into_iter().map(warning).collect()
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

fn resolution(ranking: Option<&Ranking>, alpha: f64) -> (Option<f64>, u32) {
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
fn needed(ranking: &Ranking, options: &Options) -> Option<Needed> {
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
    let seen = Deviation { value: ranking.deviation?, degrees: f64::from(ranking.degrees) };
    let models = u32::try_from(tested).ok()?;
    Needed::of_models(models, (difference(&widest), options.delta), seen, there_are, options.alpha)
}

fn remarks(fit: &Fit, sessions: &[Session<'_>]) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = fit.notices.iter().copied().map(Remark::Design).collect();
    let mut nameless: BTreeMap<&str, usize> = BTreeMap::new();
    for session in sessions.iter().filter(|s| s.identity.unit.is_empty()) {
        *nameless.entry(&session.identity.model).or_default() += 1;
    }
    let several = nameless.into_iter().filter(|(_, records)| *records > 1);
    remarks.extend(several.map(|(model, records)| Remark::NamelessUnit { model: model.to_owned(), records }));
    let mut lacks: BTreeMap<&str, usize> = BTreeMap::new();
    for what in sessions.iter().flat_map(|s| &s.measurement.workload.unknown).filter(|what| **what != Unknown::Stop) {
        *lacks.entry(what.title()).or_default() += 1;
    }
    if !lacks.is_empty() {
        let what = lacks.into_iter().map(|(what, records)| (what.to_owned(), records)).collect();
        remarks.push(Remark::NotTold { what });
    }
    let mut manners: BTreeMap<String, usize> = BTreeMap::new();
    for words in sessions.iter().filter_map(|s| manner(s.record, s.measurement)) {
        *manners.entry(words).or_default() += 1;
    }
    if manners.len() > 1 {
        remarks.push(Remark::Manners { of: manners.into_iter().collect() });
    }
    let suites: BTreeSet<String> = sessions.iter().map(|s| suite(s.record)).collect();
    if suites.len() > 1 {
        remarks.push(Remark::Suites { suites: suites.into_iter().collect() });
    }
    remarks
}

fn basis(sessions: &[Session<'_>]) -> Basis {
    let units: BTreeSet<_> = sessions.iter().map(|s| (&s.identity.model, &s.identity.unit)).collect();
    let slots: BTreeSet<_> = sessions.iter().filter_map(|s| s.identity.slot.as_ref()).collect();
    let rounds: BTreeSet<_> = sessions.iter().filter_map(|s| s.identity.round.as_ref()).collect();
    Basis {
        records: sessions.len(),
        units: units.len(),
        runs: sessions.iter().map(|s| s.values.len()).sum(),
        rounds: rounds.len(),
        slots: slots.len(),
    }
}
