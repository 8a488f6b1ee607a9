//! One record: who it is, the verdict, the summary, then each workload.

use assay_core::record::{Record, Settings};
use assay_core::text::{clean, harmless, statement};
use assay_core::units::{Bytes, counted, exact};
use maud::{Markup, html};

use super::shell::tone_class;
use super::{said, workload};
use crate::document::Cell;
use crate::facts::{Fact, Rank, nanoseconds};
use crate::presented::{Crosscheck, Figure, Figures, Listed, LoadRow, Mark, Overview, Presented};
use crate::verdict::capitalised;
use crate::{facts, results};

/// A record's section; `index` is its number on the page.
pub(crate) fn record_section(presented: &Presented<'_>, index: usize) -> Markup {
    let record = presented.record;
    html! {
        article.record id={"r" (index)} {
            (record_head(presented))
            @if !presented.loads.is_empty() { (summary(presented, index)) }
            @if let Some(found) = &presented.crosscheck { (crosscheck(found)) }
            (crate::verification::check_on_page(presented))
            @if !record.warnings.is_empty() {
                h2 { "Findings about the run" }
                (workload::warnings(&record.warnings))
            }
            @if !presented.loads.is_empty() { h2 { "Workloads" } }
            @for (w, load) in presented.loads.iter().enumerate() { (workload::load_section(record, load, (index, w))) }
            @if results::sensor_is_drawn(record).next().is_some() {
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

fn record_head(record: &Presented<'_>) -> Markup {
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
    let of_bar = if ceiling.is_some() { "Share of the bus" } else { "Rate" };
    html! {
        h2 { "At a glance" }
        div.scroll {
            table.summary.stacked {
                thead { tr {
                    th scope="col" { "Workload" }
                    th scope="col" { "IOPS" }
                    th scope="col" { "MB/s" }
                    @if durable { th scope="col" { "synced" } }
                    th scope="col" { "p50" }
                    th scope="col" { "p99" }
                    th.barred scope="col" { (of_bar) }
                } }
                tbody {
                    @for (w, load) in record.loads.iter().enumerate() {
                        tr {
                            th scope="row" { a href={"#r" (index) "-w" (w)} { (said(&capitalised(&load.title))) } }
                            @match &load.figures {
                                Err(words) => td.words colspan=(if durable { 6 } else { 5 }) { (words) },
                                Ok(figures) => {
                                    (load_cells(figures, durable))
                                    td.barred data-title=(of_bar) { @if let Some(bar) = bar(load, figures, ceiling, fastest) { (bar) } }
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
fn load_cells(figures: &Figures<'_>, durable: bool) -> Markup {
    html! {
        (figure_markup("IOPS", figures.iops))
        (figure_markup("MB/s", figures.rate))
        @if durable { (durable_markup(figures)) }
        td data-title="p50" { (figures.p50) }
        td data-title="p99" { (figures.p99) }
    }
}

/// A figure with its certainty, as a table cell.
fn figure_markup(title: &str, figure: Option<Figure<'_>>) -> Markup {
    let cell: Cell = figure.map(|figure| figure.shown().into()).unwrap_or_default();
    html! { td data-title=(title) { (cell_content(&cell)) } }
}

/// The rate with its sync, which of a mixed load is that of the writes alone.
fn durable_markup(figures: &Figures<'_>) -> Markup {
    let Some(figure) = figures.durable.filter(|_| figures.durable_of_writes) else {
        return figure_markup("synced", figures.durable);
    };
    let shown = figure.shown();
    let cell = Cell::with(shown.value, format!("{} writes", shown.spread).trim().to_owned());
    html! { td data-title="synced" { (cell_content(&cell)) } }
}

fn bar(load: &LoadRow<'_>, figures: &Figures<'_>, ceiling: Option<f64>, fastest: f64) -> Option<Markup> {
    let rate = figures.rate?;
    Some(match (ceiling, figures.share) {
        (Some(reachable), Some(share)) => {
            workload::share_bar(rate.estimate, reachable, share, load.measurement.bus_limited)
        }
        _ => workload::interval_bar(rate.estimate, fastest, &rate.shown().text(), ""),
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
    let tool = ("Tool", format!("{} {}", clean(&record.tool.name), clean(&record.tool.version)));
    let format = ("Format", format!("record {}", clean(&record.schema)));
    let run = record.settings().map(|settings| of_run(record, settings)).unwrap_or_default();
    let own = std::iter::once(tool).chain(run).chain([format]);
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let details = facts::about(record).into_iter().filter(|fact| fact.rank == Rank::Detail).map(Fact::titled);
    own.chain(details).collect()
}

/// What only a run of assay has.
fn of_run(record: &Record, s: &Settings) -> Vec<(&'static str, String)> {
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
    vec![
        ("Engine", format!("{}: {}", clean(&record.tool.engine), statement(&record.tool.engine_reason))),
        ("Suite", format!("{}, version {}", clean(&record.suite.name), record.suite.version)),
        ("Test area", format!("{}, seed {}{raw}", Bytes(s.span_bytes), s.seed)),
        ("Layout", layout.unwrap_or_default()),
        ("Direct I/O", direct.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")),
        ("Planned", format!("{}, {planned} to be written, at most {most}", counted(s.repeats as usize, "repeat"))),
        ("Instrument", cost.map(|ns| format!("{ns} for one operation to no device at all")).unwrap_or_default()),
    ]
}

// Several records side by side.

/// The number of loads that are shown unfolded.
const LOADS_OPEN: usize = 8;

/// What the records come to, and a way to each of them.
pub(crate) fn records_overview(records: &[Record], all: &[Presented<'_>], overview: &Overview) -> Markup {
    let titles = column_titles(all);
    html! {
        article.record.answer {
            header.head id="overview" {
                p.kicker { "Comparison of " (all.len()) " records" }
                h1 { (said(&overview.finding)) }
            }
            nav.index aria-label="Parts of this page" {
                a href="#summary" { "Summary" }
                a href="#pictures" { "Pictures" }
                a href="#workloads" { "By workload" }
                a href="#records" { "Each record" }
            }
            (loads_summary(overview))
            (super::shell::pictures_section(records, overview.decided.clone()))
            h2 id="workloads" { "By workload" }
            @if titles.len() > LOADS_OPEN {
                details.folded { summary { (titles.len()) " loads" } (by_load(all, overview, &titles)) }
            } @else {
                (by_load(all, overview, &titles))
            }
            h2 id="records" { "Each record" }
        }
    }
}

/// A record of several, folded: its title and result stand outside.
pub(crate) fn folded_record(record: &Listed, body: &Markup) -> Markup {
    html! {
        details.one {
            summary {
                span.name { (said(&record.title)) } " "
                small { (said(&record.place)) } " "
                (pill(record))
            }
            (body)
            p.hint { a href="#overview" { "Back to the overview" } }
        }
    }
}

fn pill(record: &Listed) -> Markup {
    html! { span class={"pill " (tone_class(record.tone))} { (said(record.word)) } }
}

fn loads_summary(overview: &Overview) -> Markup {
    html! {
        h2 id="summary" { "Summary" }
        (tools(overview))
        div.scroll {
            table.summary.stacked {
                thead { tr {
                    th scope="col" { "Medium" }
                    th.left scope="col" { "Result" }
                    @for title in &overview.columns { th scope="col" { (said(title)) } }
                } }
                tbody {
                    @for (i, record) in overview.rows.iter().enumerate() {
                        tr {
                            (record_name(record, i))
                            td.left.short data-title="Result" { (pill(record)) }
                            @for (title, (figure, point)) in overview.columns.iter().zip(record.figures.iter().zip(&record.points)) {
                                td data-title=(said(title)) data-value=[point.map(exact)] { (cell_content(figure)) }
                            }
                        }
                    }
                }
            }
        }
        p.hint { (Overview::LEGEND) }
    }
}

/// Sorts and filters the records of the page, by its script; without one all of them are there, as they were named.
fn tools(overview: &Overview) -> Markup {
    html! {
        p.tools hidden {
            label {
                "Sort by "
                select {
                    option value="" { "order of the query" }
                    option value="0" { "medium" }
                    option value="1" { "result" }
                    @for (at, title) in overview.columns.iter().enumerate() { option value=(at + 2) { (said(title)) } }
                }
            }
            label { "Only records with " input type="search" size="24" placeholder="model, unit, id or result"; }
            output {}
        }
    }
}

fn compared_cell(cell: &Cell) -> Markup {
    html! { td { (cell_content(cell)) } }
}

fn cell_content(cell: &Cell) -> Markup {
    html! { @if !cell.value.is_empty() { b { (said(&cell.value)) } } @if !cell.small.is_empty() { " " small { (said(&cell.small)) } } }
}

/// Titles of all loads, in their order.
fn column_titles<'a>(all: &'a [Presented<'_>]) -> Vec<&'a str> {
    let mut titles: Vec<&str> = Vec::new();
    for load in all.iter().flat_map(|record| &record.loads) {
        if !titles.contains(&load.title.as_str()) {
            titles.push(&load.title);
        }
    }
    titles
}

fn by_load(all: &[Presented<'_>], overview: &Overview, titles: &[&str]) -> Markup {
    html! { div.grid { @for title in titles { (bars(all, overview, title)) } } }
}

/// The figure that people ask about: of random work operations, of sequential work bytes.
fn asked_about<'a>(load: &LoadRow<'a>) -> Option<Figure<'a>> {
    load.figures.as_ref().ok().and_then(|figures| if load.is_random() { figures.iops } else { figures.rate })
}

fn bars(all: &[Presented<'_>], overview: &Overview, title: &str) -> Markup {
    let found = all.iter().zip(&overview.rows).enumerate().filter_map(|(i, (record, listed))| {
        let load = record.loads.iter().find(|load| load.title == title)?;
        Some((i, listed, load, asked_about(load)?))
    });
    let rows: Vec<(usize, &Listed, &LoadRow<'_>, Figure<'_>)> = found.collect();
    let ends = rows.iter().filter(|(_, _, load, _)| load.mark != Some(Mark::Invalid));
    let ends =
        ends.map(|(.., figure)| figure.estimate.high.unwrap_or(figure.estimate.point).max(figure.estimate.point));
    let scale = ends.fold(0.0, f64::max);
    let unit = rows.first().map_or("", |(.., figure)| figure.unit);
    html! {
        @if scale > 0.0 {
            figure {
                figcaption { (said(&format!("{}, {unit}", capitalised(title)))) }
                div.scroll { table.bars { tbody {
                    @for (i, record, load, figure) in &rows {
                        tr {
                            (record_name(record, *i))
                            (compared_cell(&figure.shown().into()))
                            (ratio_bar(record, load, figure, scale))
                        }
                    }
                } } }
            }
        }
    }
}

fn ratio_bar(record: &Listed, load: &LoadRow<'_>, figure: &Figure<'_>, scale: f64) -> Markup {
    // A bar of an invalid figure would distort the comparison with the others.
    if load.mark == Some(Mark::Invalid) {
        return html! { td.barred.words { "invalid: see its warnings" } };
    }
    let class = if load.measurement.bus_limited { "limited" } else { "" };
    html! { td.barred { (workload::interval_bar(figure.estimate, scale, &record.title, class)) } }
}

fn record_name(record: &Listed, index: usize) -> Markup {
    html! { th scope="row" { a href={"#r" (index)} { (said(&record.title)) } small { (said(&record.place)) } } }
}
