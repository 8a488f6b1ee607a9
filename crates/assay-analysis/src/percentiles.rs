//! Arbitrary percentiles of the latency, over the repeats of a record.

use assay_core::estimate::Estimate;
use assay_core::histogram::Histogram;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_stats::geometric_like;

/// The latency in nanoseconds that a `share` of the operations does not exceed, 0 < `share` < 1, over the completed
/// repeats, as for other figures. `None` where there are none, or where one of them has so few operations that none is
/// expected to be slower: the value would then only be that of the slowest operation.
#[must_use]
pub fn percentile(measurement: &Measurement, share: f64) -> Option<Estimate> {
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0);
    let all: Vec<Histogram> = completed.map(|r| Histogram::from(&*r.histogram)).collect();
    let enough = |h: &Histogram| h.total() >= operations_for(share);
    let values: Vec<f64> = all.iter().filter(|h| enough(h)).filter_map(|h| h.quantile(share)).collect();
    let like = || geometric_like(&values, measurement.latency_ns.p50.as_deref());
    (!all.is_empty() && values.len() == all.len()).then(like).flatten()
}

/// Operations that each repeat needs for a percentile. Above the 99th percentile at least one operation has to be
/// slower; else the value would only be that of the slowest operation.
#[must_use]
pub fn operations_for(share: f64) -> u64 {
    if share <= 0.99 { 1 } else { (1.0 / (1.0 - share) - 1e-6).ceil() as u64 }
}

#[cfg(test)]
mod tests {
    use assay_core::histogram::StoredHistogram;
    use assay_core::record::Repeat;
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;

    #[test]
    fn a_percentile_needs_an_operation_beyond_it() {
        let mut m = Measurement::empty(Workload::new("w", Op::Read, Pattern::Random, 4096), "sync");
        for shift in [0, 1] {
            let mut histogram = Histogram::default();
            (1..=1000u64).for_each(|n| histogram.add(n * 1000 + shift));
            let histogram = StoredHistogram::from(&histogram).into();
            m.repeats.push(Repeat { histogram, operations: 1000, ..Repeat::empty("", Outcome::Completed) });
        }
        let of = |share: f64| percentile(&m, share).map(|e| (e.point, e.n));
        let (p99, n) = of(0.99).unwrap();
        assert!((p99 / 990_000.0 - 1.0).abs() < 0.005 && n == 2, "{p99}");
        assert!(of(0.999).is_some());
        assert_eq!(of(0.9991), None);
        assert_eq!((operations_for(0.999), operations_for(0.9999), operations_for(0.5)), (1000, 10_000, 1));
        m.repeats[1].outcome = Outcome::Running;
        assert_eq!(percentile(&m, 0.5).map(|e| e.n), Some(1), "what is not over does not count");
    }
}
