//! One record: who it is, the verdict, the summary, then each workload.

use assay_core::record::Record;
use assay_core::text::{clean, harmless, statement};
use assay_core::units::{Bytes, counted};
use maud::{Markup, html};

use super::shell::tone_class;
use super::{compare, said, svg, workload};
use crate::facts::{self, Fact, Rank, nanoseconds};
use crate::presented::{Crosscheck, Figure, Figures, LoadRow, Presented};
use crate::sensors;
use crate::verdict::capitalised;

/// A record's section; `index` is its number on the page.
pub(crate) fn section(presented: &Presented<'_>, index: usize) -> Markup {
    let record = presented.record;
    html! {
        article.record id={"r" (index)} {
            (head(presented))
            @if !presented.loads.is_empty() { (summary(presented, index)) }
            @if let Some(found) = &presented.crosscheck { (crosscheck(found)) }
            (crate::verification::html(presented))
            @if !record.warnings.is_empty() {
                h2 { "Findings about the run" }
                (workload::warnings(&record.warnings))
            }
            @if !presented.loads.is_empty() { h2 { "Workloads" } }
            @for (w, load) in presented.loads.iter().enumerate() { (workload::section(record, load, (index, w))) }
            @if sensors::drawn(record).next().is_some() {
                section.workload {
                    h3 { "Sensors over the whole run" }
                    div.grid {
                        figure.chart.wide data-record=(index) data-chart="run-sensors" { figcaption { "Readings" } }
                    }
                }
            }
            (provenance(record))
        }
    }
}

fn head(record: &Presented<'_>) -> Markup {
    html! {
        header.head {
            p.kicker { (record.kind) " · " (facts::when(&record.record.created)) }
            h1 { (harmless(&record.title)) }
            p class={"verdict " (tone_class(record.tone))} {
                span.pill { (record.word) } " " (said(&record.sentence))
            }
        }
        (super::facts(&record.on_page()))
    }
}

fn summary(record: &Presented<'_>, index: usize) -> Markup {
    let ceiling = record.record.medium.reachable();
    let figures = || record.loads.iter().filter_map(|load| load.figures.as_ref().ok());
    let durable = figures().any(|figures| figures.durable.is_some());
    let rates = figures().filter_map(|figures| figures.rate);
    let fastest = rates.map(|rate| rate.estimate.high.unwrap_or(rate.estimate.point).max(rate.estimate.point));
    let fastest = fastest.fold(0.0, f64::max);
    let limited = record.loads.iter().filter(|load| load.measurement.bus_limited);
    let limited: Vec<&str> = limited.map(|load| load.title.as_str()).collect();
    html! {
        h2 { "At a glance" }
        div.scroll {
            table.summary {
                thead { tr {
                    th scope="col" { "Workload" }
                    th scope="col" { "IOPS" }
                    th scope="col" { "MB/s" }
                    @if durable { th scope="col" { "synced" } }
                    th scope="col" { "p50" }
                    th scope="col" { "p99" }
                    th.barred scope="col" { (if ceiling.is_some() { "Share of the bus" } else { "Rate" }) }
                } }
                tbody {
                    @for (w, load) in record.loads.iter().enumerate() {
                        tr {
                            th scope="row" { a href={"#r" (index) "-w" (w)} { (capitalised(&load.title)) } }
                            @match &load.figures {
                                Err(words) => td.words colspan=(if durable { 6 } else { 5 }) { (words) },
                                Ok(figures) => {
                                    (cells(figures, durable))
                                    td.barred { @if let Some(bar) = bar(load, figures, ceiling, fastest) { (bar) } }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if !limited.is_empty() {
            p.hint { "Hatched bars are limited by the bus, not by the medium: " (limited.join(", ")) "." }
        }
    }
}

/// The cells of a workload's figures.
fn cells(figures: &Figures<'_>, durable: bool) -> Markup {
    html! {
        (figure(figures.iops))
        (figure(figures.rate))
        @if durable { (figure(figures.durable)) }
        td { (figures.p50) }
        td { (figures.p99) }
    }
}

/// A figure with its certainty, as a table cell.
fn figure(figure: Option<Figure<'_>>) -> Markup {
    compare::cell(&figure.map(|figure| figure.shown().into()).unwrap_or_default())
}

fn bar(load: &LoadRow<'_>, figures: &Figures<'_>, ceiling: Option<f64>, fastest: f64) -> Option<Markup> {
    let rate = figures.rate?;
    Some(match (ceiling, figures.share) {
        (Some(reachable), Some(share)) => svg::share_bar(rate.estimate, reachable, share, load.measurement.bus_limited),
        _ => svg::bar(rate.estimate, fastest, &rate.shown().text(), ""),
    })
}

/// How far another instrument agrees.
fn crosscheck(found: &Crosscheck) -> Markup {
    html! {
        h2 { "Next to " (harmless(&found.other)) }
        div.scroll { table.summary {
            thead { tr { th scope="col" { (harmless(&found.title)) }
                @for title in Crosscheck::COLUMNS { th scope="col" { (title) } } } }
            tbody {
                @for row in &found.rows {
                    tr {
                        th scope="row" {
                            (harmless(&capitalised(&row.workload)))
                            @if let Some(trouble) = &row.trouble { ": " (harmless(trouble)) }
                        }
                        @for figure in [&row.rate, &row.p50, &row.p99] { td { (harmless(figure)) } }
                    }
                }
            }
        } }
    }
}

fn provenance(record: &Record) -> Markup {
    html! {
        details.provenance {
            summary { "Settings and provenance" }
            (super::facts(&settings(record)))
        }
    }
}

fn settings(record: &Record) -> Vec<(String, String)> {
    let (t, s) = (&record.tool, &record.settings);
    let alignment =
        s.direct_alignment_bytes.map_or_else(|| "not possible".to_owned(), |b| format!("aligned to {b} bytes"));
    let direct = [alignment, statement(&s.direct_source)];
    let raw = if s.raw_device { ", on the raw device" } else { "" };
    let (planned, most) = (Bytes(s.planned_write_bytes), Bytes(s.max_write_bytes));
    let layout = s
        .layout
        .as_ref()
        .map(|l| format!("{} written in {} before anything was timed", Bytes(l.bytes), nanoseconds(l.elapsed_ns)));
    let cost = s.null_ns_per_operation.map(assay_core::units::latency);
    let own = [
        ("Tool", format!("{} {}", clean(&t.name), clean(&t.version))),
        ("Engine", format!("{}: {}", clean(&t.engine), statement(&t.engine_reason))),
        ("Suite", format!("{}, version {}", clean(&record.suite.name), record.suite.version)),
        ("Test area", format!("{}, seed {}{raw}", Bytes(s.span_bytes), s.seed)),
        ("Layout", layout.unwrap_or_default()),
        ("Direct I/O", direct.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")),
        ("Planned", format!("{}, {planned} to be written, at most {most}", counted(s.repeats as usize, "repeat"))),
        ("Instrument", cost.map(|ns| format!("{ns} for one operation to no device at all")).unwrap_or_default()),
        ("Format", format!("record {}", clean(&record.schema))),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    let details = facts::about(record).into_iter().filter(|fact| fact.rank == Rank::Detail).map(Fact::titled);
    own.chain(details).collect()
}
