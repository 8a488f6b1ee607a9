//! The figures of all nodes under a load, their sum over the time in which all ran, and a row for each node.

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Warning};
use assay_core::medium::Mounted;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::Outcome;
use assay_stats::{LEVEL, geometric, log_mean, middle};
use serde::Serialize;

use super::run::{FleetRun, Node};
use crate::admission::admit;
use crate::deciding::deciding_quantity;
use crate::exclusion::{Achieved, Excluded, Reason, result_of};
use crate::identity::identity;
use crate::load::Load;
use crate::overlap::{Common, common_starts};
use crate::quantity::{Quantity, estimate};
use crate::reading::{Mark, measurement};

/// The nodes under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRow {
    /// The load.
    pub load: Load,
    /// Its title.
    pub title: String,
    /// The figure.
    pub quantity: Quantity,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// The median over the nodes that have a figure.
    pub median: Estimate,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
    /// Number of the node with the least figure.
    pub least: usize,
    /// Number of the node with the largest figure.
    pub largest: usize,
    /// The figure of each node, in their order; null where the node has no figure that counts.
    pub figures: Vec<Option<NodeFigure>>,
    /// Numbers of the nodes that measured it and whose figure is invalid.
    pub invalid: Vec<usize>,
    /// The sum over the nodes that ran at the same time, all of them or most; null where there is no such sum.
    pub together: Option<NodesTogether>,
    /// Why there is no sum; null where there is one.
    pub no_sum: Option<NoSum>,
}

/// A node under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeFigure {
    /// Geometric mean of the repeats with their interval.
    pub estimate: Estimate,
    /// The figure over the median of all nodes.
    pub to_median: f64,
    /// Whether the bus or the instrument was reached: the medium is at least this fast.
    pub at_least: bool,
    /// Whether the node is odd under this load.
    pub odd: bool,
    /// Whether its test area is much smaller than that of others: it is shown, and not judged.
    pub small_area: bool,
}

/// The figures of the nodes under a load, and the reasons for what is left out; `None` where no node has a figure.
pub(super) fn load_row(run: &FleetRun, load: &Load) -> (Option<LoadRow>, Vec<Excluded>) {
    let quantity = deciding_quantity(run.records().map(|(_, record)| record), load).quantity;
    let mut figures: Vec<Option<NodeFigure>> = vec![None; run.nodes.len()];
    let (mut excluded, mut invalid) = (Vec::new(), Vec::new());
    for (at, record) in run.records() {
        let (reading, reasons) = admit(record, load, quantity);
        if reading.is_none() && reasons.iter().any(|reason| matches!(reason, Reason::Invalid { .. })) {
            invalid.push(at);
        }
        excluded.extend(reasons.into_iter().map(|reason| Excluded::new(record, Some(load), reason)));
        let Some(reading) = reading else { continue };
        let point = log_mean(&reading.values).exp();
        let n = u32::try_from(reading.values.len()).unwrap_or(u32::MAX);
        let bare = || Estimate::bare(point, n, "geometric mean of repeats");
        figures[at] = Some(NodeFigure {
            // Admitted values are positive and finite, but the estimate stored beside them may hold anything.
            estimate: estimate(reading.measurement, quantity).filter(|e| is_figure(e)).cloned().unwrap_or_else(bare),
            to_median: 1.0,
            at_least: reading.marks.iter().any(|mark| matches!(mark, Mark::BusLimited | Mark::InstrumentLimited)),
            odd: false,
            small_area: false,
        });
    }
    let row = figured(run, load, quantity, figures).map(|row| LoadRow { invalid, ..row });
    (row, excluded)
}

fn is_figure(estimate: &Estimate) -> bool {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    positive(estimate.point) && [estimate.low, estimate.high].into_iter().flatten().all(f64::is_finite)
}

fn figured(run: &FleetRun, load: &Load, quantity: Quantity, mut figures: Vec<Option<NodeFigure>>) -> Option<LoadRow> {
    let points: Vec<(usize, f64)> =
        figures.iter().enumerate().filter_map(|(at, figure)| Some((at, figure.as_ref()?.estimate.point))).collect();
    let values: Vec<f64> = points.iter().map(|(_, point)| *point).collect();
    let found = middle(&values, LEVEL)?;
    let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let largest = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    for figure in figures.iter_mut().flatten() {
        figure.to_median = figure.estimate.point / found.median;
    }
    let bare = Estimate::bare(
        found.median,
        u32::try_from(values.len()).unwrap_or(u32::MAX),
        "median over nodes, interval by order statistics",
    );
    let median = match found.interval {
        Some((low, high)) => Estimate { low: Some(low), high: Some(high), level: Some(LEVEL), ..bare },
        None => bare,
    };
    let (together, no_sum) = match together(run, load, |_| true) {
        Ok(found) => (Some(found), None),
        Err(why) => (None, Some(why)),
    };
    Some(LoadRow {
        load: load.clone(),
        title: load.title(),
        quantity,
        more_is_better: quantity.more_is_better(),
        median,
        quartiles: found.quartiles,
        least,
        largest,
        figures,
        invalid: Vec::new(),
        together,
        no_sum,
    })
}

