//! What the store holds: media as cards, records as a list, a record, and baselines.

use std::collections::{BTreeMap, HashMap};

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::{harmless, unbroken};
use assay_core::units::counted;
use assay_report::{ReportFormat, UnitCard, View, list_table, part, render};
use assay_store::Summary;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};

use crate::access::TOKEN_FIELD;
use crate::app::App;
use crate::form::{Pairs, value};
use crate::page::{self, Page, Tab, copy_button};
use crate::program::{MOST_COMPARED, Program, Refusal};

/// Media on a page.
const CARDS: usize = 12;
/// Suite of checks.
const VERIFY: &str = "verify";
/// Records on a page.
const ROWS: usize = 50;
/// Newest runs of a medium that its card is made from: the last, and the one before.
const PER_CARD: usize = 2;

// Media.

/// Records of one medium, oldest first.
struct Unit {
    model: String,
    unit: String,
    ids: Vec<String>,
    /// Those of runs that were completed. What a check found is shared with them.
    runs: Vec<String>,
    newest: String,
}

impl Unit {
    /// What a card is made of, oldest first: runs, or else the last record.
    fn shown(&self) -> Vec<String> {
        let of = if self.runs.is_empty() { &self.ids } else { &self.runs };
        of[of.len().saturating_sub(PER_CARD)..].to_vec()
    }
}

/// Media by their newest record, the newest first: each model and unit as comparisons group their records.
fn units(program: &dyn Program, summaries: Vec<Summary>) -> Result<Vec<Unit>, Refusal> {
    let named = program.units(&summaries)?;
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    let mut all: Vec<Unit> = Vec::new();
    for (summary, key) in summaries.into_iter().zip(named) {
        let at = *known.entry(key).or_insert_with_key(|(model, unit)| {
            let (model, unit) = (model.clone(), unit.clone());
            all.push(Unit { model, unit, ids: Vec::new(), runs: Vec::new(), newest: String::new() });
            all.len() - 1
        });
        all[at].newest = summary.created.clone().max(std::mem::take(&mut all[at].newest));
        if summary.suite != VERIFY && summary.outcome == Outcome::Completed {
            all[at].runs.push(summary.id.clone());
        }
        all[at].ids.push(summary.id);
    }
    all.sort_by(|a, b| b.newest.cmp(&a.newest));
    Ok(all)
}

/// Number of a page from 1, of an address.
fn number(pairs: &Pairs) -> usize {
    value(pairs, "page")
        .and_then(|text| text.trim().parse().ok())
        .filter(|page| (1..=1_000_000).contains(page))
        .unwrap_or(1)
}

/// Links to other pages of the same list.
fn pager(path: &str, pairs: &Pairs, page: usize, pages: usize) -> Markup {
    let to = |page: usize| {
        let mut fields: Vec<String> = pairs
            .iter()
            .filter(|(name, value)| name != "page" && !value.is_empty())
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        fields.push(format!("page={page}"));
        format!("{path}?{}", fields.join("&"))
    };
    html! {
        @if pages > 1 {
            nav.pager aria-label="More" {
                @if page > 1 { a href=(to(page - 1)) rel="prev" { "Newer" } }
                span { "Page " (page) " of " (pages) }
                @if page < pages { a href=(to(page + 1)) rel="next" { "Older" } }
            }
        }
    }
}

/// Text within an address.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

