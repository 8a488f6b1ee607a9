//! Pages of records, of the log, of the data, and about the site. Only that of a record reads a document.

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_report::{part, when};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};

use super::frame::{HTML, Holds, cited, frame, framed, link, table, words};
use super::{Answer, Of, Shared};
use crate::answers::{Asked, Failure, Named, of_snapshot, tagged};
use crate::api::shown;
use crate::data::ManifestFile;
use crate::intake::is_id;
use crate::snapshot::{CONFIRMED, Snapshot};
use crate::states::State as Standing;
use crate::store::{self, Kept};

/// What a browser may do with a page that has charts.
const SCRIPTED: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; \
                        base-uri 'none'; frame-ancestors 'none'";

pub(crate) async fn record(State(app): Shared, id: Of<Named>, headers: HeaderMap) -> Answer {
    let Named(id) = id?;
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
    let scripted = |mut response: Response| {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SCRIPTED));
        Ok(response)
    };
    // A browser takes the policy of the answer that nothing changed, too.
    if crate::answers::has(&headers, &tag) {
        return scripted(tagged(&headers, &tag, HTML, Body::empty));
    }
    let bytes = app.read(move |connection| store::document(connection, &id)).await?.ok_or_else(Failure::missing)?;
    let page = app.on_a_thread(move |app| record_page(&kept, &bytes, &app.snapshots.newest())).await?;
    scripted(tagged(&headers, &tag, HTML, || Body::from(page)))
}

fn record_page(kept: &Kept, bytes: &[u8], newest: &Snapshot) -> String {
    let record = std::str::from_utf8(bytes).ok().and_then(|text| Record::from_json(text).ok());
    let shown = record.map(|record| part(&[record]));
    let entry = newest.record(&kept.id);
    let body = html! {
        @match &shown {
            Some(part) => (PreEscaped(&part.body)),
            None => h1 { "Record " (kept.id) },
        }
        @if shown.as_ref().is_some_and(|part| part.charts) {
            noscript { p.hint { "Charts over time need scripts; all figures and bars do not." } }
        }
        h2 { "At this place" }
        @if let Some(entry) = entry {
            p { "Model " (link("/models/", &entry.model)) ", unit " (link("/units/", &entry.unit)) "." }
        }
        (standing(kept))
        p { a href=(format!("/api/v1/records/{}/document", kept.id)) { "The document as it was sent (JSON)" } }
        (cited(&newest.cited))
    };
    framed("", &kept.id, &body, shown.as_ref())
}

fn standing(kept: &Kept) -> Markup {
    html! {
        p { "State: " strong { (kept.standing.state.name()) } ", received " (when(&kept.received)) "." }
        @if !kept.standing.reasons.is_empty() {
            ul { @for reason in &kept.standing.reasons { li { (harmless(&reason.detail)) } } }
        }
        p.cited { "BLAKE3 " code { (kept.hash) } }
    }
}

#[derive(serde::Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: i64,
}

pub(crate) async fn log(State(app): Shared, asked: Of<Asked<After>>) -> Answer {
    let Asked(asked) = asked?;
    const PAGE: i64 = 100;
    let entries = app.read(move |connection| store::log(connection, asked.after, PAGE)).await?;
    let next = entries.last().filter(|_| entries.len() as i64 == PAGE).map(|last| last.n);
    let columns = [("When", Holds::Words), ("From", Holds::Words), ("To", Holds::Words), ("Why", Holds::Sentences)];
    let row = |entry: &store::Entry| {
        let reasons: Vec<&str> = entry.reasons.iter().map(|reason| reason.detail.as_str()).collect();
        let cells =
            vec![html! { (when(&entry.at)) }, html! { (entry.from) }, html! { (entry.to) }, words(&reasons.join("; "))];
        (link("/records/", &entry.id), cells)
    };
    let body = html! {
        h1 { "Log" }
        p { "Each hold, release and removal, with its reason; entries are only added." }
        @if entries.is_empty() { p { "There is no entry yet." } }
        @else { (table("Record", &columns, entries.iter().map(row))) }
        @if let Some(next) = next { p { a href=(format!("/log?after={next}")) { "Later entries" } } }
    };
    Ok(([(header::CONTENT_TYPE, HTML)], Body::from(frame("/log", "Log", &body))).into_response())
}

pub(crate) async fn about(State(app): Shared, headers: HeaderMap) -> Answer {
    let page = |newest: &Snapshot| {
        let body = html! {
            h1 { "About" }
            (cited(&newest.cited))
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

const FILE_COLUMNS: [(&str, Holds); 3] =
    [("Size", Holds::Figures), ("Rows", Holds::Figures), ("BLAKE3", Holds::Sentences)];

fn file_row(file: &ManifestFile) -> (Markup, Vec<Markup>) {
    let name = html! { a href=(format!("/data/{}", file.name)) { (file.name) } };
    (name, vec![html! { (Bytes(file.bytes)) }, html! { (file.rows) }, html! { code { (file.hash) } }])
}

pub(crate) async fn data(State(app): Shared) -> Answer {
    let listed = app.on_a_thread(|app| app.data.as_deref().and_then(crate::data::manifest)).await?;
    let body = html! {
        h1 { "Data" }
        @match listed {
            None => p { "This server hands out no files; the API gives the same." },
            Some(manifest) => {
                p { "Of snapshot " (manifest.snapshot.number) ". Dedicated to the public domain: " a href="https://creativecommons.org/publicdomain/zero/1.0/" { "CC0 1.0" } "." }
                (table("File", &FILE_COLUMNS, manifest.files.iter().map(file_row)))
                p { a href="/data/manifest.json" { "manifest.json" } }
            },
        }
    };
    Ok(([(header::CONTENT_TYPE, HTML)], Body::from(frame("/data/", "Data", &body))).into_response())
}

pub(crate) async fn data_file(State(app): Shared, name: Of<Named>) -> Answer {
    let Named(name) = name?;
    let opened =
        app.on_a_thread(move |app| app.data.as_deref().and_then(|data| crate::data::open(data, &name))).await?;
    let (kind, file, bytes) = opened.ok_or_else(Failure::missing)?;
    let mut response = crate::data::streamed(file).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    Ok(response)
}
