//! Pages of records, of the log, of the data, and about the site. Only that of a record reads a document.

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_report::{part, when};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use maud::{Markup, PreEscaped, html};

use super::frame::{HTML, cited, frame, link};
use super::{Answer, Shared};
use crate::answers::{Asked, Failure, Named, of_snapshot, tagged};
use crate::api::shown;
use crate::intake::is_id;
use crate::snapshot::{CONFIRMED, Snapshot};
use crate::states::State as Standing;
use crate::store::{self, Kept};

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
    let entry = newest.record(&kept.id);
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
        (cited(&newest.cited))
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
