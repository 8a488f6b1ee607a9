//! Nodes and slots that differ: units that the ranking finds odd, nodes far below the others, slots with an effect.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::cluster::{FAR_BELOW, SettledLoad};
use assay_core::estimate::Estimate;
use assay_core::medium::Mounted;
use assay_core::observation::Observation;
use assay_stats::geometric;
use assay_stats::rank::GROUPS_ALPHA;
pub use assay_stats::rank::ODD_ALPHA;
use serde::Serialize;

use super::loads::{FleetRow, LoadRow};
use super::run::FleetRun;
use crate::admission::{has_full_area, small_area};
use crate::compare::{CompareRequest, RecordGroup, under};
use crate::exclusion::{Achieved, Reason, result_of};
use crate::identity::{identity, suite};
use crate::load::Load;
use crate::quantity::{Quantity, displayed};
use crate::rank::{
    LoadRanking, Notice, RankError, RankOptions, RankRemark, RankReport, SlotWarning, UnitGroups, Unresolved, rank,
};

/// The number of nodes that get an interval: those that deviate most. Longer lists are not read.
const MOST_INTERVALS: usize = 20;

/// The odd nodes of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddNodes {
    /// Nodes that a test names.
    pub odd: Vec<OddNode>,
    /// Nodes that a test would name, but that have to be measured again: they were measured once, on a disturbed host.
    pub again: Vec<OddNode>,
    /// Models whose units differ although no unit can be named, with the load and the largest ratio.
    pub disagree: Vec<(String, String, f64)>,
    /// Nodes that form two groups under a load, the pair of groups that is furthest apart first.
    pub groups: Vec<NodeGroups>,
    /// Units that were tested, under the load with the largest number.
    pub tested: usize,
    /// The probability that a node is named although all are equal, over all loads.
    pub alpha: f64,
    /// The probability that nodes form two groups although all are equal, over all loads.
    pub groups_alpha: f64,
    /// Why nothing could be tested; null where it could.
    #[serde(serialize_with = "displayed")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub refusal: Option<NotRanked>,
}

/// Why nodes are not ranked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRanked {
    /// There is nothing to rank.
    #[error("no node has a record")]
    NoRecord,
    /// The records allow no ranking.
    #[error("{0}")]
    Records(#[from] RankError),
}

/// A node that differs from the others of its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddNode {
    /// Its number.
    pub node: usize,
    /// The model.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Under which loads, the furthest first.
    pub at: Vec<OddAt>,
}

/// An odd node under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddAt {
    /// Title of the load.
    pub title: String,
    /// The unit over the mean of the others.
    pub ratio: f64,
    /// Lower end of its interval, from the variance between the other nodes; null where none was computed.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
}

/// Two groups of nodes of a model under a load. Neither is odd: half of the nodes are no exception.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeGroups {
    /// The model.
    pub model: String,
    /// Title of the load.
    pub title: String,
    /// The figure.
    pub quantity: Quantity,
    /// Numbers of the nodes with the lower figures, the lowest first.
    pub low: Vec<usize>,
    /// Numbers of the nodes with the higher figures.
    pub high: Vec<usize>,
    /// Geometric mean of the lower figures, with its interval over nodes.
    pub low_figure: Estimate,
    /// The same of the higher ones.
    pub high_figure: Estimate,
    /// Geometric mean of the lower figures over that of the higher ones.
    pub ratio: f64,
    /// Whether they have to be measured again: one group was measured once, on disturbed hosts.
    pub again: bool,
}

