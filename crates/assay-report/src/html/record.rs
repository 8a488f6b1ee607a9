//! One record: who it is, the verdict, the summary, then each workload.

use assay_core::estimate::Estimate;
use assay_core::finding::Warning;
use assay_core::record::{Batching, Measurement, Record, Settings};
use assay_core::text::{clean, harmless, statement};
use assay_core::units::{Bytes, counted, exact, figures};
use assay_core::workload::Op;
use maud::{Markup, html};

use super::said;
use super::shell::tone_class;
use crate::document::Cell;
use crate::facts::{Fact, Rank, nanoseconds};
use crate::headline::{MB, interval, latency_unit, percent};
use crate::presented::{Crosscheck, Figure, Figures, Listed, LoadRow, Mark, Overview, Presented};
use crate::verdict::capitalised;
use crate::{caveats, facts, results};

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
                (warnings(&record.warnings))
            }
            @if !presented.loads.is_empty() { h2 { "Workloads" } }
            @for (w, load) in presented.loads.iter().enumerate() { (load_section(record, load, (index, w))) }
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
        (Some(reachable), Some(share)) => share_bar(rate.estimate, reachable, share, load.measurement.bus_limited),
        _ => interval_bar(rate.estimate, fastest, &rate.shown().text(), ""),
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
    // A check tests by itself how it reads; its findings say so.
    let is_check = record.verification.is_some() && s.repeats == 0;
    let alignment = match s.direct_alignment_bytes {
        Some(bytes) => format!("aligned to {bytes} bytes"),
        None if is_check => String::new(),
        None => "not possible".to_owned(),
    };
    let direct = [alignment, statement(&s.direct_source)];
    let raw = if s.raw_device { ", on the raw device" } else { "" };
    let (planned, most) = (Bytes(s.planned_write_bytes), Bytes(s.max_write_bytes));
    let planned = match is_check {
        true => format!("{planned} to be written"),
        false => format!("{}, {planned} to be written, at most {most}", counted(s.repeats as usize, "repeat")),
    };
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
        ("Planned", planned),
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
            (super::shell::pictures_section(&super::observed(records), overview.decided.clone()))
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
    html! { td.barred { (interval_bar(figure.estimate, scale, &record.title, class)) } }
}

fn record_name(record: &Listed, index: usize) -> Markup {
    html! { th scope="row" { a href={"#r" (index)} { (said(&record.title)) } small { (said(&record.place)) } } }
}

// One workload: finding as title, charts, repeats, all estimates, warnings.

/// A workload's section; `place` is the number of its record and its own.
pub(crate) fn load_section(record: &Record, load: &LoadRow<'_>, place: (usize, usize)) -> Markup {
    let (m, random) = (load.measurement, load.is_random());
    let with_sensors = results::sensor_is_drawn(record).next().is_some();
    html! {
        section.workload id={"r" (place.0) "-w" (place.1)} {
            h3 { (said(&load.finding())) }
            @if let Some(words) = &load.scaled_down { p.hint { (harmless(&capitalised(words))) "." } }
            @if let Some(soak) = &m.soak {
                p { (harmless(&soak.rates())) ". " (harmless(&capitalised(&soak.cliff_sentence()))) "." }
            }
            @if !m.repeats.is_empty() {
                p.sub { (harmless(&circumstances(m))) }
                div.grid {
                    (chart(place, "rate", if random { "Operations per second over time" } else { "Throughput over time" }))
                    (chart(place, "distribution", "Distribution of latency"))
                    (chart(place, "latency", "Latency over time"))
                    figure.figures.tall[with_sensors] {
                        figcaption { "Repeats and estimates" }
                        @if let Some(drawing) = repeats(m, random) { (drawing) }
                        (estimates(m))
                    }
                    @if with_sensors { (chart(place, "sensors", "Sensors over the same time")) }
                }
            }
            (warnings(&m.warnings))
        }
    }
}

