//! Records for tests.

use std::collections::BTreeMap;

use assay_core::finding::{Finding, Validity};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Record, Repeat, SCHEMA, Settings, SuiteRef, Tool};
use assay_core::workload::{Op, Pattern, Stop, Sync, Workload};

pub(super) fn workload(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32) -> Workload {
    Workload {
        name: format!("w-{block_bytes}-{queue_depth}"),
        op,
        read_percent: None,
        pattern,
        block_bytes,
        queue_depth,
        jobs: 1,
        span_bytes: 1 << 26,
        direct: true,
        sync: Sync::End,
        stop: Stop { ramp_ns: 0, duration_ns: 1, max_bytes: None },
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
        let mut histogram = Histogram::default();
        histogram.add((1e9 / value.abs().max(1.0)) as u64);
        measurement.repeats.push(Repeat {
            started: String::new(),
            elapsed_ns: 1_000_000_000,
            operations: 1000,
            bytes: 4096 * 1000,
            iops: *value,
            bytes_per_second: value * measurement.workload.block_bytes as f64,
            issued_bytes: 4096 * 1000,
            durable_bytes_per_second: None,
            in_flight: 1.0,
            proof_ratio: Some(1.0),
            samples: Vec::new(),
            histogram: StoredHistogram::from(&histogram),
            first_done_ns: 0,
            last_done_ns: 0,
            steady: None,
            outcome: Outcome::Completed,
        });
    }
    measurement
}

/// A record of one unit of a model with these measurements.
pub(super) fn record(id: &str, model: &str, unit: &str, measurements: Vec<Measurement>) -> Record {
    let mut record = Record {
        schema: SCHEMA.to_owned(),
        id: id.to_owned(),
        created: "2026-01-02T03:04:05Z".to_owned(),
        tool: Tool {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            engine: "sync".to_owned(),
            engine_reason: String::new(),
        },
        host: Host { hostname: Some("node1".to_owned()), ..Host::default() },
        medium: Medium::unknown("/mnt"),
        labels: BTreeMap::from([("model".to_owned(), model.to_owned())]),
        suite: SuiteRef { name: "quick".to_owned(), version: 1 },
        settings: Settings::default(),
        measurements,
        sensors: Vec::new(),
        crosscheck: Vec::new(),
        verification: None,
        source: None,
        outcome: Outcome::Completed,
        validity: Validity::judge([].iter()),
        warnings: Vec::new(),
    };
    if !unit.is_empty() {
        record.labels.insert("unit".to_owned(), unit.to_owned());
    }
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

pub(super) fn invalid(mut record: Record) -> Record {
    record.measurements[0].warn(Finding::ServedFromCache { proof_ratio: 0.02 });
    record.validity = Validity::judge(record.all_warnings());
    record
}

pub(super) fn fake(mut record: Record) -> Record {
    let verification = serde_json::json!({
        "method": "full", "verdict": "fake", "sentence": "holds 8 GB of 32 GB", "kind": null,
        "announced_bytes": 32, "real_bytes": 8, "checked_bytes": 32, "written_bytes": 32,
        "counts": {"good": 1, "changed": 0, "overwritten": 0, "corrupted": 0, "unreadable": 0}, "first_error": null, "map": [], "write": null, "read": null,
        "read_back": "direct", "cache_bytes": null
    });
    record.verification = Some(serde_json::from_value(verification).unwrap());
    record
}

/// About normal with deviation 1, from a seed (xorshift64*, sum of twelve uniforms).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn throw(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.throw()).sum::<f64>() - 6.0
    }
}