/// Odd nodes of a run, by the rule of the ranking.
pub(super) fn odd(run: &FleetRun, ranked: Result<&RankReport, NotRanked>, loads: &[LoadRow]) -> OddNodes {
    let nothing = OddNodes {
        odd: Vec::new(),
        again: Vec::new(),
        disagree: Vec::new(),
        groups: Vec::new(),
        tested: 0,
        alpha: ODD_ALPHA,
        groups_alpha: GROUPS_ALPHA,
        refusal: None,
    };
    let report = match ranked {
        Ok(report) => report,
        Err(refusal) => return OddNodes { refusal: Some(refusal), ..nothing },
    };
    let owners = owners(run);
    let mut found = nothing;
    let mut heavy_tails: Vec<(&str, &str)> = Vec::new();
    for ranking in std::iter::once(&report.primary).chain(&report.exploratory) {
        found.tested = found.tested.max(ranking.odd_tested);
        for one in &ranking.odd {
            if let Some(groups) = &one.groups {
                found.groups.extend(groups_of(&owners, one, groups, ranking, loads));
                continue;
            }
            let Some(unit) = &one.unit else {
                if one.heavy_tails {
                    heavy_tails.push((&one.model, &ranking.title));
                }
                found.disagree.push((one.model.clone(), ranking.title.clone(), one.ratio));
                continue;
            };
            let nodes = owners.get(&(one.model.clone(), unit.clone())).map_or(&[][..], Vec::as_slice);
            let into = if one.again { &mut found.again } else { &mut found.odd };
            nodes.iter().for_each(|node| add(into, *node, one, unit, ranking));
        }
    }
    // A node that is odd under another load is why its model's units differ under this one.
    let odd: Vec<&str> = found.odd.iter().map(|odd| odd.model.as_str()).collect();
    found.disagree.retain(|(model, title, _)| {
        !(heavy_tails.contains(&(model.as_str(), title.as_str())) && odd.contains(&model.as_str()))
    });
    for all in [&mut found.odd, &mut found.again] {
        all.iter_mut().for_each(|odd| odd.at.sort_by(|a, b| furthest(b).total_cmp(&furthest(a))));
        all.sort_by(|a, b| furthest(&b.at[0]).total_cmp(&furthest(&a.at[0])));
    }
    found.groups.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    intervals(run, report, &mut found);
    found
}

fn add(all: &mut Vec<OddNode>, node: usize, one: &Unresolved, unit: &str, ranking: &LoadRanking) {
    let at = OddAt { title: ranking.title.clone(), ratio: one.ratio, low: None, high: None };
    match all.iter_mut().find(|odd| odd.node == node) {
        Some(known) => known.at.push(at),
        None => all.push(OddNode { node, model: one.model.clone(), unit: unit.to_owned(), at: vec![at] }),
    }
}

/// The nodes of two groups of units; `None` where one has no figure that counts.
fn groups_of(
    owners: &BTreeMap<(String, String), Vec<usize>>,
    one: &Unresolved,
    groups: &UnitGroups,
    ranking: &LoadRanking,
    loads: &[LoadRow],
) -> Option<NodeGroups> {
    let row = loads.iter().find(|row| row.title == ranking.title)?;
    let nodes = |units: &[String]| -> Vec<usize> {
        let of = |unit: &String| owners.get(&(one.model.clone(), unit.clone())).cloned().unwrap_or_default();
        units.iter().flat_map(of).collect()
    };
    let figure = |nodes: &[usize]| {
        let values = nodes.iter().filter_map(|at| Some(row.figures.get(*at)?.as_ref()?.estimate.point));
        geometric(&values.collect::<Vec<f64>>())
    };
    let (low, high) = (nodes(&groups.low), nodes(&groups.high));
    let (low_figure, high_figure) = (figure(&low)?, figure(&high)?);
    Some(NodeGroups {
        model: one.model.clone(),
        title: ranking.title.clone(),
        quantity: row.quantity,
        low,
        high,
        low_figure,
        high_figure,
        ratio: one.ratio,
        again: one.again,
    })
}

fn furthest(at: &OddAt) -> f64 {
    at.ratio.ln().abs()
}

/// The nodes of each unit: one, unless two name the same.
pub(super) fn owners(run: &FleetRun) -> BTreeMap<(String, String), Vec<usize>> {
    let mut owners: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (node, record) in run.records() {
        let of = identity(record);
        owners.entry((of.model, of.unit)).or_default().push(node);
    }
    owners
}

