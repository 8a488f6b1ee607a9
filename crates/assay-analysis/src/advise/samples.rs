//! Records for tests.

use assay_core::finding::Finding;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::{self, Method, Verification};
use assay_core::workload::{Op, Pattern, Stop, Workload};

use crate::{published, samples};

/// A record of a unit without figures.
pub(crate) fn record(model: &str, unit: &str) -> Observation {
    samples::record(&format!("{model}{unit}"), model, unit, Vec::new())
}

/// A load: block size, queue depth, jobs.
pub(crate) fn work(op: Op, pattern: Pattern, (block_bytes, queue_depth, jobs): (u64, u32, u32)) -> Workload {
    Workload {
        read_percent: (op == Op::Mixed).then_some(70),
        queue_depth,
        jobs,
        span_bytes: 1 << 30,
        stop: Stop { ramp_ns: 0, duration_ns: 1_000_000_000, max_bytes: None },
        ..Workload::new("load", op, pattern, block_bytes)
    }
}

/// Adds a measurement with one repeat for each value, in operations per second.
pub(crate) fn with(mut record: Observation, workload: Workload, iops: &[f64]) -> Observation {
    let mut measurement = ObservedMeasurement::new(workload.clone());
    measurement.repeats = iops
        .iter()
        .map(|iops| ObservedRepeat {
            elapsed_ns: 1_000_000_000,
            operations: 1,
            iops: *iops,
            bytes_per_second: iops * workload.block_bytes as f64,
            last_done_ns: 1,
            ..ObservedRepeat::new(Outcome::Completed)
        })
        .collect();
    record.measurements.push(measurement);
    record
}

pub(crate) fn labelled(mut record: Observation, key: &str, value: &str) -> Observation {
    record.labels.insert(key.to_owned(), value.to_owned());
    record
}

pub(crate) fn invalid(mut record: Observation) -> Observation {
    for measurement in &mut record.measurements {
        measurement.warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into());
    }
    record
}

pub(crate) fn fake(mut record: Observation) -> Observation {
    record.verification = Some(Verification {
        verdict: verification::Verdict::Fake,
        announced_bytes: 64 << 30,
        real_bytes: Some(8 << 30),
        checked_bytes: 1 << 30,
        written_bytes: 1 << 30,
        ..Verification::undecided(Method::Full)
    });
    record
}

pub(crate) fn broken(mut record: Observation) -> Observation {
    record.outcome = Outcome::Failed {
        failure: RunFailure::ReadOnly,
        detail: String::new(),
        workload: None,
        elapsed_ns: 1,
        written_bytes: 0,
    };
    record
}

/// Three repeats around a value, one percent apart.
pub(crate) fn around(value: f64) -> [f64; 3] {
    [value * 0.99, value, value * 1.01]
}

/// The cards of the published cluster.
pub(crate) fn published_cards() -> Vec<Observation> {
    ["sandisk-extreme-a2", "samsung-evo-plus-64gb", "sandisk-ultra-a1"]
        .iter()
        .flat_map(|name| published(name).unwrap())
        .collect()
}

/// Random reads of 4 KiB, one at a time.
pub(crate) fn card(model: &str, unit: &str, iops: &[f64]) -> Observation {
    with(record(model, unit), work(Op::Read, Pattern::Random, (4096, 1, 1)), iops)
}
