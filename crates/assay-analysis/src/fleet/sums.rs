//! What nodes moved at the same time.

use std::collections::BTreeMap;

use assay_core::estimate::Estimate;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};
use assay_stats::geometric;
use serde::Serialize;

use super::run::Run;
use crate::excluded::admit;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::measurement;

/// Repeats count as made at the same time where all of them ran for this share of the time from the first start to the
/// last end: less, and the sum is partly that of fewer nodes.
pub(super) const OVERLAP: f64 = 0.9;

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

/// A repeat of a node on the clock of the coordinator.
struct Part {
    node: usize,
    began_ns: i64,
    end_ns: i64,
    rate: f64,
}

/// What the nodes that are `wanted` moved under a load at the same time, by repeats that overlapped on the clock of the
/// coordinator; `None` where there are none of two nodes or more.
pub(super) fn together(run: &Run, load: &Load, wanted: impl Fn(usize) -> bool) -> Option<Together> {
    let mut starts: BTreeMap<(usize, i64), Vec<Part>> = BTreeMap::new();
    for (node, record) in run.records().filter(|(node, _)| wanted(*node)) {
        if admit(record, load, Quantity::BytesPerSecond).0.is_none() {
            continue;
        }
        let Some(measurement) = measurement(record, load) else { continue };
        for (number, repeat) in measurement.repeats.iter().enumerate().filter(|(_, repeat)| counts(repeat)) {
            // Without a bound nothing says that two clocks agree.
            let Some(start) = repeat.common_start.as_deref().filter(|start| start.bound_ns.is_some()) else { continue };
            let lasted = i64::try_from(repeat.last_done_ns.max(repeat.elapsed_ns)).unwrap_or(i64::MAX);
            starts.entry((number, start.planned_ns)).or_default().push(Part {
                node,
                began_ns: start.began_ns,
                end_ns: start.began_ns.saturating_add(lasted),
                rate: repeat.bytes_per_second,
            });
        }
    }
    let most = starts.values().map(Vec::len).max().filter(|most| *most > 1)?;
    let all = starts.len();
    let whole: Vec<Vec<Part>> =
        starts.into_values().filter(|parts| parts.len() == most && overlap(parts) >= OVERLAP).collect();
    let sums: Vec<f64> = whole.iter().map(|parts| parts.iter().map(|part| part.rate).sum()).collect();
    let bytes_per_second = geometric(&sums)?;
    let mut shares: Vec<Option<f64>> = vec![None; run.nodes.len()];
    for (parts, sum) in whole.iter().zip(&sums) {
        for part in parts {
            *shares[part.node].get_or_insert(0.0) += part.rate / sum / whole.len() as f64;
        }
    }
    Some(Together { nodes: most, repeats: whole.len(), left_out: all - whole.len(), bytes_per_second, shares })
}

/// The sum of what nodes moved each by itself, repeat by repeat.
pub(super) fn apart(run: &Run, load: &Load, wanted: impl Fn(usize) -> bool) -> Option<Estimate> {
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

/// The time in which all ran by the time in which any did.
fn overlap(parts: &[Part]) -> f64 {
    let (mut first, mut last) = ((i64::MAX, i64::MIN), (i64::MAX, i64::MIN));
    for part in parts {
        first = (first.0.min(part.began_ns), first.1.max(part.began_ns));
        last = (last.0.min(part.end_ns), last.1.max(part.end_ns));
    }
    let span = |from: i64, to: i64| to as f64 - from as f64;
    let any = span(first.0, last.1);
    if any > 0.0 { (span(first.1, last.0) / any).max(0.0) } else { 0.0 }
}
