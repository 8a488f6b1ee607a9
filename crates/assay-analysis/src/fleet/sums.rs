//! What nodes moved at the same time.

use assay_core::estimate::Estimate;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};
use assay_stats::geometric;
use serde::Serialize;

use super::run::Run;
use crate::admission::admit;
use crate::load::Load;
use crate::overlap::{Common, common_starts};
use crate::quantity::Quantity;
use crate::reading::measurement;

/// What nodes moved together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
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
pub(super) fn together(run: &Run, load: &Load, wanted: impl Fn(usize) -> bool) -> Result<Together, NoSum> {
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
    Ok(Together {
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
pub(super) fn sum_of_separate(run: &Run, load: &Load, wanted: impl Fn(usize) -> bool) -> Option<Estimate> {
    let of = |(node, record): (usize, &'_ assay_core::record::Record)| {
        let rates = |m: &Measurement| m.repeats.iter().filter(|r| counts(r)).map(|r| r.bytes_per_second).collect();
        let known = wanted(node) && admit(record, load, Quantity::BytesPerSecond).0.is_some();
        measurement(record, load).filter(|_| known).map(rates)
    };
    let all: Vec<Vec<f64>> = run.records().filter_map(of).collect();
    let repeats = all.iter().map(Vec::len).min()?;
    geometric(&(0..repeats).map(|at| all.iter().map(|rates| rates[at]).sum()).collect::<Vec<f64>>())
}

fn counts(repeat: &Repeat) -> bool {
    repeat.outcome == Outcome::Completed && repeat.bytes_per_second > 0.0 && repeat.bytes_per_second.is_finite()
}
