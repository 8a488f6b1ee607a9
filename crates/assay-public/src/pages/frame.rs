//! What all pages share.

use assay_core::text::harmless;
use assay_core::units::counted;
use assay_report::{Asset, when};
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use crate::answers::{Failure, Named};
use crate::store::Cited;

pub(super) const HTML: &str = "text/html; charset=utf-8";
const OWN_STYLE: &str = include_str!("../../assets/public.css");
/// Rows of a list on a page.
pub(super) const MOST_ROWS: usize = 500;

/// A page cannot be shown.
pub(crate) struct Missing(pub(super) Failure);

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
            StatusCode::SERVICE_UNAVAILABLE => "This takes longer: ask again in some seconds",
            _ => "This page cannot be made now",
        };
        let page = frame("", words, &html! { h1 { (words) } p { a href="/" { "Models" } } });
        let mut response = (self.0.status, [(header::CONTENT_TYPE, HTML)], Body::from(page)).into_response();
        response.headers_mut().extend(self.0.headers);
        response
    }
}

const TABS: [(&str, &str); 7] = [
    ("/", "Models"),
    ("/rank", "Ranking"),
    ("/compare", "Compare"),
    ("/hosts", "Hosts"),
    ("/log", "Log"),
    ("/data/", "Data"),
    ("/about", "About"),
];

pub(super) fn frame(tab: &str, title: &str, body: &Markup) -> String {
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

pub(super) fn cited(of: &Cited) -> Markup {
    html! { p.cited {
        "Snapshot " (of.number) " of " (when(&of.made)) ": " (many(of.records, "record")) " of " (many(of.units, "unit"))
        " at " (many(of.accounts, "account")) "."
    } }
}

/// A number of things.
pub(super) fn many(n: i64, one: &str) -> String {
    counted(usize::try_from(n).unwrap_or_default(), one)
}

/// A part of an address.
pub(super) fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

pub(super) fn link(path: &str, name: &str) -> Markup {
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