/// The interval of each ratio, as the comparison of a unit with others of its model has it.
fn intervals(run: &FleetRun, report: &RankReport, found: &mut OddNodes) {
    let loads: BTreeMap<&str, &LoadRanking> =
        std::iter::once(&report.primary).chain(&report.exploratory).map(|r| (r.title.as_str(), r)).collect();
    // Odd nodes do not show how the others vary.
    let named: Vec<usize> = found.odd.iter().map(|odd| odd.node).collect();
    for odd in found.odd.iter_mut().take(MOST_INTERVALS) {
        let of_model =
            |(node, record): &(usize, &Observation)| !named.contains(node) && identity(record).model == odd.model;
        let others: Vec<&Observation> = run.records().filter(of_model).map(|(_, record)| record).collect();
        let own: Vec<&Observation> =
            run.records().filter(|(node, _)| *node == odd.node).map(|(_, record)| record).collect();
        let groups =
            [RecordGroup { name: String::new(), records: others }, RecordGroup { name: String::new(), records: own }];
        for at in &mut odd.at {
            let Some(ranking) = loads.get(at.title.as_str()) else { continue };
            let request = CompareRequest { quantity: Some(ranking.quantity), ..CompareRequest::default() };
            let Some(compared) = under(&groups, ranking.load.clone(), &request) else { continue };
            if let Some(pair) = compared.pairs.first() {
                (at.low, at.high) = (pair.low, pair.high);
            }
        }
    }
}

/// The ranking of the records of a run.
pub(super) fn ranked(records: &[&Observation]) -> Result<RankReport, NotRanked> {
    Ok(rank(records, &RankOptions::default())?)
}

// Nodes that are special for reasons other than their figures: their target is not a mounted medium, or they are far
// below the others.

/// A node that is far below the others under a load that all were to run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BelowNode {
    /// Its number.
    pub node: usize,
    /// Under which loads.
    pub at: Vec<BelowAt>,
}

/// A load under which a node is far below the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BelowAt {
    /// Title of the load.
    pub title: String,
    /// Its operations over those of the others by a first look, before the first repeat; null where that is not known.
    pub to_typical: Option<f64>,
    /// Operations of that look; null without one.
    pub operations: Option<u32>,
    /// Its figure over the median of all; null where it has none.
    pub to_median: Option<f64>,
}

/// Nodes whose records are not grouped with the others, and why: their test area is small, or their target is no mounted medium
/// while more than half of the nodes measured one.
pub(super) fn set_apart(run: &FleetRun) -> Vec<(usize, Reason)> {
    let all: Vec<(usize, &Observation)> = run.records().collect();
    let astray: Vec<usize> =
        all.iter().filter(|(_, record)| record.medium.mounted().is_no_medium()).map(|(node, _)| *node).collect();
    let mounted = all.iter().filter(|(_, record)| record.medium.mounted() == Mounted::There).count();
    let few = 2 * mounted > all.len();
    let full = all.iter().any(|(_, record)| has_full_area(record));
    let reason = |(node, record): &(usize, &Observation)| {
        let place = (few && astray.contains(node)).then(|| Reason::NotMounted { mounted: record.medium.mounted() });
        Some((*node, place.or_else(|| small_area(record).filter(|_| full))?))
    };
    all.iter().filter_map(reason).collect()
}

/// Nodes that seemed far below the others by the look at them before the first repeat.
#[derive(Debug, Default)]
pub(super) struct Below {
    /// Nodes whose figure agrees.
    pub(super) far: Vec<BelowNode>,
    /// Nodes without a repeat: a look does not tell whether they are slow.
    pub(super) unclear: Vec<BelowNode>,
}

/// Nodes that seemed far below the others by the look at them before the first repeat, where their figures do not say
/// otherwise: one that is missing does not, and one that is less than [`FAR_BELOW`] of the median agrees.
pub(super) fn below(run: &FleetRun, loads: &[LoadRow]) -> Below {
    let mut all = Below::default();
    for (node, record) in run.records() {
        let settled = record.cluster.as_ref().and_then(|part| part.settled.as_ref());
        let below = settled.into_iter().flat_map(|settled| &settled.loads).filter(|load| load.standing.is_left_out());
        let at = below.filter_map(|load| below_at(run, loads, (node, record), load));
        let (far, unclear): (Vec<_>, Vec<_>) = at.partition(|at| at.to_median.is_some());
        for (into, at) in [(&mut all.far, far), (&mut all.unclear, unclear)] {
            if !at.is_empty() {
                into.push(BelowNode { node, at });
            }
        }
    }
    all
}

