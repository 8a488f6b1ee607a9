//! Pages for people. What they say of rankings and records is made by the code that makes the command's answers; they rest on
//! a snapshot, which each of them cites, and only the page of a record reads a document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::{clean, harmless};
use assay_core::units::{counted, rate};
use assay_report::{Asset, part, rank as ranked, when};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::answers::{Asked, Failure, Named, of_snapshot, tagged};
use crate::api::{AskedRanking, Words, shown};
use crate::app::App;
use crate::classes;
use crate::intake::is_id;
use crate::snapshot::{CONFIRMED, Entry, Snapshot};
use crate::states::State as Standing;
use crate::store::{self, Kept};

type Shared = State<Arc<App>>;
type Answer = Result<Response, Missing>;

const HTML: &str = "text/html; charset=utf-8";
const OWN_STYLE: &str = include_str!("../assets/public.css");
/// Rows of a list on a page.
const MOST_ROWS: usize = 500;

/// A page cannot be shown.
pub(crate) struct Missing(Failure);

impl From<Failure> for Missing {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<crate::database::DatabaseError> for Missing {
    fn from(error: crate::database::DatabaseError) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Missing {
    fn into_response(self) -> Response {
        let words = match self.0.status {
            StatusCode::NOT_FOUND => "There is no such page",
            StatusCode::FORBIDDEN => "This record is not shown",
            StatusCode::GONE => "This record was taken back",
            _ => "This page cannot be made now",
        };
        let page = frame("", words, &html! { h1 { (words) } p { a href="/" { "Models" } } });
        (self.0.status, [(header::CONTENT_TYPE, HTML)], Body::from(page)).into_response()
    }
}

const TABS: [(&str, &str); 5] =
    [("/", "Models"), ("/rank", "Ranking"), ("/log", "Log"), ("/data/", "Data"), ("/about", "About")];

fn frame(tab: &str, title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (harmless(title)) " – assay" }
                link rel="stylesheet" href="/assets/report.css";
                link rel="stylesheet" href="/assets/serve.css";
                link rel="stylesheet" href="/assets/public.css";
                link rel="icon" href="data:,";
            }
            body id="top" {
                a.skip href="#main" { "Skip to the content" }
                header.top { a.brand href="/" { "assay" } }
                nav.tabs aria-label="Pages" {
                    @for (path, title) in TABS { a href=(path) aria-current=[(path == tab).then_some("page")] { (title) } }
                }
                main id="main" tabindex="-1" { (body) }
                footer { p { "± and brackets are 95 % intervals where nothing else is said. Data: CC0." } }
            }
        }
    };
    page.into_string()
}

fn cited(newest: &Snapshot) -> Markup {
    let of = &newest.cited;
    html! { p.cited {
        "Snapshot " (of.number) " of " (when(&of.made)) ": " (many(of.records, "record")) " of " (many(of.units, "unit"))
        " at " (many(of.accounts, "account")) "."
    } }
}

/// A number of things.
fn many(n: i64, one: &str) -> String {
    counted(usize::try_from(n).unwrap_or_default(), one)
}

/// A part of an address.
fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn link(path: &str, name: &str) -> Markup {
    html! { a href=(format!("{path}{}", escaped(name))) { (harmless(name)) } }
}

pub(crate) async fn asset(Named(name): Named) -> Response {
    let text = match name.as_str() {
        "report.css" => Asset::Style.text(),
        "serve.css" => assay_serve::STYLE,
        "public.css" => OWN_STYLE,
        _ => return Missing(Failure::missing()).into_response(),
    };
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, Body::from(text)).into_response()
}

pub(crate) async fn missing() -> Missing {
    Missing(Failure::missing())
}

// Models.

