//! Repeats that nodes made at the same time.

use std::collections::BTreeMap;

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::Outcome;
use assay_core::workload::{Stop, Workload};
use assay_stats::geometric;

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
    measured: impl Iterator<Item = (usize, &'a ObservedMeasurement)>,
    rate: impl Fn(&ObservedRepeat) -> Option<f64>,
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

// Workloads of a record that ran at the same time: what they moved together, and what each lost by the others.

/// Workloads that ran at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct AtOnce {
    /// In the order of the suite.
    pub members: Vec<Member>,
    /// Bytes per second of all of them together, over the repeats.
    pub bytes_per_second: Option<Estimate>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its load, without what ran beside it.
    pub title: String,
    /// Operations per second beside the others.
    pub iops: Option<Estimate>,
    /// 99th percentile of the latency beside the others, in nanoseconds.
    pub p99_ns: Option<Estimate>,
    /// The same load alone, where the record has it.
    pub alone: Option<Alone>,
}

/// A load alone, and how it was beside the others relative to that.
#[derive(Debug, Clone, PartialEq)]
pub struct Alone {
    /// 99th percentile of the latency alone, in nanoseconds.
    pub p99_ns: Estimate,
    /// Bytes of the area, beside the others and alone, where they differ: a smaller area may be faster.
    pub areas: Option<(u64, u64)>,
    /// 99th percentile beside the others by that alone.
    pub p99_factor: Estimate,
    /// Operations per second beside the others by those alone.
    pub iops_factor: Estimate,
}

/// The groups of a record, in the order of the suite.
#[must_use]
pub fn at_once(record: &Observation) -> Vec<AtOnce> {
    let group = |m: &ObservedMeasurement| m.workload.together.as_ref().map(|together| together.group.clone());
    let measured = |members: &&[ObservedMeasurement]| {
        members.iter().all(|m| m.workload.together.is_some() && m.iops.is_some()) && members.len() > 1
    };
    // Of repeats that were ended early it is not known what they would have come to.
    let whole = |members: &&[ObservedMeasurement]| {
        !members.iter().any(|m| m.warnings.iter().any(|w| matches!(w.finding, Finding::EndedByNeighbour { .. })))
    };
    let groups = record.measurements.chunk_by(|a, b| group(a) == group(b)).filter(measured).filter(whole);
    groups.map(|members| of_members(members, &record.measurements)).collect()
}

fn of_members(members: &[ObservedMeasurement], all: &[ObservedMeasurement]) -> AtOnce {
    let completed = |m: &ObservedMeasurement| -> Vec<ObservedRepeat> {
        m.repeats.iter().filter(|r| r.outcome == Outcome::Completed).cloned().collect()
    };
    let repeats: Vec<Vec<ObservedRepeat>> = members.iter().map(completed).collect();
    let count = repeats.iter().map(Vec::len).min().unwrap_or(0);
    // A repeat of a group is one of each of its members.
    let sums: Vec<f64> = (0..count).map(|i| repeats.iter().map(|own| own[i].bytes_per_second).sum()).collect();
    let member = |m: &ObservedMeasurement| Member {
        title: alone(&m.workload).title(),
        iops: m.iops.clone(),
        p99_ns: m.latency_ns.p99.as_deref().cloned(),
        alone: all.iter().find(|other| kind(&other.workload) == kind(&alone(&m.workload))).and_then(|a| against(m, a)),
    };
    AtOnce { members: members.iter().map(member).collect(), bytes_per_second: geometric(&sums) }
}

/// The load without what runs beside it.
fn alone(workload: &Workload) -> Workload {
    Workload { together: None, ..workload.clone() }
}

/// What has to be the same of a load alone: all but its name, its part of the area and its length.
fn kind(workload: &Workload) -> Workload {
    Workload { name: String::new(), offset_bytes: 0, span_bytes: 0, stop: Stop::OPEN, ..workload.clone() }
}

fn against(beside: &ObservedMeasurement, alone: &ObservedMeasurement) -> Option<Alone> {
    let p99_ns = alone.latency_ns.p99.as_deref()?.clone();
    let areas = (beside.workload.span_bytes, alone.workload.span_bytes);
    Some(Alone {
        areas: (areas.0 != areas.1).then_some(areas),
        p99_factor: factor(beside.latency_ns.p99.as_deref()?, &p99_ns)?,
        iops_factor: factor(beside.iops.as_ref()?, alone.iops.as_ref()?)?,
        p99_ns,
    })
}

