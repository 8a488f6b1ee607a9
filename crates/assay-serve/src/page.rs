//! The frame of all pages: heads, navigation, notes and refusals.

use assay_core::text::harmless;
use assay_report::{Asset, Part};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::access::{Access, TOKEN_FIELD};
use crate::form::command_line;
use crate::program::{Answer, Refusal};

/// Where a page stands in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Media,
    Measure,
    Records,
    Rank,
    Compare,
    Advise,
    Plan,
    Fleet,
    Watch,
    Baselines,
    /// None of them.
    Outside,
    /// Before any of them.
    Login,
}

const TABS: [(Tab, &str, &str); 10] = [
    (Tab::Media, "/", "Media"),
    (Tab::Measure, "/measure", "Measure"),
    (Tab::Records, "/records", "Records"),
    (Tab::Rank, "/rank", "Rank"),
    (Tab::Compare, "/compare", "Compare"),
    (Tab::Advise, "/advise", "Advise"),
    (Tab::Plan, "/plan", "Plan"),
    (Tab::Fleet, "/fleet", "Fleet"),
    (Tab::Watch, "/watch", "Watch"),
    (Tab::Baselines, "/baselines", "Baselines"),
];

/// A page.
pub(crate) struct Page {
    pub(crate) tab: Tab,
    pub(crate) title: String,
    pub(crate) body: Markup,
    /// From what the script of reports draws; none without charts and sliders.
    pub(crate) data: Option<String>,
    /// Whether that needs the library for charts.
    pub(crate) charts: bool,
    /// Seconds after which a browser without scripts reads the page again; none for a page that stays.
    pub(crate) again: Option<u32>,
}

impl Page {
    pub(crate) fn new(tab: Tab, title: impl Into<String>, body: Markup) -> Self {
        Self { tab, title: title.into(), body, data: None, charts: false, again: None }
    }

    /// With the scripts that a part needs.
    pub(crate) fn with(mut self, part: &Part) -> Self {
        self.data = part.data.clone().or(self.data);
        self.charts |= part.charts;
        self
    }

    /// With those of an answer.
    pub(crate) fn with_answer(self, answer: &Answer) -> Self {
        let page = self.with(&answer.part);
        match &answer.slider {
            Some(slider) => page.with(slider),
            None => page,
        }
    }

    fn text(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (harmless(&self.title)) " – assay" }
                    @if self.charts { link rel="stylesheet" href="/assets/chart.css"; }
                    link rel="stylesheet" href="/assets/report.css";
                    link rel="stylesheet" href="/assets/serve.css";
                    link rel="icon" href="data:,";
                    @if let Some(seconds) = self.again { noscript { meta http-equiv="refresh" content=(seconds); } }
                }
                body id="top" {
                    a.skip href="#main" { "Skip to the content" }
                    header.top {
                        a.brand href="/" { "assay" }
                        @if self.data.is_some() { button type="button" id="theme" hidden { "Theme: system" } }
                    }
                    @if self.tab != Tab::Login {
                        nav.tabs aria-label="Pages" {
                            @for (tab, path, title) in TABS {
                                a href=(path) aria-current=[(tab == self.tab).then_some("page")] { (title) }
                            }
                        }
                    }
                    main id="main" tabindex="-1" { (self.body) }
                    footer { p { "MB is 10" sup { "6" } " bytes, MiB 2" sup { "20" } ". ± and brackets are 95 % intervals where nothing else is said." } }
                    @if let Some(data) = &self.data {
                        script type="application/json" id="data" { (PreEscaped(data)) }
                        @if self.charts { script src="/assets/chart.js" {} }
                        script src="/assets/report.js" {}
                    }
                    script src="/assets/serve.js" {}
                }
            }
        };
        page.into_string()
    }
}

impl Page {
    /// A page that says why what was filled in cannot be answered.
    pub(crate) fn refused(self) -> Response {
        as_html(StatusCode::UNPROCESSABLE_ENTITY, self.text())
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        as_html(StatusCode::OK, self.text())
    }
}

fn as_html(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], Body::from(text)).into_response()
}

/// Sends the browser on to another page of this server, with GET.
pub(crate) fn see(path: &str) -> Response {
    let place = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// Sends a browser with a new session to the first page.
pub(crate) fn logged_in(cookie: &str) -> Response {
    let mut response = see("/");
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A refusal on a page of its own.
pub(crate) fn refused(tab: Tab, refusal: &Refusal) -> Response {
    let status = if refusal.is_usage { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::INTERNAL_SERVER_ERROR };
    let page = Page::new(tab, "Refused", html! { h1 { "This cannot be done" } (said(refusal)) });
    as_html(status, page.text())
}

/// There is no such page.
pub(crate) fn missing() -> Response {
    let body = html! { h1 { "There is no such page" } p { a href="/" { "All media" } } };
    as_html(StatusCode::NOT_FOUND, Page::new(Tab::Outside, "No such page", body).text())
}

/// A refusal within a page.
pub(crate) fn said(refusal: &Refusal) -> Markup {
    html! { p.refusal role="alert" { (harmless(&refusal.message)) } }
}

/// An answer with its notes, its command and its picture; `picture` is where the picture can be had.
pub(crate) fn answered(answer: &Answer, words: &[String], picture: &str) -> Markup {
    html! {
        (PreEscaped(&answer.part.body))
        @if !answer.notes.is_empty() {
            details.folded open { summary { "Notes" } ul { @for note in &answer.notes { li { (harmless(note)) } } } }
        }
        @if let Some(drawing) = answer.picture.as_deref().filter(|_| !answer.part.has_picture) {
            figure.picture tabindex="0" { (PreEscaped(drawing)) }
        }
        @if let Some(slider) = &answer.slider { h2 { "Over block sizes" } (PreEscaped(&slider.body)) }
        @if answer.picture.is_some() { p { a href=(picture) download { "Download the picture (SVG)" } } }
        (same_command(words))
    }
}

/// What a user would type for the same answer.
pub(crate) fn same_command(words: &[String]) -> Markup {
    let line = command_line(words);
    html! {
        p.command { "The same on the command line: " code id="command" { (harmless(&line)) } " " (copy_button("command")) }
    }
}

/// Copies the text of an element; without scripts there is no button, and the text can be selected.
pub(crate) fn copy_button(of: &str) -> Markup {
    html! { button type="button" data-copy=(of) hidden { "Copy as text" } }
}

/// The hidden field of a form that changes something.
pub(crate) fn token(access: &Access) -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(access.form_token()); }
}

/// Style of navigation, forms and tables, beside that of reports.
pub const STYLE: &str = include_str!("../assets/serve.css");
const SCRIPT: &str = include_str!("../assets/serve.js");

/// A file that pages ask for, with its type.
pub(crate) fn asset(name: &str) -> Option<(&'static str, &'static str)> {
    const CSS: &str = "text/css; charset=utf-8";
    const JS: &str = "text/javascript; charset=utf-8";
    Some(match name {
        "report.css" => (CSS, Asset::Style.text()),
        "chart.css" => (CSS, Asset::ChartStyle.text()),
        "report.js" => (JS, Asset::Script.text()),
        "chart.js" => (JS, Asset::ChartScript.text()),
        "serve.css" => (CSS, STYLE),
        "serve.js" => (JS, SCRIPT),
        _ => return None,
    })
}
