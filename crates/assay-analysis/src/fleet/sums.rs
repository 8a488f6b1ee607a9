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
pub struct Together {
    /// Nodes that took part.
    pub nodes: usize,
    /// Repeats that overlapped.
    pub repeats: usize,
    /// Repeats of as many nodes that began together and did not overlap enough, and of fewer nodes; they are left out.
    pub left_out: usize,
    /// The sum of the rates of all nodes in bytes per second, over the repeats.
    pub bytes_per_second: Estimate,
    /// The part of each node of the run in it; null for one that took no part.
    pub shares: Vec<Option<f64>>,
}

/// What the nodes that are `wanted` moved under a load at the same time, by repeats that overlapped on the clock of the
/// coordinator; `None` where there are none of two nodes or more.
pub(super) fn together(run: &Run, load: &Load, wanted: impl Fn(usize) -> bool) -> Option<Together> {
    let measured = run
        .records()
        .filter(|(node, record)| wanted(*node) && admit(record, load, Quantity::BytesPerSecond).0.is_some());
    let measured = measured.filter_map(|(node, record)| Some((node, measurement(record, load)?)));
    let mut starts = common_starts(measured, |repeat| Some(repeat.bytes_per_second));
    let nodes = starts.iter().map(|common| common.parts.len()).max().filter(|most| *most > 1)?;
    let all = starts.len();
    starts.retain(|common| common.parts.len() == nodes && common.overlaps());
    let sums: Vec<f64> = starts.iter().map(Common::sum).collect();
    let bytes_per_second = geometric(&sums)?;
    let mut shares: Vec<Option<f64>> = vec![None; run.nodes.len()];
    for (common, sum) in starts.iter().zip(&sums) {
        for part in &common.parts {
            *shares[part.node].get_or_insert(0.0) += part.rate / sum / starts.len() as f64;
        }
    }
    Some(Together { nodes, repeats: starts.len(), left_out: all - starts.len(), bytes_per_second, shares })
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
