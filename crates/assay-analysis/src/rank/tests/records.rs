//! Records for tests.

use std::collections::BTreeMap;

use assay_core::finding::{Validity, Verdict};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::{Medium, MediumKind};
use assay_core::outcome::{Failure, Outcome};
use assay_core::record::{Host, Measurement, Record, Repeat, SCHEMA, Settings, SuiteRef, Tool};
use assay_core::workload::{Op, Pattern, Stop, Sync, Workload};

use crate::rank::{Ask, ModelRow, RankReport, rank};

pub(super) fn workload(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32) -> Workload {
    Workload {
        name: "any".to_owned(),
        op,
        read_percent: None,
        pattern,
        block_bytes,
        queue_depth,
        jobs: 1,
        span_bytes: 1 << 30,
        direct: true,
        sync: Sync::End,
        stop: Stop { ramp_ns: 0, duration_ns: 1, max_bytes: None },
    }
}

/// Random reads of 4 KiB at depth 1: the load of most tests.
pub(super) fn read_4k() -> Workload {
    workload(Op::Read, Pattern::Random, 4096, 1)
}

pub(super) fn measured(workload: Workload, iops: &[f64]) -> Measurement {
    let mut measurement = Measurement::empty(workload, "uring");
    for &iops in iops {
        let mut histogram = Histogram::default();
        if iops > 0.0 {
            (0..9).for_each(|_| histogram.add((1e9 / iops) as u64));
        }
        measurement.repeats.push(Repeat {
            started: String::new(),
            elapsed_ns: 1,
            operations: 9,
            bytes: 9 * measurement.workload.block_bytes,
            iops,
            bytes_per_second: iops * measurement.workload.block_bytes as f64,
            issued_bytes: 0,
            durable_bytes_per_second: None,
            in_flight: 1.0,
            proof_ratio: None,
            samples: Vec::new(),
            histogram: StoredHistogram::from(&histogram),
            first_done_ns: 1,
            last_done_ns: 1,
            steady: None,
            outcome: Outcome::Completed,
        });
    }
    measurement
}

/// A record of a unit; its id is made of all that is told.
pub(super) fn record(model: &str, unit: &str, measurements: Vec<Measurement>) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        id: format!("{model}-{unit}"),
        created: "2026-01-02T03:04:05Z".to_owned(),
        tool: Tool {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            engine: "uring".to_owned(),
            engine_reason: String::new(),
        },
        host: Host::default(),
        medium: Medium { kind: MediumKind::Sd, ..Medium::unknown("/mnt") },
        labels: BTreeMap::from([("model".to_owned(), model.to_owned()), ("unit".to_owned(), unit.to_owned())]),
        suite: SuiteRef { name: "quick".to_owned(), version: 1 },
        settings: Settings::default(),
        measurements,
        sensors: Vec::new(),
        crosscheck: Vec::new(),
        verification: None,
        source: None,
        outcome: Outcome::Completed,
        validity: Validity { verdict: Verdict::Valid, reasons: Vec::new() },
        warnings: Vec::new(),
    }
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

pub(super) fn failed(failure: Failure) -> Outcome {
    Outcome::Failed {
        failure,
        detail: String::new(),
        workload: None,
        elapsed_ns: 48 * 3600 * 1_000_000_000,
        written_bytes: 1,
    }
}

pub(super) fn ranked(records: &[Record], ask: &Ask) -> RankReport {
    rank(&records.iter().collect::<Vec<_>>(), ask).unwrap()
}

pub(super) fn row<'a>(report: &'a RankReport, model: &str) -> &'a ModelRow {
    report.primary.models.iter().find(|m| m.model == model).unwrap()
}
