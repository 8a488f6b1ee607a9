//! What the commands say, by the functions that they call. Where those change, this changes and the rows do not.

use std::path::Path;

use assay_analysis::advise::{
    self, BuyQuestion, CacheQuestion, CacheUse, CacheWord, Choice, ClassStatus, FrontStanding, HitSource, Link,
    NasQuestion, NasVerdict,
};
use assay_analysis::compare::{self, By, CompareRequest, Comparison, GroupFigure, PairVerdict, RecordGroup};
use assay_analysis::plan::{self, NextAction, RaceOptions, SwapOptions, SwapPlace};
use assay_analysis::rank::{self, Better, RankOptions, RankReport};
use assay_analysis::{Load, Needed, Quantity, deciding_quantity};
use assay_core::observation::Observation;
use assay_lab::fleet::Fleet;
use assay_store::{ObservationDetail, RunState, SqliteStore, Store, observed};

use crate::found::Failure;

// `assay compare`.

/// What `compare` says of the second of two groups against the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// In a word.
    pub word: Word,
    /// The second over the first: its interval.
    pub interval: Option<(f64, f64)>,
    /// Both groups with their own intervals.
    pub sides: Vec<GroupFigure>,
    /// The number of values that would settle the answer, where it is undecided.
    pub needed: Option<Needed>,
}

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// Neither by more than the margin.
    Same,
    /// Not known.
    CannotTell,
}

/// `assay compare` with a query for each group.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare(first: &[Observation], second: &[Observation]) -> Result<Compared, Failure> {
    compare_within(first, second, CompareRequest::default().margin)
}

/// The same with `--margin`.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare_within(first: &[Observation], second: &[Observation], margin: f64) -> Result<Compared, Failure> {
    let groups = [("A", first), ("B", second)];
    let groups = groups.map(|(name, records)| RecordGroup { name: name.to_owned(), records: records.iter().collect() });
    said(&groups, &CompareRequest { margin, ..CompareRequest::default() })
}

/// `assay compare --runs`: two runs as they were.
///
/// # Errors
/// Runs that cannot be compared.
pub fn compare_runs(first: &Observation, second: &Observation) -> Result<Compared, Failure> {
    let groups = [("A", first), ("B", second)];
    let groups = groups.map(|(name, record)| RecordGroup { name: name.to_owned(), records: vec![record] });
    said(&groups, &CompareRequest { runs: true, ..CompareRequest::default() })
}

/// `assay compare --by model`, of two models.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare_models(records: &[Observation]) -> Result<Compared, Failure> {
    let named = [records.to_vec()];
    said(&compare::split(&named, By::Model), &CompareRequest::default())
}

