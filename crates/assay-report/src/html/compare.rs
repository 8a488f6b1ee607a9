//! Several records side by side.

use assay_core::estimate::Estimate;
use assay_core::finding::Severity;
use assay_core::record::{Measurement, Record};
use assay_core::text::clean;
use assay_core::workload::Pattern;
use maud::{Markup, html};

use super::said;
use super::shell::tone_class;
use super::svg;
use crate::document::Cell;
use crate::figure::{MB, shown};
use crate::headline::Columns;
use crate::list::{figure_cell, figure_title};
use crate::verdict::{capitalised, word};

/// So many loads are shown at once; more are folded.
const LOADS_OPEN: usize = 8;

/// What the records come to, and a way to each of them.
pub(crate) fn overview(records: &[Record]) -> Markup {
    let titles = workloads(records);
    let found = crate::finding::of(records, None);
    html! {
        article.record.answer {
            header.head id="overview" {
                p.kicker { "Comparison of " (records.len()) " records" }
                h1 { (said(&found.sentence)) }
            }
            nav.index aria-label="Parts of this page" {
                a href="#summary" { "Summary" }
                a href="#pictures" { "Pictures" }
                a href="#workloads" { "By workload" }
                a href="#records" { "Each record" }
            }
            (summary(records))
            (super::pictures::section(records, found.beside()))
            h2 id="workloads" { "By workload" }
            @if titles.len() > LOADS_OPEN {
                details.folded { summary { (titles.len()) " loads" } (by_workload(records, &titles)) }
            } @else {
                (by_workload(records, &titles))
            }
            h2 id="records" { "Each record" }
        }
    }
}

/// A record of several, folded: its title and result stand outside.
pub(crate) fn folded(record: &Record, body: &Markup) -> Markup {
    html! {
        details.one {
            summary {
                span.name { (said(&record.title())) } " "
                small { (said(&place(record))) } " "
                span class={"pill " (tone_class(record))} { (said(word(record))) }
            }
            (body)
            p.hint { a href="#overview" { "Back to the overview" } }
        }
    }
}

fn summary(records: &[Record]) -> Markup {
    let loads = Columns::of(records);
    html! {
        h2 id="summary" { "Summary" }
        div.scroll {
            table.summary.stacked {
                thead { tr {
                    th scope="col" { "Medium" }
                    th.left scope="col" { "Result" }
                    @for at in 0..4 { th scope="col" { (said(&figure_title(&loads, at))) } }
                } }
                tbody {
                    @for (i, record) in records.iter().enumerate() {
                        tr {
                            (name(record, i))
                            td.left.short data-title="Result" { span class={"pill " (tone_class(record))} { (said(word(record))) } }
                            @for at in 0..4 {
                                td data-title=(said(&figure_title(&loads, at))) {
                                    (content(&figure_cell(&loads, record, at)))
                                }
                            }
                        }
                    }
                }
            }
        }
        p.hint { "The load of a column is under its title; a figure of another load names that load." }
    }
}

pub(crate) fn cell(cell: &Cell) -> Markup {
    html! { td { (content(cell)) } }
}

fn content(cell: &Cell) -> Markup {
    html! { b { (said(&cell.value)) } @if !cell.small.is_empty() { " " small { (said(&cell.small)) } } }
}

/// Titles of all workloads, in their order.
fn workloads(records: &[Record]) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    for title in records.iter().flat_map(|r| r.measurements.iter().map(|m| r.load_title(m))) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles
}

fn by_workload(records: &[Record], titles: &[String]) -> Markup {
    html! { div.grid { @for title in titles { (bars(records, title)) } } }
}

fn bars(records: &[Record], title: &str) -> Markup {
    let found: Vec<(usize, &Record, &Measurement)> = records
        .iter()
        .enumerate()
        .filter_map(|(i, r)| r.measurements.iter().find(|m| r.load_title(m) == title).map(|m| (i, r, m)))
        .collect();
    let random = found.first().is_some_and(|(_, _, m)| m.workload.pattern_is(Pattern::Random));
    let (unit, divisor) = if random { ("IOPS", 1.0) } else { ("MB/s", MB) };
    let pick =
        |m: &'_ Measurement| -> Option<Estimate> { if random { m.iops.clone() } else { m.bytes_per_second.clone() } };
    let scale = found
        .iter()
        .filter(|(_, _, m)| !invalid(m))
        .filter_map(|(_, _, m)| pick(m).map(|e| e.high.unwrap_or(e.point).max(e.point)))
        .fold(0.0, f64::max);
    let rows: Vec<(usize, &Record, &Measurement, Estimate)> =
        found.into_iter().filter_map(|(i, record, m)| Some((i, record, m, pick(m)?))).collect();
    html! {
        @if scale > 0.0 {
            figure {
                figcaption { (said(&format!("{}, {unit}", capitalised(title)))) }
                div.scroll { table.bars { tbody {
                    @for (i, record, m, estimate) in &rows {
                        tr {
                            (name(record, *i))
                            (cell(&figure(estimate, divisor)))
                            (bar(record, m, estimate, scale))
                        }
                    }
                } } }
            }
        }
    }
}

pub(crate) fn figure(estimate: &Estimate, divisor: f64) -> Cell {
    let shown = shown(estimate, divisor);
    Cell::with(shown.value, shown.spread)
}

fn bar(record: &Record, m: &Measurement, estimate: &Estimate, scale: f64) -> Markup {
    // A bar of a figure that is not what it says would dwarf or flatter the others.
    if invalid(m) {
        return html! { td.barred.words { "invalid: see its warnings" } };
    }
    let class = if m.bus_limited { "limited" } else { "" };
    html! { td.barred { (svg::bar(estimate, scale, &record.title(), class)) } }
}

fn invalid(m: &Measurement) -> bool {
    m.warnings.iter().any(|w| w.severity == Severity::Invalid)
}

fn name(record: &Record, index: usize) -> Markup {
    html! { th scope="row" { a href={"#r" (index)} { (said(&record.title())) } small { (said(&place(record))) } } }
}

/// What tells records of one model apart: id, unit, slot.
fn place(record: &Record) -> String {
    let unit = crate::list::unit(record);
    let slot = crate::list::slot(record);
    let part = |name: &str, text: String| (!text.is_empty()).then(|| format!("{name} {text}"));
    let parts = [Some(clean(&record.id)), part("unit", unit), part("slot", slot)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