pub(crate) fn media(program: &dyn Program, pairs: &Pairs) -> Result<Response, Refusal> {
    let all = units(program, program.summaries("all")?)?;
    let pages = all.len().div_ceil(CARDS).max(1);
    let page = number(pairs).min(pages);
    let shown: Vec<&Unit> = all.iter().skip((page - 1) * CARDS).take(CARDS).collect();
    let ids: Vec<String> = shown.iter().flat_map(|unit| unit.shown()).collect();
    let mut records: BTreeMap<String, _> =
        program.records(&ids)?.into_iter().map(|record| (record.id.clone(), record)).collect();
    let cards = shown.iter().filter_map(|unit| {
        let own: Vec<_> = unit.shown().iter().filter_map(|id| records.remove(id)).collect();
        Some((*unit, UnitCard::from_records(&own)?))
    });
    let body = html! {
        h1 { "Media" }
        @if all.is_empty() {
            p.text { "Nothing was measured yet. " a href="/measure" { "Measure a medium" } ", or import results: " code { "assay import FILE" } "." }
        } @else {
            p.sub { @if all.len() == 1 { "1 medium" } @else { (all.len()) " media, the last measured first" } }
        }
        div.cards { @for (unit, card) in cards { (card_markup(unit, &card)) } }
        (pager("/", pairs, page, pages))
    };
    Ok(Page::new(Tab::Media, "Media", body).into_response())
}

fn card_markup(unit: &Unit, card: &UnitCard) -> Markup {
    let record = format!("/records/{}", encoded(&card.record));
    html! {
        article.card {
            h2 { a href=(record) { (harmless(&card.title)) } }
            @if !card.place.is_empty() { p.sub { (harmless(&card.place)) } }
            p class=(card.tone) { span.pill { (card.word) } @if let Some(check) = &card.check { " " span.check { "checked: " (check) } } }
            @if !card.figures.is_empty() { (figures_markup(&card.figures)) }
            dl.short {
                @if let Some(health) = &card.health { div { dt { "Health" } dd { (harmless(health)) } } }
                @if let Some(trend) = &card.trend { div { dt { "Last two" } dd { (harmless(trend)) } } }
                @if let Some(problem) = &card.problem { div { dt { "Problem" } dd { (harmless(problem)) } } }
                div { dt { "Last" } dd { @if !card.when.is_empty() { (harmless(&card.when)) " · " } (all_records(unit)) } }
            }
        }
    }
}

/// Records of a medium that an address names one by one; more are named by model and unit.
const NAMED: usize = 500;

fn all_records(unit: &Unit) -> Markup {
    let count = counted(unit.ids.len(), "record");
    let query = match unit.ids.len() {
        ..=NAMED => unit.ids.join(","),
        _ => format!("model=\"{}\" unit=\"{}\"", unit.model, unit.unit),
    };
    html! { a href={ "/records?q=" (encoded(&query)) } { (count) } }
}

/// Text whose figures stay with their units, and which hides and reorders nothing.
fn shown(text: &str) -> String {
    unbroken(&harmless(text))
}

/// Large figures in two columns, read and write.
pub(crate) fn figures_markup(figures: &[(String, String, String)]) -> Markup {
    html! {
        dl.figures {
            @for (title, value, spread) in figures {
                div { dt { (shown(title)) } dd { b { (shown(value)) } " " small { (shown(spread)) } } }
            }
        }
    }
}

// Records.

/// Orders of the list, with their titles.
const SORTS: [(&str, &str); 5] = [
    ("", "newest first"),
    ("oldest", "oldest first"),
    ("model", "by model"),
    ("suite", "by suite"),
    ("result", "by result"),
];

fn sorted(mut all: Vec<Summary>, by: &str) -> Vec<Summary> {
    match by {
        "oldest" => {}
        "model" => all.sort_by(|a, b| (a.model(), &a.unit, &b.created).cmp(&(b.model(), &b.unit, &a.created))),
        "suite" => all.sort_by(|a, b| (&a.suite, &b.created).cmp(&(&b.suite, &a.created))),
        "result" => all.sort_by(|a, b| b.verdict.cmp(&a.verdict).then(b.created.cmp(&a.created))),
        _ => all.reverse(),
    }
    all
}