/// The ratio of two independent estimates. Its interval is made of theirs on the logarithmic scale (method of variance
/// estimates recovery: Zou and Donner 2008, Statistics in Medicine 27, 1693, equation 6).
pub(crate) fn factor(a: &Estimate, b: &Estimate) -> Option<Estimate> {
    let point = a.point / b.point;
    if !(point.is_finite() && point > 0.0) {
        return None;
    }
    let ln = |value: Option<f64>| value.filter(|v| *v > 0.0).map(f64::ln);
    let limits = || {
        let (x, y) = (a.point.ln(), b.point.ln());
        let low = x - y - (x - ln(a.low)?).hypot(ln(b.high)? - y);
        let high = x - y + (ln(a.high)? - x).hypot(y - ln(b.low)?);
        Some((low.exp(), high.exp()))
    };
    let (low, high) = limits().map_or((None, None), |(low, high)| (Some(low), Some(high)));
    let method = "ratio of two estimates, interval from theirs on logarithms".to_owned();
    Some(Estimate { point, low, high, level: a.level, n: a.n.min(b.n), method })
}

#[cfg(test)]
mod tests {
    use assay_core::workload::Together;
    use assay_core::workload::{Op, Pattern};

    use super::*;
    use crate::samples::record;

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

    fn measured(op: Op, pattern: Pattern, group: bool, iops: &[f64], p99: &[f64]) -> ObservedMeasurement {
        let beside = Together { group: "g".to_owned(), beside: vec!["other".to_owned()] };
        let together = group.then_some(beside);
        let workload =
            Workload { together, offset_bytes: u64::from(group) << 20, ..Workload::new("w", op, pattern, 4096) };
        let mut measurement = ObservedMeasurement::new(workload);
        let repeat = |iops: &f64| ObservedRepeat {
            iops: *iops,
            bytes_per_second: iops * 4096.0,
            ..ObservedRepeat::new(Outcome::Completed)
        };
        measurement.repeats = iops.iter().map(repeat).collect();
        measurement.iops = geometric(iops);
        measurement.latency_ns.p99 = geometric(p99).map(Box::new);
        measurement
    }

    #[test]
    fn a_group_is_summed_by_repeat_and_compared_with_the_same_load_alone() {
        let mut all = record("r", "Model", "unit", Vec::new());
        all.measurements = vec![
            measured(Op::Read, Pattern::Random, false, &[1000.0, 1000.0], &[1e6, 1e6]),
            measured(Op::Read, Pattern::Random, true, &[500.0, 250.0], &[8e6, 8e6]),
            measured(Op::Write, Pattern::Sequential, true, &[500.0, 750.0], &[2e6, 2e6]),
        ];
        let [found] = &at_once(&all)[..] else { panic!() };
        let sum = found.bytes_per_second.as_ref().unwrap();
        assert!((sum.point - 4_096_000.0).abs() < 1.0 && sum.n == 2, "each repeat moved as much: {sum:?}");
        let [reader, writer] = &found.members[..] else { panic!() };
        assert_eq!(reader.title, "random read 4 KiB");
        let alone = reader.alone.as_ref().unwrap();
        assert!((alone.p99_factor.point - 8.0).abs() < 1e-9 && (alone.iops_factor.point - 0.353_55).abs() < 1e-4);
        assert!(alone.iops_factor.low.unwrap() < 0.1 && alone.iops_factor.high.unwrap() > 1.0, "two repeats differ");
        assert!(writer.alone.is_none(), "it did not run alone");
        all.measurements[1].warnings.push(Finding::EndedByNeighbour { lasted_ns: 1, planned_ns: 9 }.into());
        assert!(at_once(&all).is_empty());
    }

    /// Of equal relative widths the ratio's is larger by the root of two.
    #[test]
    fn the_interval_of_a_ratio_is_wider_than_those_it_is_made_of() {
        let estimate = |point: f64| Estimate {
            point,
            low: Some(point / 1.1),
            high: Some(point * 1.1),
            ..Estimate::bare(point, 3, "test")
        };
        let ratio = factor(&estimate(6.0), &estimate(3.0)).unwrap();
        let wide = 1.1f64.powf(2f64.sqrt());
        assert!((ratio.low.unwrap() - 2.0 / wide).abs() < 1e-9 && (ratio.high.unwrap() - 2.0 * wide).abs() < 1e-9);
        assert_eq!(factor(&Estimate::bare(6.0, 1, "test"), &estimate(3.0)).unwrap().low, None);
    }
}