fn below_at(
    run: &FleetRun,
    loads: &[LoadRow],
    (node, record): (usize, &Observation),
    settled: &SettledLoad,
) -> Option<BelowAt> {
    // The load as the nodes with a repeat ran it. A node without repeats has the load of the suite.
    let ran = run.records().flat_map(|(_, record)| &record.measurements);
    let ran = ran.into_iter().find(|m| m.workload.name == settled.workload && !m.repeats.is_empty())?;
    let load = Load::from_workload(&ran.workload);
    let row = loads.iter().find(|row| row.load == load)?;
    let to_median = row.figures.get(node)?.as_ref().map(|figure| figure.to_median);
    // A figure that does not count has a reason of its own; only a load without a repeat was not measured.
    let repeated = record.measurements.iter().any(|m| m.workload.name == settled.workload && !m.repeats.is_empty());
    if to_median.is_none() && (repeated || row.invalid.contains(&node) || result_of(record) != Ok(Achieved::Measured)) {
        return None;
    }
    let better = |ratio: f64| if row.more_is_better { ratio } else { ratio.recip() };
    let agrees = to_median.is_none_or(|ratio| better(ratio) < FAR_BELOW);
    agrees.then(|| {
        let SettledLoad { to_typical, operations, .. } = *settled;
        BelowAt { title: row.title.clone(), to_typical, operations, to_median }
    })
}

// Slots: which were warm, and whether a slot has an effect of its own.

/// The results about slots.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotResults {
    /// Slots that records name, each once.
    pub rows: Vec<SlotRow>,
    /// Whether slots have effects of their own.
    pub effect: PlaceEffect,
}

/// A slot in this run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotRow {
    /// Its name.
    pub slot: String,
    /// Numbers of the nodes that measured there.
    pub nodes: Vec<usize>,
    /// The largest temperature there, in °C; null where none was read.
    pub hottest_celsius: Option<f64>,
    /// Nodes that were slowed down.
    pub throttled: usize,
}

/// Whether places add something of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum PlaceEffect {
    /// Units changed places, and the ranking tells them apart.
    #[serde(rename = "told")]
    Separated {
        /// Loads under which places stand out.
        at: Vec<PlacesUnder>,
        /// The number of loads under which places were tested.
        loads: usize,
        /// The number of runs.
        runs: usize,
    },
    /// The effects of slots and units cannot be separated.
    #[serde(rename = "untold")]
    Inseparable {
        /// The reason.
        why: Inseparable,
        /// Numbers of two nodes whose units to swap.
        swap: Option<(usize, usize)>,
    },
}

/// Places that stand out under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacesUnder {
    /// The title of the load.
    pub title: String,
    /// The places.
    pub slots: Vec<SlotWarning>,
}

/// Why the effects of slots and units cannot be separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Inseparable {
    /// Each unit was in one place.
    NoSwap,
    /// Units changed places, and not so that places connect.
    Confounded,
    /// Units, places and rounds explain all figures, so that nothing shows by how much figures vary.
    TooFewRounds,
    /// Records name no place.
    Unknown,
}

/// Slots of a run; other runs of the same units or of the same plan count where units changed places.
pub(super) fn slots(
    run: &FleetRun,
    others: &[FleetRun],
    rows: &[FleetRow],
    loads: &[LoadRow],
    odd: &OddNodes,
) -> SlotResults {
    let mut by_slot: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(slot) = &row.slot {
            by_slot.entry(slot).or_default().push(at);
        }
    }
    let row = |(slot, nodes): (&str, Vec<usize>)| SlotRow {
        slot: slot.to_owned(),
        hottest_celsius: nodes.iter().filter_map(|at| rows[*at].hottest_celsius).max_by(f64::total_cmp),
        throttled: nodes.iter().filter(|at| rows[**at].throttled.is_some()).count(),
        nodes,
    };
    // There is nothing to take out of memory, and the root disk stays where it is.
    let fixed: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].mounted.is_some_and(Mounted::is_no_medium)).collect();
    let effect =
        effect(run, others).unwrap_or_else(|why| PlaceEffect::Inseparable { why, swap: swap(loads, odd, &fixed) });
    SlotResults { rows: by_slot.into_iter().map(row).collect(), effect }
}

