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
    /// How far its clock may be off.
    bound_ns: i64,
    /// Nodes that were to begin with it.
    nodes: u32,
    /// In what the caller asked for.
    pub(crate) rate: f64,
}

/// What nodes began together.
pub(crate) struct Common {
    pub(crate) parts: Vec<Part>,
}

/// The completed repeats of nodes, each with its number, by the starts that they had in common, in the order of time, with
/// what `rate` gives of each.
pub(crate) fn common_starts<'a>(
    measured: impl Iterator<Item = (usize, &'a Measurement)>,
    rate: impl Fn(&Repeat) -> Option<f64>,
) -> Vec<Common> {
    let mut starts: BTreeMap<(usize, i64), Vec<Part>> = BTreeMap::new();
    for (node, measurement) in measured {
        for (number, repeat) in measurement.repeats.iter().enumerate().filter(|(_, r)| r.outcome == Outcome::Completed)
        {
            let Some(start) = repeat.common_start.as_deref() else { continue };
            // Without a bound nothing says that two clocks agree.
            let Some(bound_ns) = start.bound_ns else { continue };
            let Some(rate) = rate(repeat).filter(|rate| *rate > 0.0 && rate.is_finite()) else { continue };
            let lasted = i64::try_from(repeat.last_done_ns.max(repeat.elapsed_ns)).unwrap_or(i64::MAX);
            starts.entry((number, start.planned_ns)).or_default().push(Part {
                node,
                began_ns: start.began_ns,
                end_ns: start.began_ns.saturating_add(lasted),
                bound_ns: i64::try_from(bound_ns).unwrap_or(i64::MAX),
                nodes: start.nodes,
                rate,
            });
        }
    }
    starts.into_values().map(|parts| Common { parts }).collect()
}

impl Common {
    /// Whether its repeats were made at the same time, whatever the clocks were off within their bounds.
    pub(crate) fn overlaps(&self) -> bool {
        let (mut first, mut last) = ((i64::MAX, i64::MIN), (i64::MAX, i64::MIN));
        for Part { began_ns, end_ns, bound_ns, .. } in &self.parts {
            first.0 = first.0.min(began_ns.saturating_sub(*bound_ns));
            first.1 = first.1.max(began_ns.saturating_add(*bound_ns));
            last.0 = last.0.min(end_ns.saturating_sub(*bound_ns));
            last.1 = last.1.max(end_ns.saturating_add(*bound_ns));
        }
        let span = |from: i64, to: i64| to as f64 - from as f64;
        let any = span(first.0, last.1);
        any > 0.0 && span(first.1, last.0) / any >= OVERLAP
    }

    /// How many nodes began, where all of them are here.
    pub(crate) fn whole(&self) -> Option<u32> {
        let nodes = self.nodes();
        let all = self.parts.iter().all(|part| part.nodes == nodes) && self.parts.len() == nodes as usize;
        all.then_some(nodes)
    }

    /// How many nodes were to begin.
    pub(crate) fn nodes(&self) -> u32 {
        self.parts.iter().map(|part| part.nodes).max().unwrap_or(0)
    }

    pub(crate) fn sum(&self) -> f64 {
        self.parts.iter().map(|part| part.rate).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of `nodes`, the second of which began so many thousandths of a repeat later, on clocks known so well.
    fn two(late_ns: i64, bound_ns: i64, nodes: u32) -> Common {
        let part = |node: usize, began_ns| Part { node, began_ns, end_ns: began_ns + 1000, bound_ns, nodes, rate: 1.0 };
        Common { parts: vec![part(0, 0), part(1, late_ns)] }
    }

    #[test]
    fn nine_tenths_in_common_count_whatever_the_clocks_were_off() {
        let overlaps = |late_ns, bound_ns| two(late_ns, bound_ns, 2).overlaps();
        // 1000 - 40 of 1000 + 40 are 92 %, with 60 they are 89 %.
        assert!(overlaps(0, 0) && overlaps(40, 0) && !overlaps(60, 0));
        // Each end of each repeat may be off: 1000 - 2 × 20 of 1000 + 2 × 20, and so on.
        assert!(overlaps(0, 20) && !overlaps(0, 30));
        assert!(overlaps(10, 15) && !overlaps(30, 15));
    }

    #[test]
    fn a_start_is_whole_where_all_nodes_that_began_are_here() {
        assert_eq!(two(0, 0, 2).whole(), Some(2));
        assert_eq!(two(0, 0, 3).whole(), None);
        let mut other = two(0, 0, 2);
        other.parts[0].nodes = 1;
        assert_eq!(other.whole(), None);
    }
}