fn said(groups: &[RecordGroup<'_>], request: &CompareRequest) -> Result<Compared, Failure> {
    let found = compare::compare(groups, request)?;
    let load = deciding(&found)?;
    let pair = load.pairs.first().ok_or("no pair was compared")?;
    let word = match pair.verdict {
        PairVerdict::Better => Word::Better,
        PairVerdict::Worse => Word::Worse,
        PairVerdict::Same => Word::Same,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => Word::CannotTell,
    };
    Ok(Compared { word, interval: pair.low.zip(pair.high), sides: load.sides.clone(), needed: pair.needed })
}

/// Pairs of models where the verdict of `assay compare --by model` is that the first is better, by little or by much.
///
/// # Errors
/// Models that cannot be compared.
pub fn compare_orders(records: &[Observation]) -> Result<Vec<(String, String)>, Failure> {
    let named = [records.to_vec()];
    let groups = compare::split(&named, By::Model);
    let found = compare::compare(&groups, &CompareRequest::default())?;
    let name = |at: usize| groups[at].name.clone();
    let load = deciding(&found)?;
    let order = |pair: &compare::Pair| {
        let second = match pair.verdict {
            PairVerdict::Better => true,
            PairVerdict::Worse => false,
            PairVerdict::Same if pair.significant => (pair.ratio > 1.0) == load.more_is_better,
            PairVerdict::Same | PairVerdict::BusTie | PairVerdict::CannotTell(_) => return None,
        };
        let (better, worse) = if second { (pair.second, pair.first) } else { (pair.first, pair.second) };
        Some((name(better), name(worse)))
    };
    Ok(load.pairs.iter().filter_map(order).collect())
}

fn deciding(found: &Comparison) -> Result<&compare::LoadComparison, Failure> {
    found.primary().ok_or_else(|| "no load is in both groups".into())
}

// `assay rank`.

/// `assay rank`.
///
/// # Errors
/// Records that cannot be ranked.
pub fn rank(records: &[Observation], ask: &RankOptions) -> Result<RankReport, Failure> {
    Ok(rank::rank(&records.iter().collect::<Vec<_>>(), ask)?)
}

/// Pairs of models where the ranking calls the first better.
#[must_use]
pub fn orders(report: &RankReport) -> Vec<(String, String)> {
    let ordered = |better| matches!(better, Better::First | Better::FirstPerhapsSlightly);
    let pairs = report.primary.pairs.iter().filter(|pair| ordered(pair.verdict));
    pairs.map(|pair| (pair.first.clone(), pair.second.clone())).collect()
}

/// A model and one of its units; `None` where no unit is named.
pub type Named = (String, Option<String>);

/// The deviating units in the ranking: each unit named under any load, and each model whose units are reported to differ by more
/// than chance under the deciding one.
#[must_use]
pub fn odd(report: &RankReport) -> Vec<Named> {
    let said = report.primary.odd.iter().filter(|odd| odd.unit.is_some() || odd.tested);
    let over_loads = report.deviations.iter().map(|d| (d.model.clone(), Some(d.unit.clone())));
    said.map(|odd| (odd.model.clone(), odd.unit.clone())).chain(over_loads).collect()
}

/// The same with each load by itself, as `--all` and `--json` show it.
#[must_use]
pub fn odd_under_any_load(report: &RankReport) -> Vec<Named> {
    let each = report.exploratory.iter().flat_map(|load| &load.odd).filter(|odd| odd.unit.is_some() || odd.tested);
    each.map(|odd| (odd.model.clone(), odd.unit.clone())).chain(odd(report)).collect()
}

/// The units of the lower group of each model whose units are said to form two groups, under any load.
#[must_use]
pub fn groups(report: &RankReport) -> Vec<Vec<String>> {
    let each = std::iter::once(&report.primary).chain(&report.exploratory).flat_map(|load| &load.odd);
    each.filter_map(|odd| odd.groups.as_ref().map(|groups| groups.low.clone())).collect()
}

/// For a model whose units differ without a named unit: the ratio, and the number of units with which one would be
/// named.
#[must_use]
pub fn needed_to_name(report: &RankReport) -> Option<(f64, u32)> {
    report.primary.odd.iter().find_map(|odd| Some((odd.ratio, odd.needed?)))
}

// `assay plan race` and `assay plan swap`.

/// A step of a race.
#[derive(Debug, Clone, PartialEq)]
pub struct Raced {
    /// The models to measure, with the number of new units of each; empty when the race is over.
    pub orders: Vec<(String, usize)>,
    /// Models that this step drops.
    pub dropped: Vec<String>,
    /// How it ended.
    pub ended: Option<Ended>,
    /// The leader.
    pub leader: Option<String>,
    /// The interval of its figure.
    pub interval: Option<(f64, f64)>,
}

/// How a race ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// Buy this one: it is within 3 % of the best.
    Buy(String),
    /// Any of these: each loses at most this share against the best, with 95 % probability.
    Tied(Vec<String>, f64),
    /// Undecided.
    Other,
}

/// `assay plan race --dropped …`.
///
/// # Errors
/// Records of no model.
pub fn race(records: &[Observation], dropped: &[String], seed: u64) -> Result<Raced, Failure> {
    let load = load_of_plan(records)?;
    let options = RaceOptions { threshold: 0.95, cap: 12, left: None, slots: 1, dropped: dropped.to_vec(), seed };
    let step = plan::race(records, &load, deciding_quantity(records, &load).quantity, &options)?;
    let (mut orders, mut ended) = (Vec::new(), None);
    match &step.action {
        NextAction::Measure { orders: all } => orders.extend(all.iter().map(|o| (o.model.clone(), o.units as usize))),
        NextAction::Buy { model } | NextAction::OnlyOneLeft { model } => ended = Some(Ended::Buy(model.clone())),
        NextAction::PracticallyTied { models, loss } => ended = Some(Ended::Tied(models.clone(), *loss)),
        NextAction::Exhausted { .. } | NextAction::CeilingTie { .. } | NextAction::NothingFit => {
            ended = Some(Ended::Other);
        }
    }
    let first = step.chances.iter().find(|chance| Some(&chance.model) == step.leader.as_ref());
    Ok(Raced {
        orders,
        interval: first.and_then(|chance| chance.interval),
        dropped: step.newly_dropped,
        ended,
        leader: step.leader,
    })
}

