//! Records for tests.

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::workload::{Op, Pattern, Workload};

use crate::rank::{ModelRow, RankOptions, RankReport, rank};
use crate::samples;

pub(super) fn workload(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32) -> Workload {
    Workload { queue_depth, span_bytes: 1 << 30, ..Workload::new("any", op, pattern, block_bytes) }
}

/// Random reads of 4 KiB at depth 1: the load of most tests.
pub(super) fn read_4k() -> Workload {
    workload(Op::Read, Pattern::Random, 4096, 1)
}

pub(super) fn measured(workload: Workload, iops: &[f64]) -> Measurement {
    let mut measurement = Measurement::empty(workload, "uring");
    for &iops in iops {
        let operations = if iops > 0.0 { 9 } else { 0 };
        measurement.repeats.push(Repeat {
            elapsed_ns: 1,
            operations: 9,
            bytes: 9 * measurement.workload.block_bytes,
            iops,
            bytes_per_second: iops * measurement.workload.block_bytes as f64,
            in_flight: 1.0,
            histogram: samples::histogram((1e9 / iops) as u64, operations),
            first_done_ns: 1,
            last_done_ns: 1,
            ..Repeat::empty("", Outcome::Completed)
        });
    }
    measurement
}

/// A record of a unit. Its id is made from the model and the unit.
pub(super) fn record(model: &str, unit: &str, measurements: Vec<Measurement>) -> Record {
    samples::record(&format!("{model}-{unit}"), model, unit, measurements)
}

/// The usual: random reads of 4 KiB.
pub(super) fn read(model: &str, unit: &str, iops: &[f64]) -> Record {
    record(model, unit, vec![measured(read_4k(), iops)])
}

/// Three models of three units, far apart.
pub(super) fn nine() -> Vec<Record> {
    let mut records = Vec::new();
    for (model, iops) in [("A", 1000.0), ("B", 2000.0), ("C", 4000.0)] {
        for (unit, factor) in [("1", 0.97), ("2", 1.0), ("3", 1.04)] {
            records.push(read(model, unit, &[iops * factor, iops * factor * 1.01]));
        }
    }
    records
}

pub(super) fn failed(failure: RunFailure) -> Outcome {
    Outcome::Failed {
        failure,
        detail: String::new(),
        workload: None,
        elapsed_ns: 48 * 3600 * 1_000_000_000,
        written_bytes: 1,
    }
}

pub(super) fn ranked(records: &[Record], ask: &RankOptions) -> RankReport {
    rank(&records.iter().collect::<Vec<_>>(), ask).unwrap()
}

pub(super) fn row<'a>(report: &'a RankReport, model: &str) -> &'a ModelRow {
    report.primary.models.iter().find(|m| m.model == model).unwrap()
}
