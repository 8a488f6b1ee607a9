//! Records for tests.

use assay_core::finding::{Finding, Validity};
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::workload::{Op, Pattern, Workload};

use crate::samples;

pub(super) fn workload(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32) -> Workload {
    Workload {
        queue_depth,
        span_bytes: 1 << 26,
        ..Workload::new(&format!("w-{block_bytes}-{queue_depth}"), op, pattern, block_bytes)
    }
}

/// Random read of 4 KiB, one deep.
pub(super) fn random_read() -> Workload {
    workload(Op::Read, Pattern::Random, 4096, 1)
}

/// A measurement whose repeats have these operations a second, and all of whose operations took the time that this
/// makes.
pub(super) fn measured(workload: Workload, iops: &[f64]) -> Measurement {
    let mut measurement = Measurement::empty(workload, "sync");
    for value in iops {
        measurement.repeats.push(Repeat {
            elapsed_ns: 1_000_000_000,
            operations: 1000,
            bytes: 4096 * 1000,
            iops: *value,
            bytes_per_second: value * measurement.workload.block_bytes as f64,
            issued_bytes: 4096 * 1000,
            in_flight: 1.0,
            proof_ratio: Some(1.0),
            histogram: samples::histogram((1e9 / value.abs().max(1.0)) as u64, 1),
            ..Repeat::empty("", Outcome::Completed)
        });
    }
    measurement
}

/// A record of one unit of a model with these measurements.
pub(super) fn record(id: &str, model: &str, unit: &str, measurements: Vec<Measurement>) -> Record {
    let mut record = samples::record(id, model, unit, measurements);
    record.host.hostname = Some("node1".to_owned());
    record.medium = Medium::unknown("/mnt");
    record
}

/// A record with repeats of random reads.
pub(super) fn card(id: &str, unit: &str, iops: &[f64]) -> Record {
    record(id, "Card", unit, vec![measured(random_read(), iops)])
}

pub(super) fn bus_limited(mut record: Record) -> Record {
    for m in &mut record.measurements {
        m.bus_limited = true;
    }
    record
}

pub(super) fn best_of(mut record: Record) -> Record {
    record.measurements.iter_mut().for_each(|m| m.warn(Finding::BestOf { runs: Some(5) }));
    record
}

pub(super) fn invalid(mut record: Record) -> Record {
    record.measurements[0].warn(Finding::ServedFromCache { proof_ratio: 0.02 });
    record.validity = Validity::judge(record.all_warnings());
    record
}

pub(super) fn fake(mut record: Record) -> Record {
    let verification = serde_json::json!({
        "method": "full", "verdict": "fake", "kind": null,
        "announced_bytes": 32, "real_bytes": 8, "checked_bytes": 32, "written_bytes": 32,
        "counts": {"good": 1, "changed": 0, "overwritten": 0, "corrupted": 0, "unreadable": 0}, "first_error": null, "map": [], "write": null, "read": null,
        "read_back": "direct", "cache_bytes": null
    });
    record.verification = Some(serde_json::from_value(verification).unwrap());
    record
}