fn circumstances(m: &Measurement) -> String {
    let repeats = m.repeats.len();
    let mut parts = vec![
        format!("{repeats} repeat{}", if repeats == 1 { "" } else { "s" }),
        format!("{} engine", clean(&m.engine)),
        if m.workload.direct { "direct I/O".to_owned() } else { "cached I/O".to_owned() },
    ];
    if let Some(depth) = m.in_flight {
        parts.push(format!("{} in flight of {} asked for", figures(depth), m.workload.depth()));
    }
    parts.extend(m.workload.manner());
    parts.extend(m.batching.as_deref().map(waited));
    match m.proof_ratio {
        Some(ratio) => parts.push(format!("{} of the bytes crossed the device", percent(ratio))),
        None => parts.push("no device counters to prove it".to_owned()),
    }
    if m.instrument_limited {
        parts.push("limited by the instrument".to_owned());
    }
    parts.join(" · ")
}

/// For how many completions at once was waited, and what that changed.
fn waited(batching: &Batching) -> String {
    let Batching { wait_for, tried, iops_ratio, p50_ratio, p99_ratio } = *batching;
    let ratio = |name: &str, ratio: Option<f64>| ratio.map(|r| format!("{name} {}", figures(r)));
    let ratios = [ratio("IOPS", Some(iops_ratio)), ratio("p50", p50_ratio), ratio("p99", p99_ratio)];
    let ratios: Vec<String> = ratios.into_iter().flatten().collect();
    let completions = if wait_for == 1 { "completion" } else { "completions" };
    format!(
        "waited for {wait_for} {completions} at once (in the warm-up, {tried} at once gave {} times those of one)",
        ratios.join(", ")
    )
}

/// Where a script draws a chart of the data at the end of the page.
fn chart((record, workload): (usize, usize), kind: &str, caption: &str) -> Markup {
    html! {
        figure.chart data-record=(record) data-workload=(workload) data-chart=(kind) { figcaption { (caption) } }
    }
}

fn estimates(m: &Measurement) -> Markup {
    let l = &m.latency_ns;
    let mut latencies = vec![
        ("latency, mean", &l.mean),
        ("p50", &l.p50),
        ("p90", &l.p90),
        ("p99", &l.p99),
        ("p99.9", &l.p99_9),
        ("largest", &l.max),
    ];
    if let Some(service) = &m.service_ns {
        latencies.extend([("service time, mean", &service.mean), ("its p50", &service.p50), ("its p99", &service.p99)]);
    }
    html! {
        table.estimates {
            thead { tr { @for title in ["Estimate", "Value", "Interval", "n"] { th scope="col" { (title) } } } }
            tbody {
                (estimate_line("IOPS", m.iops.as_ref(), 1.0, ""))
                (estimate_line("rate", m.bytes_per_second.as_ref(), MB, "MB/s"))
                @let synced = if m.workload.op == Op::Mixed { SYNCED_WRITES } else { SYNCED };
                (estimate_line(synced, m.durable_bytes_per_second.as_ref(), MB, "MB/s"))
                @for (name, e) in latencies {
                    @let (unit, divisor) = latency_unit(e.as_ref().map_or(0.0, |e| e.point));
                    (estimate_line(name, e.as_deref(), divisor, unit))
                }
            }
        }
    }
}

/// The rate with its sync, and the same of a mixed load, which is that of its writes alone.
const SYNCED: &str = "rate including the final sync";
const SYNCED_WRITES: &str = "rate of the writes including the final sync";

fn estimate_line(name: &str, e: Option<&Estimate>, divisor: f64, unit: &str) -> Markup {
    let Some(e) = e else { return Markup::default() };
    let bounds = match (e.low, e.high) {
        (Some(low), Some(high)) => interval(low / divisor, high / divisor),
        _ => "none".to_owned(),
    };
    let level = e.level.map_or_else(String::new, |l| format!("{} interval, ", percent(l)));
    html! {
        tr title={ (level) (statement(&e.method)) } {
            th scope="row" { (name) }
            td { (figures(e.point / divisor)) " " small { (unit) } }
            td { (bounds) }
            td { (e.n) }
        }
    }
}

