//! Repeats that nodes made at the same time.

use std::collections::BTreeMap;

use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};

/// Repeats count as made at the same time where all of them ran for this share of the time from the first start to the
/// last end: less, and the sum is partly that of fewer nodes.
pub(crate) const OVERLAP: f64 = 0.9;

/// A repeat of a node on the clock of the coordinator.
#[derive(Debug, Clone, Copy)]
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

/// From when to when some repeats went on; each end is only known within the bounds of the clocks.
struct Extent {
    began: (i64, i64),
    end: (i64, i64),
}

impl Extent {
    /// That of no repeat.
    const NONE: Self = Self { began: (i64::MAX, i64::MIN), end: (i64::MAX, i64::MIN) };

    fn with(self, part: &Part) -> Self {
        let within = |(first, last): (i64, i64), at: i64| {
            (first.min(at.saturating_sub(part.bound_ns)), last.max(at.saturating_add(part.bound_ns)))
        };
        Self { began: within(self.began, part.began_ns), end: within(self.end, part.end_ns) }
    }

    /// Whether the repeats were made at the same time, for any clock errors within their bounds.
    fn overlaps(&self) -> bool {
        let span = |from: i64, to: i64| to as f64 - from as f64;
        let any = span(self.began.0, self.end.1);
        any > 0.0 && span(self.began.1, self.end.0) / any >= OVERLAP
    }
}

impl Common {
    /// Whether its repeats were made at the same time.
    pub(crate) fn overlaps(&self) -> bool {
        self.parts.iter().fold(Extent::NONE, Extent::with).overlaps()
    }

    /// The numbers of the nodes, in order, of the largest group whose repeats were made at the same time: of the groups of
    /// a node and those whose start and end are nearest to its own. Empty where the clock of none is known well enough.
    pub(crate) fn largest_group(&self) -> Vec<usize> {
        let around = |middle: &Part| {
            let off = |part: &Part| part.began_ns.abs_diff(middle.began_ns).max(part.end_ns.abs_diff(middle.end_ns));
            let mut near: Vec<&Part> = self.parts.iter().collect();
            near.sort_by_key(|part| (off(part), part.node));
            // A part more never makes the common share larger.
            let grown = near.iter().scan(Extent::NONE, |extent, part| {
                *extent = std::mem::replace(extent, Extent::NONE).with(part);
                extent.overlaps().then_some(part.node)
            });
            grown.collect::<Vec<usize>>()
        };
        let mut largest = if self.overlaps() {
            self.parts.iter().map(|part| part.node).collect()
        } else {
            self.parts.iter().map(around).max_by_key(Vec::len).unwrap_or_default()
        };
        largest.sort_unstable();
        largest
    }

    /// Whether a node is here.
    pub(crate) fn has(&self, node: usize) -> bool {
        self.parts.iter().any(|part| part.node == node)
    }

    /// What these nodes did at the same time, of all that began; `None` where they did not, or one is not here.
    pub(crate) fn of_group(&self, nodes: &[usize]) -> Option<Self> {
        let parts: Vec<Part> = self.parts.iter().filter(|part| nodes.contains(&part.node)).copied().collect();
        let group = Self { parts };
        (group.parts.len() == nodes.len() && group.overlaps()).then_some(group)
    }

    /// How much later than most of these nodes another one began and ended, in nanoseconds; `None` where it is not here.
    pub(crate) fn later_than(&self, nodes: &[usize], other: usize) -> Option<(i64, i64)> {
        let other = self.parts.iter().find(|part| part.node == other)?;
        let middle = |of: fn(&Part) -> i64| {
            let mut all: Vec<i64> = self.parts.iter().filter(|part| nodes.contains(&part.node)).map(of).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied()
        };
        let (began, end) = (middle(|part| part.began_ns)?, middle(|part| part.end_ns)?);
        Some((other.began_ns.saturating_sub(began), other.end_ns.saturating_sub(end)))
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

    /// Two of `nodes` nodes. The second began `late_ns` later, where a repeat takes 1000 ns; clocks are known within
    /// `bound_ns`.
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
    fn the_largest_group_is_found_beside_late_and_slow_nodes() {
        let part = |node: usize, began_ns, end_ns| Part { node, began_ns, end_ns, bound_ns: 0, nodes: 7, rate: 1.0 };
        // Two slow nodes that end together, one that began late, and four.
        let parts = vec![
            part(0, 0, 41_000),
            part(1, 10, 1005),
            part(2, 0, 41_000),
            part(3, 5, 1010),
            part(4, 0, 1000),
            part(5, 500, 1500),
            part(6, 20, 1020),
        ];
        let start = Common { parts };
        assert!(!start.overlaps());
        assert_eq!(start.largest_group(), [1, 3, 4, 6]);
        let group = start.of_group(&[1, 3, 4, 6]).unwrap();
        assert_eq!((group.parts.len(), group.sum()), (4, 4.0));
        assert!(start.of_group(&[1, 3, 4, 5]).is_none() && start.of_group(&[1, 9]).is_none());
        assert_eq!(start.later_than(&[1, 3, 4, 6], 2), Some((-10, 39_990)));
        assert_eq!(start.later_than(&[1, 3, 4, 6], 5), Some((490, 490)));
        assert_eq!(start.later_than(&[1, 3, 4, 6], 9), None);
        // A clock that is off by a tenth of the repeat is in no group.
        let blind = |node| Part { bound_ns: 100, ..part(node, 0, 1000) };
        assert!(Common { parts: vec![blind(0), blind(1)] }.largest_group().is_empty());
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
