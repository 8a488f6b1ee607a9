//! One row a measurement, for spreadsheets and scripts (RFC 4180).

use std::collections::BTreeMap;

use assay_analysis::Excluded;
use assay_analysis::aggregate::{Aggregate, AggregateRow};
use assay_core::estimate::Estimate;
use assay_core::finding::Warning;
use assay_core::observation::Observation;
use assay_core::record::{Measurement, Record};
use assay_core::text;
use assay_core::text::clean;
use assay_core::units::{exact, figures};
use assay_core::workload::Unknown;
use serde::Serialize;

use crate::document::{Answered, Block, Cell, Data, Document, left, number, right};
use crate::results::read_sensors;
use crate::verdict::word;
use crate::{caveats, document, health};

/// Estimates of a measurement by the name their columns begin with; units are in the names.
type Figures = [(&'static str, fn(&Measurement) -> Option<&Estimate>); 11];
const FIGURES: Figures = [
    ("iops", |m| m.iops.as_ref()),
    ("bytes_per_second", |m| m.bytes_per_second.as_ref()),
    ("durable_bytes_per_second", |m| m.durable_bytes_per_second.as_ref()),
    ("latency_mean_ns", |m| m.latency_ns.mean.as_deref()),
    ("latency_p50_ns", |m| m.latency_ns.p50.as_deref()),
    ("latency_p90_ns", |m| m.latency_ns.p90.as_deref()),
    ("latency_p99_ns", |m| m.latency_ns.p99.as_deref()),
    ("latency_p99_9_ns", |m| m.latency_ns.p99_9.as_deref()),
    ("latency_max_ns", |m| m.latency_ns.max.as_deref()),
    ("bytes_per_joule", |m| m.bytes_per_joule.as_deref()),
    ("operations_per_joule", |m| m.operations_per_joule.as_deref()),
];

/// A column: its name, and what it holds of a record or a measurement.
type Column<T> = (&'static str, fn(&T) -> String);

const OF_RECORD: [Column<Record>; 21] = [
    ("record", |r| r.id.clone()),
    ("created", |r| r.created.clone()),
    ("medium", Record::title),
    ("model", |r| if assay_analysis::names_model(&Observation::from(r)) { r.model() } else { String::new() }),
    ("kind", |r| r.medium.kind.title().to_owned()),
    ("unit", |r| r.labels.get("unit").or(r.medium.unit.as_ref()).cloned().unwrap_or_default()),
    ("slot", |r| r.labels.get("slot").or(r.host.slot.as_ref()).cloned().unwrap_or_default()),
    ("labels", |r| labels(&r.labels)),
    ("capacity_bytes", |r| r.medium.capacity_bytes.map(|b| b.to_string()).unwrap_or_default()),
    ("filesystem", |r| r.medium.filesystem.clone().unwrap_or_default()),
    ("bus", |r| r.medium.bus.as_ref().map(|b| b.mode.clone()).unwrap_or_default()),
    ("reachable_bytes_per_second", |r| plain_number(r.medium.reachable())),
    ("celsius_max", |r| plain_number(r.medium_celsius())),
    ("sensors", |r| read_sensors(r).unwrap_or_default()),
    ("health", |r| health::words(&r.medium).unwrap_or_default()),
    ("health_worsened", |r| health::changes(&r.medium).unwrap_or_default()),
    ("host", |r| r.host.hostname.clone().unwrap_or_default()),
    ("suite", |r| r.suite.name.clone()),
    ("suite_version", |r| r.suite.version.to_string()),
    ("result", |r| word(&Observation::from(r)).to_owned()),
    ("outcome", |r| r.outcome.sentence()),
];
const OF_WORKLOAD: [Column<Measurement>; 13] = [
    ("workload", |m| m.workload.name.clone()),
    ("op", |m| serialized_name(&m.workload.op)),
    ("read_percent", |m| m.workload.read_percent.map(|p| p.to_string()).unwrap_or_default()),
    ("pattern", |m| if_known(m, Unknown::Pattern, serialized_name(&m.workload.pattern))),
    ("block_bytes", |m| if_known(m, Unknown::BlockBytes, m.workload.block_bytes.to_string())),
    ("queue_depth", |m| if_known(m, Unknown::QueueDepth, m.workload.queue_depth.to_string())),
    ("jobs", |m| if_known(m, Unknown::Jobs, m.workload.jobs.to_string())),
    ("span_bytes", |m| if_known(m, Unknown::SpanBytes, m.workload.span_bytes.to_string())),
    ("direct", |m| if_known(m, Unknown::Direct, m.workload.direct.to_string())),
    ("sync", |m| if_known(m, Unknown::Sync, serialized_name(&m.workload.sync))),
    ("conditions", |m| m.workload.conditions_and_sizes()),
    ("engine", |m| m.engine.clone()),
    ("repeats", |m| m.repeats.len().to_string()),
];
const AFTER: [Column<Measurement>; 5] = [
    ("proof_ratio", |m| plain_number(m.proof_ratio)),
    ("in_flight", |m| plain_number(m.in_flight)),
    ("bus_limited", |m| m.bus_limited.to_string()),
    ("instrument_limited", |m| m.instrument_limited.to_string()),
    ("warnings", |m| m.warnings.iter().map(Warning::cause).collect::<Vec<_>>().join("; ")),
];

fn names<T>(columns: &[Column<T>]) -> impl Iterator<Item = String> {
    columns.iter().map(|(name, _)| (*name).to_owned())
}

fn cells<T>(columns: &[Column<T>], of: &T) -> impl Iterator<Item = String> {
    columns.iter().map(|(_, cell)| cell(of))
}

/// What the source does not tell is an empty cell.
fn if_known(m: &Measurement, what: Unknown, value: String) -> String {
    if m.workload.lacks(what) { String::new() } else { value }
}

/// A table with one row for each measurement; a record without any has one row with the
/// workload left empty.
#[must_use]
pub fn csv(records: &[Record]) -> String {
    let mut out = String::new();
    let spread = FIGURES.iter().flat_map(|(name, _)| ["", "_low", "_high", "_n"].map(|end| format!("{name}{end}")));
    row(&mut out, names(&OF_RECORD).chain(names(&OF_WORKLOAD)).chain(spread).chain(names(&AFTER)));
    for record in records {
        let head: Vec<String> = cells(&OF_RECORD, record).collect();
        if record.measurements.is_empty() {
            let empty = OF_WORKLOAD.len() + FIGURES.len() * 4 + AFTER.len();
            row(&mut out, head.iter().cloned().chain(std::iter::repeat_n(String::new(), empty)));
        }
        for m in &record.measurements {
            let figures = FIGURES.iter().flat_map(|(_, pick)| of_estimate(pick(m)));
            row(&mut out, head.iter().cloned().chain(cells(&OF_WORKLOAD, m)).chain(figures).chain(cells(&AFTER, m)));
        }
    }
    out
}

/// All labels of a record as one JSON object, as different records have different ones; empty without.
pub(crate) fn labels(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    serde_json::to_string(labels).unwrap_or_default()
}

fn of_estimate(e: Option<&Estimate>) -> [String; 4] {
    e.map_or_else(Default::default, |e| {
        [plain_number(Some(e.point)), plain_number(e.low), plain_number(e.high), e.n.to_string()]
    })
}

fn plain_number(value: Option<f64>) -> String {
    value.map(exact).unwrap_or_default()
}

/// The name a value has in the record.
pub(crate) fn serialized_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(&text::csv(&cell));
    }
    out.push_str("\r\n");
}

// Figures over several runs as articles print them.

/// What `assay list --aggregate --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AggregatesDocument<'a> {
    /// How several runs become one figure.
    aggregate: Aggregate,
    /// Always false: no decision uses these figures.
    decides: bool,
    /// One for each medium and load.
    figures: &'a [AggregateRow],
    /// Records that take no part.
    excluded: &'a [Excluded],
}