/// `assay plan swap`: whether the unit or the slot is blamed; `None` where it takes more to tell.
///
/// # Errors
/// Records of other units or slots.
pub fn blamed(records: &[Observation], suspect: SwapPlace, other: SwapPlace) -> Result<Option<(bool, bool)>, Failure> {
    let load = load_of_plan(records)?;
    let options = SwapOptions { suspect, other };
    let found = plan::swap_test(records, Some((&load, deciding_quantity(records, &load).quantity)), &options)?;
    Ok(found.unit.zip(found.slot).map(|(unit, slot)| (unit.real, slot.real)))
}

fn load_of_plan(records: &[Observation]) -> Result<Load, Failure> {
    let all = assay_analysis::by_model(records);
    Ok(assay_analysis::deciding_load(&all, None, None)?)
}

// `assay advise`.

/// The answer of `assay advise class A1` for one unit: whether it meets the class; `None` where it is undecided.
///
/// # Errors
/// Records without the loads of the class.
pub fn class_a1(records: &[Observation]) -> Result<Option<bool>, Failure> {
    let found = advise::class(records, &["A1"])?;
    let answer = found.units.first().and_then(|unit| unit.classes.first()).ok_or("no unit was judged")?;
    Ok(match answer.status {
        ClassStatus::Pass => Some(true),
        ClassStatus::Fail => Some(false),
        ClassStatus::Indeterminate | ClassStatus::BusLimited | ClassStatus::NotMeasured | ClassStatus::NotTestable => {
            None
        }
    })
}

/// The answer of `assay advise nas`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalOrNas {
    /// A medium in each node.
    Local,
    /// The volume.
    Nas,
    /// Undecided.
    Undecided,
}

/// Bytes per second of the line of the volume: 1 Gbit/s.
const LINE: f64 = 125e6;
/// Nodes of the fleet.
const NODES: u32 = 28;

/// `assay advise nas --nodes 28 --link 1Gbit`, with records of the volume or without.
///
/// # Errors
/// Records without a load that both have.
pub fn nas(local: &[Observation], volume: &[Observation]) -> Result<LocalOrNas, Failure> {
    let question = NasQuestion::for_nodes(NODES, Link::Line(LINE));
    let found = advise::nas(local, volume, &question)?;
    let row = found.models.first().and_then(|model| model.rows.first()).ok_or("no load was judged")?;
    Ok(match row.verdict {
        NasVerdict::Local => LocalOrNas::Local,
        NasVerdict::Nas => LocalOrNas::Nas,
        NasVerdict::CannotTell(_) => LocalOrNas::Undecided,
    })
}

/// The recommended purchase.
#[derive(Debug, Clone, PartialEq)]
pub struct Bought {
    /// The model; `None` where it is undecided.
    pub model: Option<String>,
    /// Whether it states that more testing cannot gain more than 1 %.
    pub tested_enough: bool,
    /// Models that are certainly on the Pareto front of price and performance.
    pub certain: Vec<String>,
}

/// `assay advise buy --nodes 28`.
///
/// # Errors
/// Records without prices.
pub fn buy(records: &[Observation]) -> Result<Bought, Failure> {
    let question = BuyQuestion::for_nodes(NODES);
    let found = advise::buy(records, &question)?;
    let certain =
        found.options.iter().filter(|o| o.standing == FrontStanding::Certain).map(|o| o.model.clone()).collect();
    Ok(match found.choice {
        Choice::Buy { index, tested_enough, .. } => {
            Bought { model: Some(found.options[index].model.clone()), tested_enough, certain }
        }
        Choice::CannotTell { .. } | Choice::OverBudget => Bought { model: None, tested_enough: false, certain },
    })
}

/// The answer of `assay advise cache`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cached {
    /// Reads get faster by more than a fifth.
    Good,
    /// Reads get slower.
    Harmful,
    /// Neither is certain.
    Undecided,
}

