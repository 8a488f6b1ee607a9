//! One record: who it is, the verdict, the summary, then each workload.

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::text::{clean, harmless, statement};
use assay_core::units::{Bytes, counted};
use assay_core::workload::Pattern;
use maud::{Markup, html};

use super::shell::tone_class;
use super::{compare, said, svg, workload};
use crate::facts::{self, Fact, Rank, nanoseconds};
use crate::figure::{MB, shown};
use crate::sensors;
use crate::verdict::{capitalised, verdict_sentence, word};

/// A record's section; `index` is its number on the page.
pub(crate) fn section(record: &Record, index: usize) -> Markup {
    html! {
        article.record id={"r" (index)} {
            (head(record))
            @if !record.measurements.is_empty() { (summary(record, index)) }
            (crosscheck(record))
            (crate::verification::html(record))
            @if !record.warnings.is_empty() {
                h2 { "Findings about the run" }
                (workload::warnings(&record.warnings))
            }
            @if !record.measurements.is_empty() { h2 { "Workloads" } }
            @for (w, m) in record.measurements.iter().enumerate() { (workload::section(record, m, (index, w))) }
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

fn head(record: &Record) -> Markup {
    html! {
        header.head {
            p.kicker { (record.medium.kind.title()) " · " (facts::when(&record.created)) }
            h1 { (harmless(&record.title())) }
            p class={"verdict " (tone_class(record))} {
                span.pill { (word(record)) } " " (said(&capitalised(&verdict_sentence(record))))
            }
        }
        (super::facts(&head_facts(record)))
    }
}

/// What is told of the run, and how a check by another command ended.
fn head_facts(record: &Record) -> Vec<(String, String)> {
    let checked = record.verification.as_ref().filter(|_| !record.measurements.is_empty());
    let genuine = checked.and_then(|v| Fact::new(Rank::Page, "genuine", statement(&v.sentence)));
    let all = facts::results(record).into_iter().chain(genuine).chain(facts::about(record));
    all.filter(|fact| fact.rank <= Rank::Page).map(Fact::titled).collect()
}

fn summary(record: &Record, index: usize) -> Markup {
    let ceiling = record.medium.reachable();
    let durable = record.measurements.iter().any(|m| m.durable_bytes_per_second.is_some());
    let fastest = record
        .measurements
        .iter()
        .filter_map(|m| m.bytes_per_second.as_ref().map(|e| e.high.unwrap_or(e.point).max(e.point)))
        .fold(0.0, f64::max);
    let limited: Vec<String> =
        record.measurements.iter().filter(|m| m.bus_limited).map(|m| record.load_title(m)).collect();
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
                    @for (w, m) in record.measurements.iter().enumerate() {
                        tr {
                            th scope="row" { a href={"#r" (index) "-w" (w)} { (capitalised(&record.load_title(m))) } }
                            @if let Some(words) = facts::no_figure(record, m) {
                                td.words colspan=(if durable { 6 } else { 5 }) { (words) }
                            } @else {
                                (figures_of(m, durable))
                                td.barred {
                                    @if let Some(bar) = bar(m, ceiling, fastest) { (bar) }
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
fn figures_of(m: &Measurement, durable: bool) -> Markup {
    let random = m.workload.pattern_is(Pattern::Random);
    html! {
        (estimate(m.iops.as_ref().filter(|_| random), 1.0))
        (estimate(m.bytes_per_second.as_ref(), MB))
        @if durable { (estimate(m.durable_bytes_per_second.as_ref().filter(|_| !m.workload.sync.each()), MB)) }
        td { (workload::time(m.latency_ns.p50.as_deref())) }
        td { (workload::time(m.latency_ns.p99.as_deref())) }
    }
}

/// A figure with its certainty, as a table cell.
fn estimate(e: Option<&Estimate>, unit: f64) -> Markup {
    compare::cell(&e.map(|e| compare::figure(e, unit)).unwrap_or_default())
}

fn bar(m: &Measurement, ceiling: Option<f64>, fastest: f64) -> Option<Markup> {
    match ceiling {
        Some(reachable) => svg::share_bar(m, reachable),
        None => m.bytes_per_second.as_ref().map(|e| svg::bar(e, fastest, &shown(e, MB).text(), "")),
    }
}

/// How far another instrument agrees.
fn crosscheck(record: &Record) -> Markup {
    let other = crate::crosscheck::other(record);
    html! {
        @if !record.crosscheck.is_empty() {
            h2 { "Next to " (harmless(&other)) }
            div.scroll { table.summary {
                thead { tr { th scope="col" { "assay over " (harmless(&other)) }
                    @for title in ["rate", "p50", "p99"] { th scope="col" { (title) } } } }
                tbody {
                    @for row in crate::crosscheck::rows(record) {
                        tr {
                            th scope="row" {
                                (harmless(&capitalised(&row.workload)))
                                @if let Some(trouble) = row.trouble { ": " (harmless(&trouble)) }
                            }
                            @for figure in [row.rate, row.p50, row.p99] { td { (harmless(&figure)) } }
                        }
                    }
                }
            } }
        }
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
