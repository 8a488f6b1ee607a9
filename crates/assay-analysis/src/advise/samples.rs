//! Records for tests.

use std::collections::BTreeMap;

use assay_core::finding::{Finding, Validity, Verdict};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::{Medium, MediumKind};
use assay_core::outcome::{Failure, Outcome};
use assay_core::record::{Host, Measurement, Record, Repeat, SCHEMA, Settings, SuiteRef, Tool};
use assay_core::verification::{self, Method, Verification};
use assay_core::workload::{Op, Pattern, Stop, Sync, Workload};

use crate::published;

/// A record of a unit without figures.
pub(crate) fn record(model: &str, unit: &str) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        id: format!("{model}{unit}"),
        created: "2026-01-02T03:04:05Z".to_owned(),
        tool: Tool {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            engine: "sync".to_owned(),
            engine_reason: "asked for".to_owned(),
        },
        host: Host::default(),
        medium: Medium { kind: MediumKind::Sd, ..Medium::unknown("/mnt") },
        labels: BTreeMap::from([("model".to_owned(), model.to_owned()), ("unit".to_owned(), unit.to_owned())]),
        suite: SuiteRef { name: "quick".to_owned(), version: 1 },
        settings: Settings::default(),
        measurements: Vec::new(),
        sensors: Vec::new(),
        crosscheck: Vec::new(),
        verification: None,
        source: None,
        outcome: Outcome::Completed,
        validity: Validity { verdict: Verdict::Valid, reasons: Vec::new() },
        warnings: Vec::new(),
    }
}

/// A load: block size, queue depth, jobs.
pub(crate) fn work(op: Op, pattern: Pattern, (block_bytes, queue_depth, jobs): (u64, u32, u32)) -> Workload {
    Workload {
        name: "load".to_owned(),
        op,
        read_percent: (op == Op::Mixed).then_some(70),
        pattern,
        block_bytes,
        queue_depth,
        jobs,
        span_bytes: 1 << 30,
        direct: true,
        sync: Sync::End,
        stop: Stop { ramp_ns: 0, duration_ns: 1_000_000_000, max_bytes: None },
    }
}

/// With repeats of so many operations per second.
pub(crate) fn with(mut record: Record, workload: Workload, iops: &[f64]) -> Record {
    let mut measurement = Measurement::empty(workload.clone(), "sync");
    measurement.repeats = iops
        .iter()
        .map(|iops| Repeat {
            started: String::new(),
            elapsed_ns: 1_000_000_000,
            operations: 1,
            bytes: workload.block_bytes,
            iops: *iops,
            bytes_per_second: iops * workload.block_bytes as f64,
            issued_bytes: workload.block_bytes,
            durable_bytes_per_second: None,
            in_flight: 1.0,
            proof_ratio: None,
            samples: Vec::new(),
            histogram: StoredHistogram::from(&Histogram::default()),
            first_done_ns: 1,
            last_done_ns: 1,
            steady: None,
            outcome: Outcome::Completed,
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
        method: Method::Full,
        verdict: verification::Verdict::Fake,
        sentence: String::new(),
        kind: None,
        announced_bytes: 64 << 30,
        real_bytes: Some(8 << 30),
        real_low_bytes: None,
        real_high_bytes: None,
        holds: Vec::new(),
        checked_bytes: 1 << 30,
        written_bytes: 1 << 30,
        counts: verification::SectorCounts::default(),
        first_error: None,
        map: Vec::new(),
        write: None,
        read: None,
        read_back: String::new(),
        cache_bytes: None,
        reach: None,
    });
    record
}

pub(crate) fn broken(mut record: Record) -> Record {
    record.outcome = Outcome::Failed {
        failure: Failure::ReadOnly,
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
pub(crate) fn six_cards() -> Vec<Record> {
    ["sandisk-extreme-a2", "samsung-evo-plus-64gb", "sandisk-ultra-a1"]
        .iter()
        .flat_map(|name| published(name).unwrap())
        .collect()
}

/// Random reads of 4 KiB, one at a time.
pub(crate) fn card(model: &str, unit: &str, iops: &[f64]) -> Record {
    with(record(model, unit), work(Op::Read, Pattern::Random, (4096, 1, 1)), iops)
}
