//! Several records side by side.

use assay_core::record::Record;
use assay_core::units::exact;
use maud::{Markup, html};

use super::shell::tone_class;
use super::{said, svg};
use crate::document::Cell;
use crate::presented::{Figure, Listed, LoadRow, Mark, Overview, Presented};
use crate::verdict::capitalised;

/// The number of loads that are shown unfolded.
const LOADS_OPEN: usize = 8;

/// What the records come to, and a way to each of them.
pub(crate) fn overview(records: &[Record], all: &[Presented<'_>], overview: &Overview) -> Markup {
    let titles = titles(all);
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
            (summary(overview))
            (super::pictures::section(records, overview.decided.clone()))
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
pub(crate) fn folded(record: &Listed, body: &Markup) -> Markup {
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

fn summary(overview: &Overview) -> Markup {
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
                            (name(record, i))
                            td.left.short data-title="Result" { (pill(record)) }
                            @for (title, (figure, point)) in overview.columns.iter().zip(record.figures.iter().zip(record.points)) {
                                td data-title=(said(title)) data-value=[point.map(exact)] { (content(figure)) }
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

pub(crate) fn cell(cell: &Cell) -> Markup {
    html! { td { (content(cell)) } }
}

fn content(cell: &Cell) -> Markup {
    html! { @if !cell.value.is_empty() { b { (said(&cell.value)) } } @if !cell.small.is_empty() { " " small { (said(&cell.small)) } } }
}

/// Titles of all loads, in their order.
fn titles<'a>(all: &'a [Presented<'_>]) -> Vec<&'a str> {
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
                            (name(record, *i))
                            (cell(&figure.shown().into()))
                            (bar(record, load, figure, scale))
                        }
                    }
                } } }
            }
        }
    }
}

fn bar(record: &Listed, load: &LoadRow<'_>, figure: &Figure<'_>, scale: f64) -> Markup {
    // A bar of an invalid figure would distort the comparison with the others.
    if load.mark == Some(Mark::Invalid) {
        return html! { td.barred.words { "invalid: see its warnings" } };
    }
    let class = if load.measurement.bus_limited { "limited" } else { "" };
    html! { td.barred { (svg::bar(figure.estimate, scale, &record.title, class)) } }
}

fn name(record: &Listed, index: usize) -> Markup {
    html! { th scope="row" { a href={"#r" (index)} { (said(&record.title)) } small { (said(&record.place)) } } }
}