pub(crate) fn records(app: &App, pairs: &Pairs) -> Result<Response, Refusal> {
    let program = app.program.as_ref();
    let query = value(pairs, "q").map(str::trim).filter(|query| !query.is_empty()).unwrap_or("all");
    let by = value(pairs, "sort").unwrap_or_default();
    let (all, refusal) = match program.summaries(query) {
        Ok(all) => (sorted(all, by), None),
        Err(refusal) => (Vec::new(), Some(refusal)),
    };
    let pages = all.len().div_ceil(ROWS).max(1);
    let page = number(pairs).min(pages);
    let ids: Vec<String> = all.iter().skip((page - 1) * ROWS).take(ROWS).map(|summary| summary.id.clone()).collect();
    let mut found: BTreeMap<String, _> =
        program.records(&ids)?.into_iter().map(|record| (record.id.clone(), record)).collect();
    let shown: Vec<_> = ids.iter().filter_map(|id| found.remove(id)).collect();
    let table = list_table(&shown, &program.lives());
    let body = html! {
        h1 { "Records" }
        form.question method="get" action="/records" {
            div.fields {
                div.field { label for="q" { "Query" } input type="text" id="q" name="q" value=(query) autocomplete="off" spellcheck="false" aria-describedby="q-hint";
                    p.hint id="q-hint" { "all, or model=…, unit=…, slot=…, suite=…, kind=…, label=…; several have all to match" } }
                div.field { label for="sort" { "Order" } select id="sort" name="sort" {
                    @for (name, title) in SORTS { option value=(name) selected[name == by] { (title) } }
                } }
            }
            p { button.main type="submit" { "Show" } }
        }
        @if let Some(refusal) = &refusal { (page::said(refusal)) } @else { p.sub { (counted(all.len(), "record")) } }
        @if !shown.is_empty() { (records_table(app, &table)) }
        (pager("/records", pairs, page, pages))
    };
    Ok(Page::new(Tab::Records, "Records", body).into_response())
}

fn records_table(app: &App, table: &assay_report::ListTable) -> Markup {
    html! {
        form method="get" action="/compare" data-most=(MOST_COMPARED) {
            div.scroll {
                table.summary.stacked {
                    thead { tr { th.left.tick scope="col" { "Tick" } @for (title, right) in &table.titles { th.left[!right] scope="col" { (title) } } } }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                td.left.tick data-title="Tick" { input type="checkbox" name="of" value=(row.id) aria-label={ "Tick record " (row.id) }; }
                                @for (at, (value, small)) in row.cells.iter().enumerate() {
                                    @if at == 0 { th.left scope="row" { a href={ "/records/" (encoded(&row.id)) } { (value) } } }
                                    @else { td.left[!table.titles[at].1] data-title=(table.titles[at].0) { (shown(value)) @if !small.is_empty() { " " small { (shown(small)) } } } }
                                }
                            }
                        }
                    }
                }
            }
            p.actions {
                button.main type="submit" { "Compare the ticked" }
                button type="submit" formaction="/rank" { "Rank the ticked" }
                // The script says when more are ticked.
                span.hint id="ticked" role="status" { "A comparison takes at most " (MOST_COMPARED) "; a ranking takes any number." }
            }
            fieldset.inline {
                legend { "Name the ticked records as a baseline" }
                label for="name" { "Name" } " " input type="text" id="name" name="name" value="main" autocomplete="off";
                // The token goes with this button alone, and not into addresses.
                " " button type="submit" formmethod="post" formaction="/baselines/set" name=(TOKEN_FIELD) value=(app.access.form_token()) { "Set" }
            }
        }
    }
}

/// Whether a text can be the id of one record: no other query, which might name thousands.
pub(crate) fn is_id(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain && !text.is_empty() && !["all", "last"].contains(&text)
}

pub(crate) fn record(program: &dyn Program, id: &str) -> Result<Response, Refusal> {
    if !is_id(id) {
        return Ok(page::missing());
    }
    let records = match program.whole_records(&[id.to_owned()]) {
        Err(refusal) if refusal.is_usage => return Ok(page::missing()),
        records => records?,
    };
    let part = part(&records);
    let Some(record) = records.first() else { return Ok(page::missing()) };
    let name = encoded(&record.id);
    let body = html! {
        (PreEscaped(&part.body))
        (as_text(record))
        p.actions {
            "Download: "
            @for (format, title) in DOWNLOADS { a href={ "/records/" (name) "/as/" (format) } download={ (name) "." (format) } { (title) } " " }
            "· " a href={ "/compare?of=" (name) "&of=last" } { "Compare with the last" }
        }
        (page::same_command(&["show".to_owned(), record.id.clone()]))
    };
    Ok(Page::new(Tab::Records, record.title(), body).with(&part).into_response())
}

