//! Repeats that nodes made at the same time.

use std::collections::BTreeMap;

use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};

/// Repeats count as made at the same time where all of them ran for this share of the time from the first start to the
/// last end: less, and the sum is partly that of fewer nodes.
pub(crate) const OVERLAP: f64 = 0.9;

/// A repeat of a node on the clock of the coordinator.
pub(crate) struct Part {
    pub(crate) node: usize,
    began_ns: i64,
    end_ns: i64,
    /// In what the caller asked for.
    pub(crate) rate: f64,
}

/// Repeats by the start that their nodes had in common.
pub(crate) struct Overlapping {
    /// Nodes that took part.
    pub(crate) nodes: usize,
    /// The repeats of all of them that overlapped, start by start.
    pub(crate) whole: Vec<Vec<Part>>,
    /// Starts of which the repeats did not overlap enough, or at which there were fewer nodes.
    pub(crate) left_out: usize,
}

/// The repeats of nodes, each with its number, that overlapped on the clock of the coordinator, with what `rate` gives of
/// each; `None` where no two nodes had a start in common.
pub(crate) fn overlapping<'a>(
    measured: impl Iterator<Item = (usize, &'a Measurement)>,
    rate: impl Fn(&Repeat) -> Option<f64>,
) -> Option<Overlapping> {
    let mut starts: BTreeMap<(usize, i64), Vec<Part>> = BTreeMap::new();
    for (node, measurement) in measured {
        for (number, repeat) in measurement.repeats.iter().enumerate().filter(|(_, r)| r.outcome == Outcome::Completed)
        {
            // Without a bound nothing says that two clocks agree.
            let Some(start) = repeat.common_start.as_deref().filter(|start| start.bound_ns.is_some()) else { continue };
            let Some(rate) = rate(repeat).filter(|rate| *rate > 0.0 && rate.is_finite()) else { continue };
            let lasted = i64::try_from(repeat.last_done_ns.max(repeat.elapsed_ns)).unwrap_or(i64::MAX);
            let end_ns = start.began_ns.saturating_add(lasted);
            starts.entry((number, start.planned_ns)).or_default().push(Part {
                node,
                began_ns: start.began_ns,
                end_ns,
                rate,
            });
        }
    }
    let nodes = starts.values().map(Vec::len).max().filter(|most| *most > 1)?;
    let all = starts.len();
    let whole: Vec<Vec<Part>> =
        starts.into_values().filter(|parts| parts.len() == nodes && share(parts) >= OVERLAP).collect();
    Some(Overlapping { nodes, left_out: all - whole.len(), whole })
}

/// The time in which all ran by the time in which any did.
fn share(parts: &[Part]) -> f64 {
    let (mut first, mut last) = ((i64::MAX, i64::MIN), (i64::MAX, i64::MIN));
    for part in parts {
        first = (first.0.min(part.began_ns), first.1.max(part.began_ns));
        last = (last.0.min(part.end_ns), last.1.max(part.end_ns));
    }
    let span = |from: i64, to: i64| to as f64 - from as f64;
    let any = span(first.0, last.1);
    if any > 0.0 { (span(first.1, last.0) / any).max(0.0) } else { 0.0 }
}