// A row for each node.

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetRow {
    /// Its name.
    pub node: String,
    /// Its outcome, as text.
    pub outcome: String,
    /// Whether it is complete.
    pub complete: bool,
    /// Whether its medium failed, which is a result, too.
    pub medium_failed: bool,
    /// Id of its record.
    pub record: Option<String>,
    /// The model that it measured.
    pub model: Option<String>,
    /// Version of the program that measured; null where there is no record.
    pub version: Option<String>,
    /// Commit of its source; null where it is not known.
    pub commit: Option<String>,
    /// The path that was measured; null where it has no record.
    pub target: Option<String>,
    /// What is mounted there; null where it has no record.
    pub mounted: Option<Mounted>,
    /// The unit.
    pub unit: Option<String>,
    /// Where the unit was.
    pub slot: Option<String>,
    /// The largest temperature that was read, in °C.
    pub hottest_celsius: Option<f64>,
    /// How its host was throttled, as text; null where nothing reports it.
    pub throttled: Option<String>,
    /// Whether it is odd under any load.
    pub odd: bool,
}

/// A node without its figures.
pub(super) fn node_row(node: &Node) -> FleetRow {
    let record = node.record.as_ref();
    let of = record.map(identity);
    FleetRow {
        node: node.name.clone(),
        outcome: node.outcome.clone(),
        complete: node.complete,
        medium_failed: record.is_some_and(|record| matches!(result_of(record), Ok(Achieved::MediumFailed(_)))),
        record: record.map(|record| record.id.clone()),
        model: of.as_ref().map(|of| of.model.clone()),
        version: record.map(|record| record.tool.version.clone()),
        commit: record.and_then(|record| record.tool.commit.clone()),
        target: record.map(|record| record.medium.path.clone()),
        mounted: record.map(|record| record.medium.mounted()),
        unit: of.as_ref().map(|of| of.unit.clone()),
        slot: of.and_then(|of| of.slot),
        hottest_celsius: record.and_then(|record| record.hottest_celsius),
        throttled: record.and_then(throttled),
        odd: false,
    }
}

/// Whether the host was slowed down while it measured, in the words of the finding.
pub(super) fn throttled(record: &Observation) -> Option<String> {
    let by = |finding: &Finding| matches!(finding, Finding::Throttled { .. });
    record.all_warnings().find(|warning| by(&warning.finding)).map(Warning::cause)
}

// What nodes moved at the same time.

/// What nodes moved together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodesTogether {
    /// Nodes in the sum: all that began together, or the largest group of them that overlapped, which is more than half.
    pub nodes: usize,
    /// Nodes that began together.
    pub of: usize,
    /// Repeats that overlapped.
    pub repeats: usize,
    /// Repeats of as many nodes that began together and did not overlap enough, and of fewer nodes; they are left out.
    pub left_out: usize,
    /// Nodes that began with these and are not in the sum: their repeats were not made at the same time.
    pub beside: Vec<Beside>,
    /// The sum of the rates of the nodes in bytes per second, over the repeats.
    pub bytes_per_second: Estimate,
    /// The part of each node of the run in it; null for one that took no part.
    pub shares: Vec<Option<f64>>,
}

/// A node whose repeat was not made at the same time as those of the others, by the repeat in which it was furthest from
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// Its number.
    pub node: usize,
    /// How much later than the middle one of the others it began, in nanoseconds.
    pub began_later_ns: i64,
    /// How much later it ended, in nanoseconds.
    pub ended_later_ns: i64,
}

impl Beside {
    /// The larger deviation of its start and its end, in nanoseconds.
    #[must_use]
    pub fn furthest_ns(&self) -> u64 {
        self.began_later_ns.unsigned_abs().max(self.ended_later_ns.unsigned_abs())
    }
}