/// A record as the text that people paste in forums.
pub(crate) fn as_text(record: &Record) -> Markup {
    let text = render(ReportFormat::CrystalDiskMark, std::slice::from_ref(record), &View::default());
    let text = text.ok().and_then(|text| String::from_utf8(text).ok()).filter(|_| !record.measurements.is_empty());
    html! {
        @if let Some(text) = text {
            details.folded {
                summary { "As text, in the form of CrystalDiskMark" }
                p { (copy_button("as-text")) }
                pre id="as-text" tabindex="0" { (harmless_lines(&text)) }
            }
        }
    }
}

/// Text of several lines, in which nothing hides or reorders.
pub(crate) fn harmless_lines(text: &str) -> String {
    text.lines().map(harmless).collect::<Vec<_>>().join("\n")
}

/// Formats of a record, by the ending of the file.
const DOWNLOADS: [(&str, &str); 5] =
    [("json", "JSON"), ("md", "Markdown"), ("csv", "CSV"), ("html", "page in one file"), ("svg", "picture")];

pub(crate) fn download(program: &dyn Program, id: &str, ending: &str) -> Result<Response, Refusal> {
    let (format, kind) = match ending {
        "json" => (ReportFormat::Json, "application/json"),
        "md" => (ReportFormat::Markdown, "text/markdown; charset=utf-8"),
        "csv" => (ReportFormat::Csv, "text/csv; charset=utf-8"),
        "html" => (ReportFormat::Html, "application/octet-stream"),
        "svg" => (ReportFormat::Svg, "application/octet-stream"),
        _ => return Ok(page::missing()),
    };
    if !is_id(id) {
        return Ok(page::missing());
    }
    let records = program.whole_records(&[id.to_owned()])?;
    let file = render(format, &records, &View::default())
        .map_err(|error| Refusal { message: harmless(&error.to_string()), is_usage: true })?;
    let name = format!("attachment; filename=\"{}.{ending}\"", encoded(id));
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)], Body::from(file))
        .into_response())
}

// Baselines.

pub(crate) fn baselines(app: &App) -> Result<Response, Refusal> {
    let all = app.program.baselines()?;
    let body = html! {
        h1 { "Baselines" }
        p.text { "A baseline is a name for records that later ones are compared with. Tick records in the " a href="/records" { "list" } " to set one." }
        @if all.is_empty() { p.sub { "There is none yet." } } @else {
            div.scroll { table.summary.stacked {
                thead { tr { th scope="col" { "Baseline" } th scope="col" { "Records" } th scope="col" { "Against the last" } th scope="col" { "Remove" } } }
                tbody { @for (name, ids) in &all { tr {
                    th scope="row" { a href={ "/records?q=" (encoded(&ids.join(","))) } { (harmless(name)) } }
                    td data-title="Records" { (ids.len()) }
                    td data-title="Against the last" {
                        a href={ "/compare?of=" (encoded(&format!("baseline:{name}"))) "&of=last" } { "compare" } " · "
                        a href={ "/baselines/gate?of=" (encoded(&format!("baseline:{name}\nlast"))) "&limit=" (encoded("slower than 5%")) } { "limits" }
                    }
                    td data-title="Remove" { form method="post" action="/baselines/remove" {
                        (page::token(&app.access)) input type="hidden" name="name" value=(name);
                        button type="submit" { "Remove the name" }
                    } }
                } } }
            } }
        }
        p { a href="/baselines/gate" { "Check limits against a baseline" } }
    };
    Ok(Page::new(Tab::Baselines, "Baselines", body).into_response())
}
