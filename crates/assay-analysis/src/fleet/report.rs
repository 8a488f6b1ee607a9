//! The whole report, as data: how well nodes began together, and what they lose by each other. Names are as records have
//! them: make them harmless before they are shown.

use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use serde::Serialize;

use super::loads::{FleetRow, LoadRow, load_row, node_row, sum_of_separate, together};
use super::odd::{BelowNode, NotRanked, OddNodes, SlotResults, below, odd, owners, ranked, set_apart, slots};
use super::run::{Doubt, FleetRun, doubts, is_small};
use crate::Excluded;
use crate::admission::admit;
use crate::compare::{CompareRequest, Pair, PairQuestion, RecordGroup, under};
use crate::deciding::deciding_quantity;
use crate::exclusion::{Reason, excluded_whole};
use crate::identity::{identity, suite};
use crate::load::Load;
use crate::overlap::factor;
use crate::quantity::{Quantity, displayed};
use crate::reading::loads;

/// What a run on many nodes says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetReport {
    /// Identity of the run.
    pub run: String,
    /// How nodes measured; null where nothing says it.
    pub mode: Option<String>,
    /// Whether it is still running.
    pub running: bool,
    /// Nodes, in the order of the run.
    pub nodes: Vec<FleetRow>,
    /// Nodes that other records name, and whose own records are missing.
    pub absent: usize,
    /// By load.
    pub loads: Vec<LoadRow>,
    /// Findings that may have changed figures which count.
    pub suspect: Vec<Doubt>,
    /// Nodes that are odd.
    pub odd: OddNodes,
    /// Nodes that are far below the others under a load that all were to run.
    pub far_below: Vec<BelowNode>,
    /// Nodes without a figure under a load whose first look cannot tell whether they are slower.
    pub unclear: Vec<BelowNode>,
    /// How well they began together; null where they did not.
    pub starts: Option<Starts>,
    /// The same nodes with fewer at a time; null where no such run is known.
    pub against: Option<Against>,
    /// Slots.
    pub slots: SlotResults,
    /// Numbers of nodes that name the same unit.
    pub same_unit: Vec<Vec<usize>>,
    /// Records of earlier attempts, which are left out.
    pub repeated: usize,
    /// Records that name no unit, for which the node stands: whether cards were moved between runs is not known of them.
    pub unnamed: usize,
    /// What decides nothing, and why.
    pub excluded: Vec<Excluded>,
}

impl FleetReport {
    /// Nodes that miss nothing.
    #[must_use]
    pub fn complete(&self) -> usize {
        self.nodes.iter().filter(|node| node.complete).count()
    }
}

/// Reports a run. `others` are runs of the same units, the newest first; `named` is the reference that the user chose,
/// and without one it is the newest of them in which each node measured alone, or else fewer at a time, where `compared` allows
/// it.
#[must_use]
pub fn report(run: &FleetRun, others: &[FleetRun], named: Option<&FleetRun>, compared: bool) -> FleetReport {
    let apart = set_apart(run);
    let counted = run.without(&apart);
    let counted: &FleetRun = &counted;
    let records: Vec<&Observation> = counted.records().map(|(_, record)| record).collect();
    let mut excluded = Vec::new();
    let mut found: Vec<LoadRow> = Vec::new();
    let all = loads(records.iter().copied());
    for load in &all {
        let (row, left_out) = load_row(counted, load);
        found.extend(row);
        excluded.extend(left_out);
    }
    let ranked = if records.is_empty() { Err(NotRanked::NoRecord) } else { ranked(&records) };
    let odd: OddNodes = odd(counted, ranked.as_ref().map_err(Clone::clone), &found);
    // Of a small test area writes are left out on purpose, so their absence is no reason to name.
    let small_records: Vec<&String> = apart
        .iter()
        .filter(|(_, reason)| is_small(reason))
        .filter_map(|(node, _)| run.nodes[*node].record.as_ref().map(|record| &record.id))
        .collect();
    excluded.retain(|one: &Excluded| !(small_records.contains(&&one.record) && one.reason.absence().is_some()));
    let small = |node: usize| apart.iter().any(|(at, reason)| *at == node && is_small(reason));
    for (node, figure) in found.iter_mut().flat_map(|load| load.figures.iter_mut().enumerate()) {
        figure.iter_mut().for_each(|figure| figure.small_area = small(node));
    }
    let mut rows: Vec<FleetRow> = run.nodes.iter().map(node_row).collect();
    for one in &odd.odd {
        rows[one.node].odd = true;
        for at in &one.at {
            let load = found.iter_mut().find(|load| load.title == at.title);
            if let Some(figure) = load.and_then(|load| load.figures[one.node].as_mut()) {
                figure.odd = true;
            }
        }
    }
    let below = below(run, &found);
    let known = named.or_else(|| reference(counted, others).filter(|_| compared));
    FleetReport {
        run: run.name.clone(),
        mode: run.mode.clone(),
        running: run.running,
        absent: run.absent,
        suspect: doubts(counted),
        slots: slots(counted, others, &rows, &found, &odd),
        starts: starts(records.iter().copied()),
        against: known.map(|other| against(counted, other, &all)),
        same_unit: owners(run).into_values().filter(|nodes| nodes.len() > 1).collect(),
        repeated: run.repeated,
        unnamed: run.unnamed,
        far_below: below.far,
        unclear: below.unclear,
        excluded: gathered(&records, excluded).into_iter().chain(left_out_whole(run, apart)).collect(),
        nodes: rows,
        loads: found,
        odd,
    }
}