pub(crate) async fn models(State(app): Shared, Asked(asked): Asked<Words>, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let found = newest.search(&asked.q, MOST_ROWS);
        let body = html! {
            h1 { "Models" }
            (cited(newest))
            form.choose action="/" role="search" {
                div { label for="q" { "Words in the name" } input type="search" id="q" name="q" value=(harmless(&asked.q)); }
                button type="submit" { "Search" }
            }
            @if found.is_empty() { p { "No model is here." } }
            @else { (models_table(&found)) }
            @if found.len() == MOST_ROWS { p { "There are more: search for one." } }
        };
        Some(frame("/", "Models", &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

fn models_table(found: &[(&String, &Vec<Arc<Entry>>)]) -> Markup {
    html! { div.scroll { table.summary {
        thead { tr { th.left { "Model" } th.left { "Class" } th { "Units" } th { "Accounts" } th { "Records" } th.left { "" } } }
        tbody { @for (name, entries) in found {
            @let accounts = Snapshot::accounts(entries);
            tr {
                td.left { (link("/models/", name)) }
                td.left { (entries.first().map(|entry| class_title(&entry.class)).unwrap_or_default()) }
                td { (Snapshot::unit_count(entries)) } td { (accounts) } td { (entries.len()) }
                td.left { (standing_of(accounts)) }
            }
        } }
    } } }
}

fn standing_of(accounts: usize) -> &'static str {
    if accounts >= CONFIRMED { "confirmed" } else { "unconfirmed" }
}

fn class_title(class: &str) -> &'static str {
    classes::ALL.iter().find(|(name, _)| *name == class).map_or("", |(_, title)| title)
}

pub(crate) async fn model(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let entries = newest.models.get(&name)?;
        let accounts = Snapshot::accounts(entries);
        let body = html! {
            h1 { (harmless(&name)) }
            (cited(newest))
            p { (counted(Snapshot::unit_count(entries), "unit")) " at " (counted(accounts, "account")) ": " (standing_of(accounts))
                @if accounts < CONFIRMED { ", as confirmation takes " (CONFIRMED) " accounts" } "." }
            @for class in classes_of(entries) {
                p { a href=(format!("/rank?class={}", escaped(class))) { "Ranking of " (class_title(class)) } }
            }
            h2 { "Over units" } (spread(entries))
            h2 { "Genuineness" } (genuineness(entries))
            h2 { "Hosts and buses" } (hosts(entries))
            h2 { "Records" } (records_table(entries))
        };
        Some(frame("/", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

fn classes_of(entries: &[Arc<Entry>]) -> BTreeSet<&str> {
    entries.iter().map(|entry| entry.class.as_str()).collect()
}

/// The figures of the units under each load: the lowest, the middle and the highest. A unit counts once, by its last record.
fn spread(entries: &[Arc<Entry>]) -> Markup {
    let mut loads: BTreeMap<String, BTreeMap<&str, f64>> = BTreeMap::new();
    for entry in entries {
        for measurement in &entry.observation.measurements {
            if let Some(rate) = &measurement.bytes_per_second {
                let units = loads.entry(entry.observation.load_title(measurement)).or_default();
                units.insert(&entry.unit, rate.point);
            }
        }
    }
    html! { div.scroll { table.summary {
        thead { tr { th.left { "Load" } th { "Units" } th { "Lowest" } th { "Median" } th { "Highest" } } }
        tbody { @for (load, units) in loads {
            @let mut values: Vec<f64> = units.into_values().collect();
            @let () = values.sort_by(f64::total_cmp);
            tr {
                td.left { (harmless(&load)) } td { (values.len()) }
                @for at in [0, values.len() / 2, values.len().saturating_sub(1)] {
                    td { (values.get(at).map(|value| rate(*value)).unwrap_or_default()) }
                }
            }
        } }
    } } }
}

fn genuineness(entries: &[Arc<Entry>]) -> Markup {
    let mut verdicts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries {
        if let Some(check) = &entry.observation.verification {
            let name = serde_json::to_value(check.verdict).ok().and_then(|name| name.as_str().map(str::to_owned));
            verdicts.entry(name.unwrap_or_default()).or_default().insert(&entry.unit);
        }
    }
    html! {
        @if verdicts.is_empty() { p { "No unit was checked." } }
        @else { ul { @for (verdict, units) in verdicts { li { (units.len()) " units: " (verdict.replace('_', " ")) } } } }
    }
}

fn hosts(entries: &[Arc<Entry>]) -> Markup {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    for entry in entries {
        let host = &entry.observation.host;
        let name = host.board.as_ref().or(host.cpu.as_ref()).map(|name| clean(name)).unwrap_or_default();
        *seen.entry((name, clean(&classes::bus_of(&entry.observation.medium)))).or_default() += 1;
    }
    html! { div.scroll { table.summary {
        thead { tr { th.left { "Host" } th.left { "Bus" } th { "Records" } } }
        tbody { @for ((host, bus), count) in seen { tr { td.left { (host) } td.left { (bus) } td { (count) } } } }
    } } }
}

fn records_table(entries: &[Arc<Entry>]) -> Markup {
    html! { div.scroll { table.summary {
        thead { tr { th.left { "Record" } th.left { "Unit" } th.left { "Measured" } th.left { "Suite" } th.left { "Verdict" } } }
        tbody { @for entry in entries.iter().take(MOST_ROWS) {
            @let of = &entry.observation;
            tr {
                td.left { (link("/records/", &of.id)) } td.left { (link("/units/", &entry.unit)) }
                td.left { (clean(&of.created).chars().take(10).collect::<String>()) }
                td.left { (clean(&of.suite.name)) } td.left { (verdict_of(of)) }
            }
        } }
    } } }
}

fn verdict_of(observation: &Observation) -> String {
    let name = serde_json::to_value(observation.validity.verdict).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(crate) async fn unit(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let entries = newest.units.get(&name)?;
        let models: BTreeSet<&String> = entries.iter().map(|entry| &entry.model).collect();
        let body = html! {
            h1 { "Unit " (harmless(&name)) }
            (cited(newest))
            p { "Of " @for model in models { (link("/models/", model)) " " } }
            p { "Names of units are made by each account: the same unit at another account has another name." }
            h2 { "Figures" } (spread(entries))
            h2 { "Records" } (records_table(entries))
        };
        Some(frame("/", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

// Rankings.

#[derive(serde::Deserialize)]
pub(crate) struct MaybeRanking {
    class: Option<String>,
    load: Option<String>,
}

pub(crate) async fn rank(State(app): Shared, Asked(asked): Asked<MaybeRanking>, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let first =
            || classes::ALL.iter().find(|(class, _)| newest.loads.contains_key(*class)).map(|(class, _)| *class);
        let class = match asked.class.clone().or_else(|| first().map(str::to_owned)) {
            Some(class) => class,
            None => {
                return Some(frame(
                    "/rank",
                    "Ranking",
                    &html! { h1 { "Ranking" } (cited(newest)) p { "No record is here." } },
                ));
            }
        };
        let asked = AskedRanking { class, load: asked.load };
        let ranking = newest.ranking(&asked.class, asked.load())?;
        let body = html! {
            (ranking_form(newest, &asked))
            @match &ranking.report {
                Ok(report) => (PreEscaped(ranked::document(report).part().body)),
                Err(error) => { h1 { "Ranking" } p { (harmless(error)) } },
            }
            @if ranking.models < ranking.of {
                p { "Ranked are the " (ranking.models) " most measured models of " (ranking.of) "." }
            }
            (cited(newest))
        };
        Some(frame("/rank", "Ranking", &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

fn ranking_form(newest: &Snapshot, asked: &AskedRanking) -> Markup {
    html! { form.choose action="/rank" {
        div { label for="class" { "Class" } select id="class" name="class" {
            @for (class, title) in classes::ALL.iter().filter(|(class, _)| newest.loads.contains_key(*class)) {
                option value=(class) selected[*class == asked.class] { (title) }
            }
        } }
        div { label for="load" { "Load" } select id="load" name="load" {
            option value="" { "the usual one" }
            @for load in newest.loads.get(&asked.class).into_iter().flat_map(BTreeMap::keys) {
                option value=(load) selected[asked.load() == Some(load)] { (harmless(load)) }
            }
        } }
        button type="submit" { "Show" }
    } }
}

// Records and the log.

pub(crate) async fn record(State(app): Shared, Named(id): Named, headers: HeaderMap) -> Answer {
    if !is_id(&id) {
        return Err(Failure::missing().into());
    }
    let named = id.clone();
    let kept = app.read(move |connection| store::find(connection, &named)).await?.ok_or_else(Failure::missing)?;
    if shown(&kept).is_err() {
        let body = html! { h1 { "Record " (id) } (standing(&kept)) };
        let status = if kept.standing.state == Standing::Withdrawn { StatusCode::GONE } else { StatusCode::OK };
        let page = frame("", &id, &body);
        return Ok((status, [(header::CONTENT_TYPE, HTML)], Body::from(page)).into_response());
    }
    let tag = format!("{}-{}", kept.changed, kept.hash.get(..12).unwrap_or_default());
    if crate::answers::has(&headers, &tag) {
        return Ok(tagged(&headers, &tag, HTML, Body::empty));
    }
    let bytes = app.read(move |connection| store::document(connection, &id)).await?.ok_or_else(Failure::missing)?;
    let page = app.on_a_thread(move |app| record_page(&kept, &bytes, &app.snapshots.newest())).await?;
    Ok(tagged(&headers, &tag, HTML, || Body::from(page)))
}

fn record_page(kept: &Kept, bytes: &[u8], newest: &Snapshot) -> String {
    let record = std::str::from_utf8(bytes).ok().and_then(|text| Record::from_json(text).ok());
    let entry = newest.records.get(&kept.id);
    let body = html! {
        @match record {
            Some(record) => (PreEscaped(part(&[record]).body)),
            None => h1 { "Record " (kept.id) },
        }
        (standing(kept))
        @if let Some(entry) = entry {
            p { "Model " (link("/models/", &entry.model)) ", unit " (link("/units/", &entry.unit)) }
        }
        p { a href=(format!("/api/v1/records/{}/document", kept.id)) { "The document as it was sent (JSON)" } }
        (cited(newest))
    };
    frame("", &kept.id, &body)
}

fn standing(kept: &Kept) -> Markup {
    html! {
        p { "State: " strong { (kept.standing.state.name()) } ", received " (kept.received) "." }
        @if !kept.standing.reasons.is_empty() {
            ul { @for reason in &kept.standing.reasons { li { (harmless(&reason.detail)) } } }
        }
        p.cited { "BLAKE3 " (kept.hash) }
    }
}

#[derive(serde::Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: i64,
}

pub(crate) async fn log(State(app): Shared, Asked(asked): Asked<After>) -> Answer {
    const PAGE: i64 = 100;
    let entries = app.read(move |connection| store::log(connection, asked.after, PAGE)).await?;
    let next = entries.last().filter(|_| entries.len() as i64 == PAGE).map(|last| last.n);
    let body = html! {
        h1 { "Log" }
        p { "Each hold, release and removal, with its reason; entries are only added." }
        @if entries.is_empty() { p { "There is no entry yet." } }
        @else { div.scroll { table.summary {
            thead { tr { th { "No" } th.left { "When" } th.left { "Record" } th.left { "Change" } th.left { "Why" } } }
            tbody { @for entry in &entries { tr {
                td { (entry.n) } td.left { (when(&entry.at)) } td.left { (link("/records/", &entry.id)) }
                td.left { (entry.from) " → " (entry.to) }
                td.left { @for reason in &entry.reasons { (harmless(&reason.detail)) br; } }
            } } }
        } } }
        @if let Some(next) = next { p { a href=(format!("/log?after={next}")) { "Later entries" } } }
    };
    Ok(([(header::CONTENT_TYPE, HTML)], Body::from(frame("/log", "Log", &body))).into_response())
}

pub(crate) async fn about(State(app): Shared, headers: HeaderMap) -> Answer {
    let page = |newest: &Snapshot| {
        let body = html! {
            h1 { "About" }
            (cited(newest))
            p { "Results of storage media, measured with assay and submitted by those who own the media. Each figure is computed "
                "anew from what was measured before it counts; what contradicts itself is held, and the " a href="/log" { "log" }
                " says why. Rankings weigh units, never submissions. A model is confirmed by " (CONFIRMED) " accounts." }
            p { "A unit is known by a name that its account makes with a key of its own: no serial number is here." }
            p { a href="/api/v1/openapi.json" { "The API" } " gives everything that the pages show." }
        };
        Some(frame("/about", "About", &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

pub(crate) async fn data(State(app): Shared) -> Answer {
    let listed = app.on_a_thread(|app| app.data.as_deref().and_then(crate::data::manifest)).await?;
    let body = html! {
        h1 { "Data" }
        @match listed {
            None => p { "This server hands out no files; the API gives the same." },
            Some(manifest) => {
                p { "Of snapshot " (manifest.snapshot.number) ". Dedicated to the public domain: " a href="https://creativecommons.org/publicdomain/zero/1.0/" { "CC0 1.0" } "." }
                ul { @for file in &manifest.files {
                    li { a href=(format!("/data/{}", file.name)) { (file.name) } ": " (file.bytes) " bytes, BLAKE3 " (file.hash) }
                } }
                p { a href="/data/manifest.json" { "manifest.json" } }
            },
        }
    };
    Ok(([(header::CONTENT_TYPE, HTML)], Body::from(frame("/data/", "Data", &body))).into_response())
}

pub(crate) async fn data_file(State(app): Shared, Named(name): Named) -> Answer {
    let opened =
        app.on_a_thread(move |app| app.data.as_deref().and_then(|data| crate::data::open(data, &name))).await?;
    let (kind, file, bytes) = opened.ok_or_else(Failure::missing)?;
    let mut response = crate::data::streamed(file).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    Ok(response)
}
