//! What all pages share.

use assay_core::text::harmless;
use assay_core::units::counted;
use assay_report::{Asset, Part, when};
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::answers::{Failure, Named, VERSION};
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
            StatusCode::BAD_REQUEST => "This address asks for what cannot be read",
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
    framed(tab, title, body, None)
}

/// A page with the scripts that a part of it draws charts with.
pub(super) fn framed(tab: &str, title: &str, body: &Markup, scripted: Option<&Part>) -> String {
    let data = scripted.and_then(|part| part.data.as_deref());
    let charts = data.is_some() && scripted.is_some_and(|part| part.charts);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (harmless(title)) " – assay" }
                @for name in charts.then_some("chart.css").into_iter().chain(["report.css", "serve.css", "public.css"]) {
                    link rel="stylesheet" href=(asset_address(name));
                }
                link rel="icon" href="data:,";
            }
            body id="top" {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "assay" }
                    @if data.is_some() { button type="button" id="theme" hidden { "Theme: system" } }
                }
                nav.tabs aria-label="Pages" {
                    @for (path, title) in TABS { a href=(path) aria-current=[(path == tab).then_some("page")] { (title) } }
                }
                main id="main" tabindex="-1" { (body) }
                footer { p { "± and brackets are 95 % intervals where nothing else is said. Data: CC0." } }
                @if let Some(data) = data {
                    script type="application/json" id="data" { (PreEscaped(data)) }
                    @for name in charts.then_some("chart.js").into_iter().chain(["report.js"]) {
                        script src=(asset_address(name)) {}
                    }
                }
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

/// What a column of a table holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Figures,
    Words,
    /// Texts that take a line of their own where the page is narrow.
    Sentences,
}

/// A table. The first cell of a row names the row. On a narrow page the cells of a row stand below each other.
pub(super) fn table(
    first: &str,
    others: &[(&str, Holds)],
    rows: impl IntoIterator<Item = (Markup, Vec<Markup>)>,
) -> Markup {
    let is_left = |holds: Holds| holds != Holds::Figures;
    html! { div.scroll { table.summary.stacked {
        thead { tr {
            th.left scope="col" { (first) }
            @for (title, holds) in others { th.left[is_left(*holds)] scope="col" { (title) } }
        } }
        tbody { @for (name, cells) in rows { tr {
            th.left scope="row" { (name) }
            @for ((title, holds), cell) in others.iter().zip(cells) {
                td.left[is_left(*holds)].short[*holds == Holds::Words] data-title=(title) { (cell) }
            }
        } } }
    } } }
}

/// A part of an address.
pub(super) fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

pub(super) fn link(path: &str, name: &str) -> Markup {
    html! { a href=(format!("{path}{}", escaped(name))) { (harmless(name)) } }
}

pub(super) fn words(text: &str) -> Markup {
    html! { (harmless(text)) }
}

/// Links in a sentence.
pub(super) fn links<T: AsRef<str>>(path: &str, names: impl IntoIterator<Item = T>) -> Markup {
    html! { @for (at, name) in names.into_iter().enumerate() { @if at > 0 { "; " } (link(path, name.as_ref())) } }
}

/// Browsers keep what they have of another version no longer than its pages.
fn asset_address(name: &str) -> String {
    format!("/assets/{name}?{VERSION}")
}

pub(crate) async fn asset(Named(name): Named) -> Response {
    const CSS: &str = "text/css; charset=utf-8";
    const JS: &str = "text/javascript; charset=utf-8";
    let (kind, text) = match name.as_str() {
        "report.css" => (CSS, Asset::Style.text()),
        "serve.css" => (CSS, assay_serve::STYLE),
        "public.css" => (CSS, OWN_STYLE),
        "chart.css" => (CSS, Asset::ChartStyle.text()),
        "chart.js" => (JS, Asset::ChartScript.text()),
        "report.js" => (JS, Asset::Script.text()),
        _ => return Missing(Failure::missing()).into_response(),
    };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, Body::from(text)).into_response()
}

pub(crate) async fn missing() -> Missing {
    Missing(Failure::missing())
}