/// `assay advise cache --hits 50%` with next to no feed.
///
/// # Errors
/// Records without the loads that it takes.
pub fn cache(medium: &[Observation], volume: &[Observation]) -> Result<Cached, Failure> {
    let question = CacheQuestion {
        use_as: CacheUse::L2arc,
        hits: HitSource::Share(0.5),
        ram_bytes: None,
        size_bytes: None,
        feed_bytes_per_second: 1000.0,
        block_bytes: Some(4096),
    };
    Ok(match advise::cache(medium, volume, &question)?.word {
        CacheWord::Good => Cached::Good,
        CacheWord::Harmful => Cached::Harmful,
        CacheWord::Marginal | CacheWord::CannotTell(_) => Cached::Undecided,
    })
}

// The intervals of a figure, by what they claim to hold.

/// What the unit of a record does there and then: the interval beside its figure.
///
/// # Errors
/// A record without a figure.
pub fn today(record: &Observation) -> Result<Option<(f64, f64)>, Failure> {
    // Any other group will do: the interval is the group's own.
    let mut other = record.clone();
    other.id.push('x');
    let said = compare(std::slice::from_ref(record), &[other])?;
    Ok(said.sides.first().and_then(|side| side.estimate.as_ref()).and_then(|e| e.low.zip(e.high)))
}

/// What the unit of these records does over many days: of one record what its card and its page show, of several what
/// `assay advise` says of a unit.
///
/// # Errors
/// Records without a figure.
pub fn another_day(records: &[Observation]) -> Result<Option<(f64, f64)>, Failure> {
    let load = first_load(records)?;
    if let [one] = records {
        return Ok(assay_analysis::over_days(one, &load, Quantity::Iops).and_then(|e| e.low.zip(e.high)));
    }
    let question = NasQuestion::for_nodes(1, Link::Line(1e12));
    let found = advise::nas(records, &[], &question)?;
    let figure = found.models.first().and_then(|model| model.rows.first()).map(|row| &row.local);
    // Advice has rates, the truth has operations.
    let block = load.block_bytes as f64;
    Ok(figure.and_then(|figure| figure.interval).map(|(low, high)| (low / block, high / block)))
}

/// What another unit of the model of these records comes to: the "next unit" of `assay rank`.
///
/// # Errors
/// Records that cannot be ranked.
pub fn another_unit(records: &[Observation]) -> Result<Option<(f64, f64)>, Failure> {
    let report = rank(records, &RankOptions::default())?;
    Ok(report.primary.models.first().and_then(|model| model.further_unit))
}

fn first_load(records: &[Observation]) -> Result<Load, Failure> {
    let measured = records.first().and_then(|record| record.measurements.first());
    Ok(Load::from_workload(&measured.ok_or("nothing was measured")?.workload))
}

// What a store gives back of a fleet.

/// The records of a fleet as a store gives them back.
///
/// # Errors
/// A record that cannot be stored.
pub fn stored(fleet: &Fleet) -> Result<Vec<Observation>, Failure> {
    let read =
        |record: &assay_core::record::Record| observed(record, ObservationDetail::Repeats).map_err(Failure::from);
    fleet.records().iter().map(read).collect()
}

/// Saves the records of a fleet in the store in a directory, which is created if necessary.
///
/// # Errors
/// Those of the store.
pub fn save(directory: &Path, fleet: &Fleet) -> Result<(), Failure> {
    let mut store = SqliteStore::open(directory)?;
    fleet.records().iter().try_for_each(|record| Ok(store.save(record, RunState::Finished)?))
}

#[cfg(test)]
mod tests {
    use assay_lab::fleet::{Design, Load, Spread, Truth, Units};

    use super::*;

    #[test]
    fn rows_judge_what_a_store_gives_back() {
        let spread = Spread { run: 0.02, repeat: 0.01, common: 0.5, ..Spread::default() };
        let mut truth = Truth::equal(Load::random_read(), 2, Units::Normal(0.1), spread).with_fake(1, 0);
        truth.loads = Load::eight();
        let fleet = Fleet { truth, design: Design::units(&[2, 1]).on_days(2), seed: 7 };
        let directory = tempfile::tempdir().unwrap();
        save(directory.path(), &fleet).unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        let back = store.observations("all", ObservationDetail::Repeats).unwrap();
        assert_eq!(back, stored(&fleet).unwrap());
        assert_eq!(back.len(), 6);
    }
}