/// Records that are not put together with those of the others.
fn left_out_whole(run: &FleetRun, apart: Vec<(usize, Reason)>) -> impl Iterator<Item = Excluded> {
    let of = |(node, reason): (usize, Reason)| Some(Excluded::new(run.nodes[node].record.as_ref()?, None, reason));
    apart.into_iter().filter_map(of)
}

/// Reports reasons about a whole record once, and not under each load.
fn gathered(records: &[&Observation], by_load: Vec<Excluded>) -> Vec<Excluded> {
    let whole: Vec<Excluded> =
        records.iter().filter_map(|record| Some(Excluded::new(record, None, excluded_whole(record)?))).collect();
    let rest = by_load.into_iter().filter(|one| !whole.iter().any(|known| known.record == one.record));
    let rest: Vec<Excluded> = rest.collect();
    whole.into_iter().chain(rest).collect()
}

// How well nodes began together.

/// How well nodes began together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Starts {
    /// Repeats that were begun together, over all nodes.
    pub n: usize,
    /// By how much they were late, at the 95th percentile, in nanoseconds.
    pub p95_late_ns: i64,
    /// The widest bound of a clock, in nanoseconds.
    pub bound_ns: u64,
}

/// The deviation of starts from their planned times, over all repeats of all records; `None` where no repeats began
/// together by compared clocks.
#[must_use]
pub fn starts<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Option<Starts> {
    let repeats = records.into_iter().flat_map(|record| &record.measurements).flat_map(|m| &m.repeats);
    let common: Vec<_> = repeats.filter_map(|repeat| repeat.common_start.as_deref()).collect();
    let mut late: Vec<i64> =
        common.iter().map(|start| start.began_ns.saturating_sub(start.planned_ns).saturating_abs()).collect();
    late.sort_unstable();
    // The smallest that at least 95 % do not exceed.
    let at = (late.len() * 95).div_ceil(100).checked_sub(1)?;
    let bound_ns = common.iter().filter_map(|start| start.bound_ns).max()?;
    Some(Starts { n: late.len(), p95_late_ns: late[at], bound_ns })
}

// The same nodes at once and one after the other: what they lose by each other.

/// A run against one in which fewer nodes measured at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Against {
    /// The other run, which is the reference.
    pub run: String,
    /// Its mode.
    pub mode: Option<String>,
    /// Nodes that measured at a time at most, there.
    pub at_a_time: u32,
    /// Nodes at a time at most, in the run that is reported.
    pub own_at_a_time: u32,
    /// Numbers of the nodes that are compared, each with itself.
    pub nodes: Vec<usize>,
    /// Numbers of nodes that have another unit there; they are not compared.
    pub moved: Vec<usize>,
    /// Numbers of nodes without a record there.
    pub missing: Vec<usize>,
    /// Why there is no comparison; null where there is one.
    #[serde(serialize_with = "displayed")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub refusal: Option<NotCompared>,
    /// By load.
    pub loads: Vec<LoadLoss>,
}

/// Why a run is not compared with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCompared {
    /// Nodes have another unit or slot there.
    #[error("{nodes} {} another unit or slot there", if *nodes == 1 { "node has" } else { "nodes have" })]
    Moved {
        /// How many.
        nodes: usize,
    },
    /// Fewer than two nodes are in both runs with the same unit and suite.
    #[error("it has not two of these nodes with the same units and the same suite")]
    TooFewNodes,
}

/// A load in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadLoss {
    /// Its title.
    pub title: String,
    /// The figure.
    pub quantity: Quantity,
    /// All nodes at once against the reference, each unit with itself: the mean change of a node.
    pub pair: Pair,
    /// Node by node.
    pub nodes: Vec<NodeLoss>,
    /// The sums; null where not all of the nodes measured at the same time.
    pub sum: Option<Sum>,
}

/// What a node lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeLoss {
    /// Its number.
    pub node: usize,
    /// Its unit in this run against the same unit in the reference.
    pub pair: Pair,
}

