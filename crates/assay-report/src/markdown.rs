//! Records as Markdown, for issues, wikis and forums.

use assay_core::estimate::Estimate;
use assay_core::record::Record;
use assay_core::text;
use assay_core::text::{clean, statement};
use assay_core::units::{figures, rate};

use crate::bus;
use crate::facts::{self, Fact, Rank};
use crate::figure::{MB, interval, latency_unit, percent, shown};
use crate::headline::Columns;
use crate::list::figure_title;
use crate::notes::notes;
use crate::verdict::{capitalised, verdict_sentence, word};

/// All records one after the other; several begin with what they come to, and a table that compares them.
#[must_use]
pub fn markdown(records: &[Record]) -> String {
    let mut out = String::new();
    if records.len() > 1 {
        out.push_str("# Comparison\n\n");
        out.push_str(&format!(
            "**{}**\n\n",
            text::markdown(&text::harmless(&crate::finding::of(records, None).sentence))
        ));
        comparison(&mut out, records);
    }
    for record in records {
        one(&mut out, record);
    }
    out
}

fn comparison(out: &mut String, records: &[Record]) {
    let loads = Columns::of(records);
    let titles: Vec<String> = (0..4).map(|at| text::markdown(&figure_title(&loads, at))).collect();
    out.push_str(&format!("| record | medium | {} | result |\n", titles.join(" | ")));
    out.push_str("|---|---|--:|--:|--:|--:|---|\n");
    for record in records {
        let cell = |at| {
            let found = loads.figure(record, at)?;
            let load = found.other_load.map(|load| format!(", {load}")).unwrap_or_default();
            Some(text::markdown(&format!("{}{load}", figure(Some(found.estimate), found.unit))))
        };
        let cells: Vec<String> = (0..4).map(|at| cell(at).unwrap_or_default()).collect();
        out.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            text::markdown(&clean(&record.id)),
            text::markdown(&record.title()),
            cells.join(" | "),
            word(record)
        ));
    }
    out.push('\n');
}

fn one(out: &mut String, record: &Record) {
    out.push_str(&format!("# {}\n\n", text::markdown(&record.title())));
    out.push_str(&format!("**{}**\n\n", text::markdown(&capitalised(&verdict_sentence(record)))));
    let known = facts::about(record).into_iter().chain(facts::results(record));
    let known = known.filter(|fact| fact.rank <= Rank::Page).map(Fact::titled);
    let checked = crate::verification::facts(record).into_iter().map(|(name, value)| (name.to_owned(), value));
    for (name, value) in known.chain(checked) {
        out.push_str(&format!("- {}: {}\n", text::markdown(&name), text::markdown(&value)));
    }
    out.push('\n');
    if !record.measurements.is_empty() {
        table(out, record);
    }
    crosscheck(out, record);
    let notes = notes(record);
    if !notes.is_empty() {
        out.push_str("## Warnings\n\n");
        for note in notes {
            out.push_str(&format!("- **{}**: {}.", note.word(), text::markdown(&statement(&note.sentence()))));
            if !note.remedy.is_empty() {
                out.push_str(&format!(" Remedy: {}.", text::markdown(&statement(&note.remedy))));
            }
            out.push('\n');
        }
        out.push('\n');
    }
}

fn table(out: &mut String, record: &Record) {
    out.push_str("| workload | MB/s | synced MB/s | IOPS | p50 | p99 | of bus | n | remarks |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for m in &record.measurements {
        let mut remarks: Vec<String> = facts::no_figure(record, m).into_iter().chain(facts::instead(m)).collect();
        for warning in &m.warnings {
            let short = warning.finding.short();
            if !short.is_empty() && !remarks.iter().any(|r| r == short || r.starts_with(short)) {
                remarks.push(short.to_owned());
            }
        }
        let n = m.bytes_per_second.as_ref().or(m.iops.as_ref()).map(|e| e.n.to_string()).unwrap_or_default();
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {n} | {} |\n",
            text::markdown(&record.load_title(m)),
            figure(m.bytes_per_second.as_ref(), MB),
            figure(m.durable_bytes_per_second.as_ref(), MB),
            figure(m.iops.as_ref(), 1.0),
            time(m.latency_ns.p50.as_deref()),
            time(m.latency_ns.p99.as_deref()),
            bus::share(record, m).map(percent).unwrap_or_default(),
            text::markdown(&remarks.join(", ")),
        ));
    }
    out.push('\n');
    if let Some(reachable) = record.medium.reachable() {
        out.push_str(&format!("Reachable rate of the bus: {}.\n\n", rate(reachable)));
    }
}

fn crosscheck(out: &mut String, record: &Record) {
    if record.crosscheck.is_empty() {
        return;
    }
    let other = text::markdown(&crate::crosscheck::other(record));
    out.push_str(&format!("| assay over {other} | rate | p50 | p99 |\n|---|--:|--:|--:|\n"));
    for row in crate::crosscheck::rows(record) {
        let workload = match &row.trouble {
            Some(trouble) => format!("{}: {trouble}", row.workload),
            None => row.workload,
        };
        out.push_str(&format!("| {} | {} | {} | {} |\n", text::markdown(&workload), row.rate, row.p50, row.p99));
    }
    out.push('\n');
}

/// `22.8 (22.7–22.9)`: a table elsewhere has no legend to explain a `±`.
fn figure(e: Option<&Estimate>, unit: f64) -> String {
    let Some(e) = e else { return String::new() };
    match (e.low, e.high) {
        (Some(low), Some(high)) => format!("{} ({})", figures(e.point / unit), interval(low / unit, high / unit)),
        _ => shown(e, unit).value,
    }
}

fn time(e: Option<&Estimate>) -> String {
    e.map_or_else(String::new, |e| {
        let (name, unit) = latency_unit(e.point);
        format!("{} {name}", figures(e.point / unit))
    })
}