/// Why there is no sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoSum {
    /// No node began a repeat together with others, on clocks that were compared.
    NoCommonStart,
    /// Repeats of one node alone count.
    OneNode,
    /// Nodes began together, and no more than half of them worked at the same time.
    Apart {
        /// Nodes in the largest group that did.
        largest: usize,
        /// Nodes that began together.
        of: usize,
        /// The node that was furthest from the others, if one was.
        furthest: Option<Beside>,
    },
}

/// The sum over the `wanted` nodes under a load, from repeats that overlapped by the clock of the coordinator.
///
/// # Errors
/// Why there is no sum.
pub(super) fn together(run: &FleetRun, load: &Load, wanted: impl Fn(usize) -> bool) -> Result<NodesTogether, NoSum> {
    let measured = run
        .records()
        .filter(|(node, record)| wanted(*node) && admit(record, load, Quantity::BytesPerSecond).0.is_some());
    let measured = measured.filter_map(|(node, record)| Some((node, measurement(record, load)?)));
    let mut starts = common_starts(measured, |repeat| Some(repeat.bytes_per_second));
    let all = starts.len();
    let of = match starts.iter().map(|common| common.parts.len()).max() {
        None => return Err(NoSum::NoCommonStart),
        Some(1) => return Err(NoSum::OneNode),
        Some(of) => of,
    };
    starts.retain(|common| common.parts.len() == of);
    let group = group(&starts);
    let others: Vec<usize> =
        (0..run.nodes.len()).filter(|at| !group.contains(at) && starts.iter().any(|s| s.has(*at))).collect();
    let beside = |node: usize| furthest(&starts, &group, node);
    let apart = || NoSum::Apart {
        largest: group.len(),
        of,
        furthest: others.iter().filter_map(|at| beside(*at)).max_by_key(Beside::furthest_ns),
    };
    if 2 * group.len() <= of {
        return Err(apart());
    }
    let common: Vec<Common> = starts.iter().filter_map(|start| start.of_group(&group)).collect();
    let sums: Vec<f64> = common.iter().map(Common::sum).collect();
    let bytes_per_second = geometric(&sums).ok_or_else(apart)?;
    let mut shares: Vec<Option<f64>> = vec![None; run.nodes.len()];
    for (common, sum) in common.iter().zip(&sums) {
        for part in &common.parts {
            *shares[part.node].get_or_insert(0.0) += part.rate / sum / sums.len() as f64;
        }
    }
    let beside = others.iter().filter_map(|at| beside(*at)).collect();
    Ok(NodesTogether {
        nodes: group.len(),
        of,
        repeats: sums.len(),
        left_out: all - sums.len(),
        beside,
        bytes_per_second,
        shares,
    })
}

/// The largest group of nodes that overlapped in any start; of such that are equally large, the one that did in most.
fn group(starts: &[Common]) -> Vec<usize> {
    let mut all: Vec<Vec<usize>> = starts.iter().map(Common::largest_group).collect();
    all.sort_unstable();
    all.dedup();
    let often = |group: &[usize]| starts.iter().filter(|start| start.of_group(group).is_some()).count();
    all.into_iter().max_by_key(|group| (group.len(), often(group))).unwrap_or_default()
}

/// How far a node was from the others, in the start in which it was furthest from them.
fn furthest(starts: &[Common], others: &[usize], node: usize) -> Option<Beside> {
    let later = starts.iter().filter_map(|start| start.later_than(others, node));
    later
        .map(|(began_later_ns, ended_later_ns)| Beside { node, began_later_ns, ended_later_ns })
        .max_by_key(Beside::furthest_ns)
}

/// The sum of what nodes moved each by itself, repeat by repeat.
pub(super) fn sum_of_separate(run: &FleetRun, load: &Load, wanted: impl Fn(usize) -> bool) -> Option<Estimate> {
    let of = |(node, record): (usize, &'_ Observation)| {
        let rates =
            |m: &ObservedMeasurement| m.repeats.iter().filter(|r| counts(r)).map(|r| r.bytes_per_second).collect();
        let known = wanted(node) && admit(record, load, Quantity::BytesPerSecond).0.is_some();
        measurement(record, load).filter(|_| known).map(rates)
    };
    let all: Vec<Vec<f64>> = run.records().filter_map(of).collect();
    let repeats = all.iter().map(Vec::len).min()?;
    geometric(&(0..repeats).map(|at| all.iter().map(|rates| rates[at]).sum()).collect::<Vec<f64>>())
}

fn counts(repeat: &ObservedRepeat) -> bool {
    repeat.outcome == Outcome::Completed && repeat.bytes_per_second > 0.0 && repeat.bytes_per_second.is_finite()
}