/// What the compared nodes moved in sum.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sum {
    /// At the same time, in bytes per second.
    pub together: Estimate,
    /// In the reference, each by itself, in bytes per second.
    pub apart: Estimate,
    /// The first by the second, by how repeats differ.
    pub ratio: Option<Estimate>,
}

/// The newest run of the same units and suite in which each node measured alone; without one, the newest in which fewer measured
/// at a time. `others` begins with the newest.
pub(super) fn reference<'a>(run: &FleetRun, others: &'a [FleetRun]) -> Option<&'a FleetRun> {
    let fewer = |other: &&FleetRun| {
        matches!(other.mode.as_deref(), Some("alone" | "staggered")) && other.most_at_a_time() < run.most_at_a_time()
    };
    let all: Vec<&FleetRun> = others.iter().filter(fewer).filter(|other| paired(run, other).0.len() > 1).collect();
    all.iter().find(|other| other.most_at_a_time() == 1).or(all.first()).copied()
}

/// Places of a node here and there.
type Places = (usize, usize);

/// Nodes of both runs with the same unit and suite, those whose unit is another one, and those that are not there.
fn paired(run: &FleetRun, other: &FleetRun) -> (Vec<Places>, Vec<usize>, Vec<usize>) {
    let (mut same, mut moved, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let there: std::collections::BTreeMap<&str, (usize, &Observation)> =
        other.records().map(|(at, record)| (other.nodes[at].name.as_str(), (at, record))).collect();
    for (at, record) in run.records() {
        let of = |record: &Observation| {
            let of = identity(record);
            (of.model, of.unit, of.slot)
        };
        match there.get(run.nodes[at].name.as_str()) {
            None => missing.push(at),
            Some((_, other)) if suite(other) != suite(record) => missing.push(at),
            Some((_, other)) if of(other) != of(record) => moved.push(at),
            Some((there, _)) => same.push((at, *there)),
        }
    }
    (same, moved, missing)
}

/// A run against a reference.
pub(super) fn against(run: &FleetRun, other: &FleetRun, loads: &[Load]) -> Against {
    let (same, moved, missing) = paired(run, other);
    let refusal = match same.len() {
        0 | 1 if !moved.is_empty() => Some(NotCompared::Moved { nodes: moved.len() }),
        0 | 1 => Some(NotCompared::TooFewNodes),
        _ => None,
    };
    let losses =
        if refusal.is_some() { Vec::new() } else { loads.iter().filter_map(|l| loss(run, other, &same, l)).collect() };
    Against {
        run: other.name.clone(),
        mode: other.mode.clone(),
        at_a_time: other.most_at_a_time(),
        own_at_a_time: run.most_at_a_time(),
        nodes: same.iter().map(|(here, _)| *here).collect(),
        moved,
        missing,
        refusal,
        loads: losses,
    }
}

fn loss(run: &FleetRun, other: &FleetRun, same: &[Places], load: &Load) -> Option<LoadLoss> {
    let records = run.records().chain(other.records()).map(|(_, record)| record);
    let quantity = deciding_quantity(records, load).quantity;
    // A unit that has no figure on one side has none to be paired with.
    let both: Vec<(Places, &Observation, &Observation)> = same
        .iter()
        .filter_map(|places| {
            let (here, there) = (run.nodes[places.0].record.as_ref()?, other.nodes[places.1].record.as_ref()?);
            let known = |record: &Observation| admit(record, load, quantity).0.is_some();
            (known(here) && known(there)).then_some((*places, here, there))
        })
        .collect();
    let pair = |here: Vec<&Observation>, there: Vec<&Observation>| {
        let group = |records| RecordGroup { name: String::new(), records };
        under(&[group(there), group(here)], load.clone(), &CompareRequest::default())?.pairs.first().copied()
    };
    let all = pair(both.iter().map(|b| b.1).collect(), both.iter().map(|b| b.2).collect())?;
    if all.question != PairQuestion::SameUnits {
        return None;
    }
    let nodes = both
        .iter()
        .filter_map(|((node, _), here, there)| Some(NodeLoss { node: *node, pair: pair(vec![*here], vec![*there])? }));
    let nodes: Vec<NodeLoss> = nodes.collect();
    let sum = || {
        let here = |node: usize| both.iter().any(|((at, _), ..)| *at == node);
        let there = |node: usize| both.iter().any(|((_, at), ..)| *at == node);
        let together = together(run, load, here).ok().filter(|found| found.nodes == both.len())?.bytes_per_second;
        let apart = sum_of_separate(other, load, there)?;
        Some(Sum { ratio: factor(&together, &apart), together, apart })
    };
    Some(LoadLoss { title: load.title(), quantity, pair: all, nodes, sum: sum() })
}
