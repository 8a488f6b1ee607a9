//! A table in long form, one figure a row, for R, pandas and DuckDB: a value for each repeat, and the estimate over them.

use assay_analysis::names_model;
use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::text;
use assay_core::units::exact;
use assay_core::workload::Unknown;

use crate::results::{readings, sensor_is_drawn};

/// Names of the columns.
pub(crate) const COLUMNS: [&str; 25] = [
    "record",
    "created",
    "model",
    "unit",
    "slot",
    "host",
    "suite",
    "labels",
    "workload",
    "op",
    "pattern",
    "block_bytes",
    "queue_depth",
    "jobs",
    "sync",
    "conditions",
    "repeat",
    "figure",
    "unit_of_value",
    "value",
    "low",
    "high",
    "level",
    "n",
    "method",
];

/// Figures of a measurement by name and unit.
type Figures = [(&'static str, &'static str, fn(&Measurement) -> Option<&Estimate>); 9];
const FIGURES: Figures = [
    ("iops", "1/s", |m| m.iops.as_ref()),
    ("rate", "bytes/s", |m| m.bytes_per_second.as_ref()),
    ("durable", "bytes/s", |m| m.durable_bytes_per_second.as_ref()),
    ("mean", "ns", |m| m.latency_ns.mean.as_deref()),
    ("p50", "ns", |m| m.latency_ns.p50.as_deref()),
    ("p90", "ns", |m| m.latency_ns.p90.as_deref()),
    ("p99", "ns", |m| m.latency_ns.p99.as_deref()),
    ("p99.9", "ns", |m| m.latency_ns.p99_9.as_deref()),
    ("max", "ns", |m| m.latency_ns.max.as_deref()),
];

/// A row of the table; an empty cell is one that is not known.
pub(crate) type Row = [String; COLUMNS.len()];

/// All records in one table.
pub(crate) fn long_csv(records: &[Record]) -> String {
    let mut out = COLUMNS.join(",") + "\n";
    for row in rows(records) {
        out.push_str(&row.map(|cell| text::csv(&cell)).join(","));
        out.push('\n');
    }
    out
}

/// The rows of all records.
pub(crate) fn rows(records: &[Record]) -> Vec<Row> {
    let mut rows = Vec::new();
    for record in records {
        let head = of_record(record);
        for m in &record.measurements {
            let load = of_workload(m);
            for (at, repeat) in m.repeats.iter().enumerate() {
                for (name, unit, value) in values(repeat) {
                    let figure = [(at + 1).to_string(), name.to_owned(), unit.to_owned(), exact(value)];
                    rows.push(row(&head, &load, figure, Default::default()));
                }
            }
            for (name, unit, pick) in FIGURES {
                let Some(e) = pick(m) else { continue };
                let figure = [String::new(), name.to_owned(), unit.to_owned(), exact(e.point)];
                rows.push(row(&head, &load, figure, how(e)));
            }
        }
        for sensor in sensor_is_drawn(record) {
            let mut load: [String; 8] = Default::default();
            load[0].clone_from(&sensor.name);
            let Some((low, high)) = readings(sensor) else { continue };
            for (name, value) in [("sensor_min", low), ("sensor_max", high)] {
                let figure = [String::new(), name.to_owned(), sensor.unit.clone(), exact(value)];
                rows.push(row(&head, &load, figure, Default::default()));
            }
        }
        for score in &record.scores {
            let mut load: [String; 8] = Default::default();
            load[0].clone_from(&score.name);
            let figure = [String::new(), "score".to_owned(), score.unit.clone(), exact(score.value.point)];
            rows.push(row(&head, &load, figure, how(&score.value)));
        }
    }
    rows
}

/// The interval of an estimate, its level, number of values and method.
fn how(e: &Estimate) -> [String; 5] {
    let bound = |value: Option<f64>| value.map(exact).unwrap_or_default();
    [bound(e.low), bound(e.high), bound(e.level), e.n.to_string(), e.method.clone()]
}

/// A row of four parts, whose lengths add up to that of the row.
fn row(record: &[String; 8], load: &[String; 8], figure: [String; 4], how: [String; 5]) -> Row {
    let mut row = Row::default();
    const { assert!(COLUMNS.len() == 8 + 8 + 4 + 5) };
    row[..8].clone_from_slice(record);
    row[8..16].clone_from_slice(load);
    row[16..20].clone_from_slice(&figure);
    row[20..].clone_from_slice(&how);
    row
}

fn of_record(r: &Record) -> [String; 8] {
    let label = |key: &str| r.labels.get(key).cloned();
    [
        r.id.clone(),
        r.created.clone(),
        if names_model(&Observation::from(r)) { r.model() } else { String::new() },
        label("unit").or_else(|| r.medium.unit.clone()).unwrap_or_default(),
        label("slot").or_else(|| r.host.slot.clone()).unwrap_or_default(),
        r.host.hostname.clone().unwrap_or_default(),
        r.suite.name.clone(),
        crate::csv::labels(&r.labels),
    ]
}

fn of_workload(m: &Measurement) -> [String; 8] {
    let w = &m.workload;
    let if_known = |what, value: String| if w.lacks(what) { String::new() } else { value };
    [
        w.name.clone(),
        crate::csv::serialized_name(&w.op),
        if_known(Unknown::Pattern, crate::csv::serialized_name(&w.pattern)),
        if_known(Unknown::BlockBytes, w.block_bytes.to_string()),
        if_known(Unknown::QueueDepth, w.queue_depth.to_string()),
        if_known(Unknown::Jobs, w.jobs.to_string()),
        if_known(Unknown::Sync, crate::csv::serialized_name(&w.sync)),
        w.conditions_and_sizes(),
    ]
}

fn values(repeat: &Repeat) -> Vec<(&'static str, &'static str, f64)> {
    let histogram = assay_core::histogram::Histogram::from(&*repeat.histogram);
    let latency = |name, share: f64| Some((name, "ns", histogram.quantile(share)?));
    let all = [
        Some(("iops", "1/s", repeat.iops)),
        Some(("rate", "bytes/s", repeat.bytes_per_second)),
        repeat.durable_bytes_per_second.map(|rate| ("durable", "bytes/s", rate)),
        latency("p50", 0.5),
        latency("p99", 0.99),
    ];
    all.into_iter().flatten().collect()
}
