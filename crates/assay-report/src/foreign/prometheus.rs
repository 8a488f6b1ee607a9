//! Prometheus' text format (version 0.0.4), for the textfile collector of node_exporter:
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>. Names follow its conventions: base units, units in the
//! names.

use assay_analysis::identity;
use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use assay_core::record::{Measurement, Record};
use assay_core::text::clean;
use assay_core::workload::Unknown;

/// A metric: its name, its description, and its value for a measurement.
type Metrics = [(&'static str, &'static str, fn(&Measurement) -> Option<&Estimate>); 3];
const METRICS: Metrics = [
    ("assay_operations_per_second", "Operations per second.", |m| m.iops.as_ref()),
    ("assay_bytes_per_second", "Bytes per second, acknowledged.", |m| m.bytes_per_second.as_ref()),
    ("assay_durable_bytes_per_second", "Bytes per second, including the final sync.", |m| {
        m.durable_bytes_per_second.as_ref()
    }),
];
/// Percentiles of a gauge: the label `quantile` is for summaries alone.
type Percentiles = [(&'static str, fn(&Measurement) -> Option<&Estimate>); 4];
const PERCENTILES: Percentiles = [
    ("50", |m| m.latency_ns.p50.as_deref()),
    ("90", |m| m.latency_ns.p90.as_deref()),
    ("99", |m| m.latency_ns.p99.as_deref()),
    ("99.9", |m| m.latency_ns.p99_9.as_deref()),
];
/// The estimate and the ends of its interval: the end of the name, what the help says, and the value.
type Ends = [(&'static str, &'static str, fn(&Estimate) -> Option<f64>); 3];
const ENDS: Ends = [
    ("", "", |e| Some(e.point)),
    ("_low", " Lower end of its interval.", |e| e.low),
    ("_high", " Upper end of its interval.", |e| e.high),
];

/// The newest record of each unit: a series has one value.
pub(crate) fn prometheus(records: &[Record]) -> String {
    let newest = newest(records);
    let mut out = String::new();
    let measured = || newest.iter().flat_map(|r| r.measurements.iter().map(move |m| (r, m)));
    for (name, help, pick) in METRICS {
        // All lines of a name stand together, as the format asks.
        for (end, which, value) in ENDS {
            let values = measured().filter_map(|(record, m)| Some((labels(record, m), value(pick(m)?)?)));
            gauge(&mut out, &format!("{name}{end}"), &format!("{help}{which}"), values);
        }
    }
    let latencies = measured().flat_map(|(record, m)| {
        PERCENTILES.iter().filter_map(move |(percentile, pick)| {
            let mut labels = labels(record, m);
            labels.push(("percentile", (*percentile).to_owned()));
            Some((labels, pick(m)?.point / 1e9))
        })
    });
    gauge(&mut out, "assay_latency_seconds", "Latency that a share of the operations does not exceed.", latencies);
    let validity = newest.iter().map(|record| {
        let value = match record.validity.verdict {
            assay_core::finding::ValidityVerdict::Valid => 1.0,
            assay_core::finding::ValidityVerdict::Suspect => 0.5,
            assay_core::finding::ValidityVerdict::Invalid => 0.0,
        };
        (of_record(record), value)
    });
    let help = "Whether the figures of the record can be trusted: 1 valid, 0.5 suspect, 0 invalid.";
    gauge(&mut out, "assay_valid", help, validity);
    let times = newest.iter().filter_map(|record| {
        let time = record.created.parse::<jiff::Timestamp>().ok()?;
        Some((of_record(record), time.as_second() as f64))
    });
    gauge(&mut out, "assay_created_timestamp_seconds", "When the record was made.", times);
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
    let all = [
        ("model", identity(&Observation::from(r)).model),
        ("unit", unit),
        ("slot", slot),
        ("node", host),
        ("suite", r.suite.name.clone()),
    ];
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

/// A gauge with its values; nothing of one without.
fn gauge(out: &mut String, name: &str, help: &str, values: impl Iterator<Item = (Labels, f64)>) {
    for (at, (labels, value)) in values.enumerate() {
        if at == 0 {
            out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n"));
        }
        line(out, name, &labels, value);
    }
}

fn line(out: &mut String, name: &str, labels: &[(&'static str, String)], value: f64) {
    let quoted = |text: &str| clean(text).replace('\\', "\\\\").replace('"', "\\\"");
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", quoted(value))).collect();
    out.push_str(&format!("{name}{{{}}} {value}\n", labels.join(",")));
}
