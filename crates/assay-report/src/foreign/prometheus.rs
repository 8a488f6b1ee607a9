//! Prometheus' text format (version 0.0.4), for the textfile collector of node_exporter:
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>. Names follow its conventions: base units, units in the
//! names.

use assay_analysis::identity;
use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::text::clean;
use assay_core::workload::Unknown;

/// A metric: its name, what it is, and its value of a measurement.
type Metrics = [(&'static str, &'static str, fn(&Measurement) -> Option<&Estimate>); 3];
const METRICS: Metrics = [
    ("assay_operations_per_second", "Operations per second.", |m| m.iops.as_ref()),
    ("assay_bytes_per_second", "Bytes per second, acknowledged.", |m| m.bytes_per_second.as_ref()),
    ("assay_durable_bytes_per_second", "Bytes per second, including the final sync.", |m| {
        m.durable_bytes_per_second.as_ref()
    }),
];
type Quantiles = [(&'static str, fn(&Measurement) -> Option<&Estimate>); 4];
const QUANTILES: Quantiles = [
    ("0.5", |m| m.latency_ns.p50.as_deref()),
    ("0.9", |m| m.latency_ns.p90.as_deref()),
    ("0.99", |m| m.latency_ns.p99.as_deref()),
    ("0.999", |m| m.latency_ns.p99_9.as_deref()),
];

/// The newest record of each unit: a series has one value.
pub(crate) fn prometheus(records: &[Record]) -> String {
    let newest = newest(records);
    let mut out = String::new();
    for (name, help, pick) in METRICS {
        head(&mut out, name, help);
        for (record, m) in newest.iter().flat_map(|r| r.measurements.iter().map(move |m| (r, m))) {
            if let Some(e) = pick(m) {
                let labels = labels(record, m);
                line(&mut out, name, &labels, e.point);
                for (bound, value) in [("low", e.low), ("high", e.high)] {
                    if let Some(value) = value {
                        line(&mut out, &format!("{name}_{bound}"), &labels, value);
                    }
                }
            }
        }
    }
    head(&mut out, "assay_latency_seconds", "Latency that a share of the operations does not exceed.");
    for (record, m) in newest.iter().flat_map(|r| r.measurements.iter().map(move |m| (r, m))) {
        for (quantile, pick) in QUANTILES {
            if let Some(e) = pick(m) {
                let mut labels = labels(record, m);
                labels.push(("quantile", quantile.to_owned()));
                line(&mut out, "assay_latency_seconds", &labels, e.point / 1e9);
            }
        }
    }
    head(&mut out, "assay_valid", "Whether the figures of the record can be trusted: 1 valid, 0.5 suspect, 0 invalid.");
    for record in &newest {
        let value = match record.validity.verdict {
            assay_core::finding::ValidityVerdict::Valid => 1.0,
            assay_core::finding::ValidityVerdict::Suspect => 0.5,
            assay_core::finding::ValidityVerdict::Invalid => 0.0,
        };
        line(&mut out, "assay_valid", &of_record(record), value);
    }
    head(&mut out, "assay_created_timestamp_seconds", "When the record was made.");
    for record in &newest {
        if let Ok(time) = record.created.parse::<jiff::Timestamp>() {
            line(&mut out, "assay_created_timestamp_seconds", &of_record(record), time.as_second() as f64);
        }
    }
    out
}

/// The newest record of each unit and suite, in the order given.
fn newest(records: &[Record]) -> Vec<&Record> {
    let mut all: Vec<&Record> = Vec::new();
    for record in records {
        match all.iter_mut().find(|known| of_record(known) == of_record(record)) {
            Some(known) if record.created >= known.created => *known = record,
            Some(_) => {}
            None => all.push(record),
        }
    }
    all
}

type Labels = Vec<(&'static str, String)>;

fn of_record(r: &Record) -> Labels {
    let label = |key: &str| r.labels.get(key).cloned();
    let unit = label("unit").or_else(|| r.medium.unit.clone()).unwrap_or_default();
    let slot = label("slot").or_else(|| r.host.slot.clone()).unwrap_or_default();
    let host = r.host.hostname.clone().unwrap_or_default();
    let all =
        [("model", identity(r).model), ("unit", unit), ("slot", slot), ("node", host), ("suite", r.suite.name.clone())];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn labels(r: &Record, m: &Measurement) -> Labels {
    let w = &m.workload;
    let if_known = |what, value: u64| if w.lacks(what) { String::new() } else { value.to_string() };
    let mut labels = of_record(r);
    labels.extend([
        ("workload", w.name.clone()),
        ("op", crate::csv::serialized_name(&w.op)),
        ("pattern", if w.lacks(Unknown::Pattern) { String::new() } else { crate::csv::serialized_name(&w.pattern) }),
        ("block_bytes", if_known(Unknown::BlockBytes, w.block_bytes)),
        ("queue_depth", if_known(Unknown::QueueDepth, w.queue_depth.into())),
        ("jobs", if_known(Unknown::Jobs, w.jobs.into())),
        ("conditions", w.conditions_and_sizes()),
    ]);
    labels.retain(|(_, value)| !value.is_empty());
    labels
}

fn head(out: &mut String, name: &str, help: &str) {
    out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n"));
}

fn line(out: &mut String, name: &str, labels: &[(&'static str, String)], value: f64) {
    let quoted = |text: &str| clean(text).replace('\\', "\\\\").replace('"', "\\\"");
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", quoted(value))).collect();
    out.push_str(&format!("{name}{{{}}} {value}\n", labels.join(",")));
}
