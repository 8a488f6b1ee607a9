//! Workloads of a record that ran at the same time: what they moved together, and what each lost by the others.

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::workload::{Stop, Workload};
use assay_stats::geometric;

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
pub fn at_once(record: &Record) -> Vec<AtOnce> {
    let group = |m: &Measurement| m.workload.together.as_ref().map(|together| together.group.clone());
    let measured = |members: &&[Measurement]| {
        members.iter().all(|m| m.workload.together.is_some() && m.iops.is_some()) && members.len() > 1
    };
    // Of repeats that were ended early it is not known what they would have come to.
    let whole = |members: &&[Measurement]| {
        !members.iter().any(|m| m.warnings.iter().any(|w| matches!(w.finding, Finding::EndedByNeighbour { .. })))
    };
    let groups = record.measurements.chunk_by(|a, b| group(a) == group(b)).filter(measured).filter(whole);
    groups.map(|members| of_members(members, &record.measurements)).collect()
}

fn of_members(members: &[Measurement], all: &[Measurement]) -> AtOnce {
    let completed = |m: &Measurement| -> Vec<Repeat> {
        m.repeats.iter().filter(|r| r.outcome == Outcome::Completed).cloned().collect()
    };
    let repeats: Vec<Vec<Repeat>> = members.iter().map(completed).collect();
    let count = repeats.iter().map(Vec::len).min().unwrap_or(0);
    // A repeat of a group is one of each of its members.
    let sums: Vec<f64> = (0..count).map(|i| repeats.iter().map(|own| own[i].bytes_per_second).sum()).collect();
    let member = |m: &Measurement| Member {
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

fn against(beside: &Measurement, alone: &Measurement) -> Option<Alone> {
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
    use assay_core::together::Together;
    use assay_core::workload::{Op, Pattern};

    use super::*;
    use crate::samples::record;

    fn measured(op: Op, pattern: Pattern, group: bool, iops: &[f64], p99: &[f64]) -> Measurement {
        let beside = Together { group: "g".to_owned(), beside: vec!["other".to_owned()] };
        let together = group.then_some(beside);
        let workload =
            Workload { together, offset_bytes: u64::from(group) << 20, ..Workload::new("w", op, pattern, 4096) };
        let mut measurement = Measurement::empty(workload, "sync");
        let repeat = |iops: &f64| Repeat {
            iops: *iops,
            bytes_per_second: iops * 4096.0,
            ..Repeat::empty("2026-01-02T03:04:05Z", Outcome::Completed)
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
        all.measurements[1].warn(Finding::EndedByNeighbour { lasted_ns: 1, planned_ns: 9 });
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
