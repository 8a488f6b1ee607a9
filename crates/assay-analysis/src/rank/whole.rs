//! All loads of all records.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_core::record::Record;
use assay_stats::rank::compressed;

use super::answer::{LoadRanking, RankReport};
use super::composite::composite;
use super::odd::deviations;
use super::options::RankOptions;
use super::refusal::RankError;
use super::setting::Setting;
use crate::admission::named;
use crate::deciding_load::{by_model, deciding_load};
use crate::deciding_quantity::deciding_quantity;
use crate::load::Load;
use crate::quantity::Quantity;

/// Ranks the models of records. The same records and the same options give the same answer to the last digit,
/// regardless of the order of the records.
///
/// # Errors
/// [`RankError`] where no answer is possible. Records that do not allow an order are an answer:
/// [`LoadRanking::refusal`].
pub fn rank(records: &[&Record], ask: &RankOptions) -> Result<RankReport, RankError> {
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