/// Warnings with cause and remedy.
pub(crate) fn warnings(warnings: &[Warning]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            ul.warnings {
                @for warning in warnings {
                    @let word = caveats::word(warning.severity);
                    li class=(word) {
                        strong { (word) } " "
                        span { (capitalised(&statement(&warning.cause()))) "." }
                        @if !warning.remedy().is_empty() {
                            " " span.remedy { (capitalised(&statement(warning.remedy()))) "." }
                        }
                    }
                }
            }
        }
    }
}

// Small static drawings that need no script.

/// A horizontal bar from 0 to `scale` with the interval as a whisker; both in the same unit.
pub(crate) fn interval_bar(estimate: &Estimate, scale: f64, label: &str, class: &str) -> Markup {
    const WIDTH: f64 = 200.0;
    let at = |value: f64| if scale > 0.0 { (value / scale).clamp(0.0, 1.0) * WIDTH } else { 0.0 };
    html! {
        svg class={"bar " (class)} viewBox="0 0 200 14" preserveAspectRatio="none" role="img" aria-label=(harmless(label)) {
            rect.track width="200" height="14" {}
            rect.fill width=(format!("{:.2}", at(estimate.point).max(0.8))) height="14" {}
            @if let (Some(low), Some(high)) = (estimate.low, estimate.high) && low.is_finite() && high.is_finite() {
                path.whisker d=(format!("M{:.2} 7H{:.2}", at(low), at(high))) {}
            }
        }
    }
}

/// A rate against what the bus lets through.
pub(crate) fn share_bar(rate: &Estimate, reachable: f64, share: f64, limited: bool) -> Markup {
    let share = percent(share);
    let label = format!("{share} of the reachable rate of the bus");
    html! { (interval_bar(rate, reachable, &label, if limited { "limited" } else { "" })) span.share { (share) } }
}

/// Each repeat as a dot, with point and interval of the estimate.
pub(crate) fn repeats(measurement: &Measurement, random: bool) -> Option<Markup> {
    const WIDTH: f64 = 400.0;
    const EDGE: f64 = 14.0;
    let (estimate, unit, name) = if random {
        (measurement.iops.as_ref()?, 1.0, "IOPS")
    } else {
        (measurement.bytes_per_second.as_ref()?, MB, "MB/s")
    };
    let values: Vec<f64> =
        measurement.repeats.iter().map(|r| if random { r.iops } else { r.bytes_per_second }).collect();
    let all = || {
        values
            .iter()
            .copied()
            .chain([estimate.point])
            .chain(estimate.low)
            .chain(estimate.high)
            .filter(|v| v.is_finite())
    };
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if !least.is_finite() || !most.is_finite() {
        return None;
    }
    let span = (most - least).max(most.abs() * 1e-3).max(f64::MIN_POSITIVE);
    let at = |value: f64| EDGE + (value - least) / span * (WIDTH - 2.0 * EDGE);
    let (least_words, most_words) = (figures(least / unit), format!("{} {name}", figures(most / unit)));
    Some(html! {
        svg.repeats viewBox="0 0 400 58" role="img"
            aria-label={ (values.len()) " repeats from " (least_words) " to " (most_words) }
        {
            path.axis d="M0 24H400" {}
            @if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
                rect.band x=(format!("{:.1}", at(low))) y="10"
                    width=(format!("{:.1}", (at(high) - at(low)).max(0.0))) height="28" {}
            }
            path.point d=(format!("M{:.1} 6V42", at(estimate.point))) {}
            @for (i, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                // Spread a little in height, so that equal repeats are all visible.
                circle cx=(format!("{:.1}", at(*value))) cy=([24, 18, 30][i % 3]) r="4.5" {
                    title { "repeat " (i + 1) ": " (figures(value / unit)) " " (name) }
                }
            }
            text x="2" y="56" { (least_words) }
            text x="398" y="56" text-anchor="end" { (most_words) }
        }
    })
}