fn effect(run: &FleetRun, others: &[FleetRun]) -> Result<PlaceEffect, Inseparable> {
    let unit = |record: &Observation| {
        let of = identity(record);
        (of.model, of.unit)
    };
    let units: BTreeSet<(String, String)> = run.records().map(|(_, record)| unit(record)).collect();
    let suites: BTreeSet<String> = run.records().map(|(_, record)| suite(record)).collect();
    let plans: BTreeSet<&str> = run.records().filter_map(|(_, record)| plan(record)).collect();
    let mut records: Vec<&Observation> = run.records().map(|(_, record)| record).collect();
    let mut runs = 1;
    // A unit of the plan that the newest round lacks was in slots before, and the ranking of the plan counts it.
    let of_these = |r: &Observation| units.contains(&unit(r)) || plan(r).is_some_and(|plan| plans.contains(plan));
    for other in others {
        let own = other.records().map(|(_, record)| record);
        let same: Vec<&Observation> = own.filter(|r| of_these(r) && suites.contains(&suite(r))).collect();
        runs += usize::from(!same.is_empty());
        records.extend(same);
    }
    let place = |record: &Observation| (record.host.hostname.clone(), identity(record).slot);
    let mut places: BTreeMap<(String, String), BTreeSet<_>> = BTreeMap::new();
    for record in &records {
        places.entry(unit(record)).or_default().insert(place(record));
    }
    if places.values().flatten().all(|place| *place == (None, None)) {
        return Err(Inseparable::Unknown);
    }
    if places.values().all(|places| places.len() < 2) {
        return Err(Inseparable::NoSwap);
    }
    let ranked = ranked(&records).map_err(|_| Inseparable::Confounded)?;
    let cannot = |remark: &RankRemark| match remark {
        RankRemark::Design(Notice::NoSwap) => Some(Inseparable::NoSwap),
        RankRemark::Design(Notice::SlotsConfounded) => Some(Inseparable::Confounded),
        RankRemark::Design(Notice::SlotsUnknown { .. }) => Some(Inseparable::Unknown),
        RankRemark::TooFewRounds => Some(Inseparable::TooFewRounds),
        _ => None,
    };
    if let Some(why) = ranked.primary.remarks.iter().find_map(cannot) {
        return Err(why);
    }
    let rankings = std::iter::once(ranked.primary).chain(ranked.exploratory);
    let tested: Vec<_> = rankings.filter(|ranking| ranking.remarks.iter().find_map(cannot).is_none()).collect();
    let loads = tested.len();
    let under = |ranking: LoadRanking| PlacesUnder { title: ranking.title, slots: ranking.slots };
    let at = tested.into_iter().map(under).filter(|under| !under.slots.is_empty()).collect();
    Ok(PlaceEffect::Separated { at, loads, runs })
}

/// The plan that a record is of.
fn plan(record: &Observation) -> Option<&str> {
    record.labels.get("plan").map(String::as_str).filter(|plan| !plan.is_empty())
}

/// The node that is furthest off and the one nearest to the median, under the load where it is so.
fn swap(loads: &[LoadRow], odd: &OddNodes, fixed: &[usize]) -> Option<(usize, usize)> {
    let off = |ratio: f64| ratio.ln().abs();
    let figures = |load: &LoadRow| {
        load.figures
            .iter()
            .enumerate()
            .filter(|(at, _)| !fixed.contains(at))
            .filter_map(|(at, figure)| Some((at, figure.as_ref()?.to_median)))
            .collect::<Vec<(usize, f64)>>()
    };
    let titled = |title: &str| loads.iter().find(|load| load.title == title);
    let movable = |all: &[OddNode]| all.iter().find(|odd| !fixed.contains(&odd.node)).cloned();
    let (load, suspect) = match movable(&odd.odd).or_else(|| movable(&odd.again)) {
        Some(odd) => (titled(&odd.at.first()?.title)?, odd.node),
        None => {
            let furthest = |load: &LoadRow| {
                figures(load)
                    .into_iter()
                    .max_by(|a, b| off(a.1).total_cmp(&off(b.1)))
                    .map(|(at, ratio)| (at, off(ratio)))
            };
            let all = loads.iter().filter_map(|load| Some((load, furthest(load)?)));
            let (load, (node, _)) = all.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
            (load, node)
        }
    };
    let others = figures(load).into_iter().filter(|(at, _)| *at != suspect);
    let middle = others.min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?.0;
    Some((suspect, middle))
}
