//! Nodes that are special for reasons other than their figures: their target is not a mounted medium, or they are far
//! below the others.

use assay_core::cluster::{FAR_BELOW, SettledLoad};
use assay_core::medium::Mounted;
use assay_core::record::Record;
use serde::Serialize;

use super::loads::LoadRow;
use super::run::Run;
use crate::area::small_area;
use crate::exclusion::Reason;
use crate::load::Load;

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
    /// Its figure over the median of all; null where it has none.
    pub to_median: Option<f64>,
}

/// Nodes whose records are not grouped with the others, and why: their test area is small, or their target is no mounted medium
/// while more than half of the nodes measured one.
pub(super) fn set_apart(run: &Run) -> Vec<(usize, Reason)> {
    let all: Vec<(usize, &Record)> = run.records().collect();
    let astray: Vec<usize> =
        all.iter().filter(|(_, record)| record.medium.mounted().is_no_medium()).map(|(node, _)| *node).collect();
    let mounted = all.iter().filter(|(_, record)| record.medium.mounted() == Mounted::There).count();
    let few = 2 * mounted > all.len();
    let full = all.iter().any(|(_, record)| small_area(record).is_none());
    let reason = |(node, record): &(usize, &Record)| {
        let place = (few && astray.contains(node)).then(|| Reason::NotMounted { mounted: record.medium.mounted() });
        Some((*node, place.or_else(|| small_area(record).filter(|_| full))?))
    };
    all.iter().filter_map(reason).collect()
}

/// Nodes that are far below the others by the look at them before the first repeat, where their figures do not say
/// otherwise: one that is missing does not, and one that is less than [`FAR_BELOW`] of the median agrees.
pub(super) fn far_below(run: &Run, loads: &[LoadRow]) -> Vec<BelowNode> {
    let mut all = Vec::new();
    for (node, record) in run.records() {
        let settled = record.cluster.as_ref().and_then(|part| part.settled.as_ref());
        let below = settled.into_iter().flat_map(|settled| &settled.loads).filter(|load| load.far_below);
        let at: Vec<BelowAt> = below.filter_map(|load| below_at(run, loads, node, load)).collect();
        if !at.is_empty() {
            all.push(BelowNode { node, at });
        }
    }
    all
}

fn below_at(run: &Run, loads: &[LoadRow], node: usize, settled: &SettledLoad) -> Option<BelowAt> {
    // The load as the nodes with a repeat ran it. A node without repeats has the load of the suite.
    let ran = run.records().flat_map(|(_, record)| &record.measurements);
    let ran = ran.into_iter().find(|m| m.workload.name == settled.workload && !m.repeats.is_empty())?;
    let load = Load::of(&ran.workload);
    let row = loads.iter().find(|row| row.load == load)?;
    let to_median = row.figures.get(node)?.as_ref().map(|figure| figure.to_median);
    let better = |ratio: f64| if row.more_is_better { ratio } else { ratio.recip() };
    let agrees = to_median.is_none_or(|ratio| better(ratio) < FAR_BELOW);
    agrees.then(|| BelowAt { title: row.title.clone(), to_typical: settled.to_typical, to_median })
}
