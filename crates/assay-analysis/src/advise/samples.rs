//! Records for tests.

use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::verification::{self, Method, Verification};
use assay_core::workload::{Op, Pattern, Stop, Workload};

use crate::{published, samples};

/// A record of a unit without figures.
pub(crate) fn record(model: &str, unit: &str) -> Record {
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
pub(crate) fn with(mut record: Record, workload: Workload, iops: &[f64]) -> Record {
    let mut measurement = Measurement::empty(workload.clone(), "sync");
    measurement.repeats = iops
        .iter()
        .map(|iops| Repeat {
            elapsed_ns: 1_000_000_000,
            operations: 1,
            bytes: workload.block_bytes,
            iops: *iops,
            bytes_per_second: iops * workload.block_bytes as f64,
            issued_bytes: workload.block_bytes,
            in_flight: 1.0,
            first_done_ns: 1,
            last_done_ns: 1,
            ..Repeat::empty("", Outcome::Completed)
        })
        .collect();
    record.measurements.push(measurement);
    record
}

pub(crate) fn labelled(mut record: Record, key: &str, value: &str) -> Record {
    record.labels.insert(key.to_owned(), value.to_owned());
    record
}

pub(crate) fn invalid(mut record: Record) -> Record {
    for measurement in &mut record.measurements {
        measurement.warn(Finding::ServedFromCache { proof_ratio: 0.02 });
    }
    record
}

pub(crate) fn fake(mut record: Record) -> Record {
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

pub(crate) fn broken(mut record: Record) -> Record {
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
pub(crate) fn published_cards() -> Vec<Record> {
    ["sandisk-extreme-a2", "samsung-evo-plus-64gb", "sandisk-ultra-a1"]
        .iter()
        .flat_map(|name| published(name).unwrap())
        .collect()
}

/// Random reads of 4 KiB, one at a time.
pub(crate) fn card(model: &str, unit: &str, iops: &[f64]) -> Record {
    with(record(model, unit), work(Op::Read, Pattern::Random, (4096, 1, 1)), iops)
}