/// The figures as an answer.
#[must_use]
pub fn aggregates(rows: &[AggregateRow], excluded: &[Excluded], how: Aggregate) -> Answered {
    let mut media: Vec<&str> = rows.iter().map(|row| row.medium.as_str()).collect();
    media.dedup();
    let counted = match media.len() {
        1 => "1 medium".to_owned(),
        n => format!("{n} media"),
    };
    let mut lines: Vec<document::TableRow> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if at == 0 || rows[at - 1].medium != row.medium {
            lines.push(document::TableRow::Heading(clean(&row.medium)));
        }
        lines.push(line(row));
    }
    let table = document::Table {
        caption: String::new(),
        columns: vec![left("load"), right("figure"), left("unit"), right("runs"), right("least"), right("most")],
        rows: lines,
    };
    let note = "Figures as articles print them, for comparison only; no decision uses them.";
    let mut blocks = vec![Block::Table(table), Block::Text(note.to_owned())];
    let reasons = caveats::left_out_lines(excluded, caveats::record_name, Some("--json"));
    let reasons: Vec<_> = reasons.into_iter().map(|line| (caveats::LEFT_OUT.to_owned(), line)).collect();
    blocks.extend((!reasons.is_empty()).then_some(Block::Items(reasons)));
    Answered {
        document: Document {
            kind: "Figures over runs",
            about: format!("{}, by medium", how.title()),
            finding: format!("{} of the runs of {counted}", crate::verdict::capitalised(how.title())),
            blocks,
            data: data(rows),
        },
        // Numbers and text with string keys: this cannot fail.
        json: serde_json::to_value(AggregatesDocument { aggregate: how, decides: false, figures: rows, excluded })
            .unwrap_or_default(),
    }
}

/// Rates in MB/s for people.
fn scale(row: &AggregateRow) -> (f64, &str) {
    if row.unit == "bytes/s" { (1e6, "MB/s") } else { (1.0, &row.unit) }
}

fn line(row: &AggregateRow) -> document::TableRow {
    let (scale, unit) = scale(row);
    let shown = |value: f64| Cell::from(figures(value / scale));
    let least = row.values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = row.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let value = row.value.map_or_else(|| Cell::from("needs 3 runs"), shown);
    document::TableRow::Cells(vec![
        clean(&row.load).into(),
        value,
        clean(unit).into(),
        row.values.len().into(),
        shown(least),
        shown(most),
    ])
}

fn data(rows: &[AggregateRow]) -> Data {
    let columns = vec!["medium", "load", "figure", "unit", "runs", "value", "values"];
    let row = |row: &AggregateRow| {
        let values: Vec<String> = row.values.iter().map(|value| number(Some(*value))).collect();
        vec![
            row.medium.clone(),
            row.load.clone(),
            row.figure.to_owned(),
            row.unit.clone(),
            row.values.len().to_string(),
            number(row.value),
            values.join(" "),
        ]
    };
    Data { columns, rows: rows.iter().map(row).collect() }
}
