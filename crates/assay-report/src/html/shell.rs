//! What all pages share: policy, style, heading and foot.

use assay_core::record::Record;
use assay_core::text::{harmless, unbroken};
use assay_packed::{Packed, packed};
use assay_pictures::{Decided, Drawing, Film, Kind, Wanted, film, on_page};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::verdict::Tone;

static UPLOT_JS: Packed = packed!("uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../assets/uplot/uPlot.min.css");
static SCRIPT: Packed = packed!("report.js");
static STYLE: Packed = packed!("report.css");

/// A page, without any reference to the network.
pub(crate) struct Shell<'a> {
    /// What the page is about.
    pub(crate) title: &'a str,
    /// What kind of answer it is, in a word.
    pub(crate) kind: &'a str,
    pub(crate) body: Markup,
    /// Said at the foot before what holds for all pages.
    pub(crate) footer: Markup,
    pub(crate) scripts: Scripts,
}

/// What a page needs scripts for.
pub(crate) enum Scripts {
    /// Nothing.
    None,
    /// Pictures one after the other.
    Films,
    /// The same, and charts that are drawn from JSON.
    Charts(String),
}

/// Text for a page: nothing in it hides or reorders, and no line break tears a figure from its unit. The
/// template escapes it.
pub(crate) fn said(text: &str) -> String {
    unbroken(&harmless(text))
}

/// The same for a paragraph: no line break within an option of a command, which would read as two.
pub(crate) fn prose(text: &str) -> Markup {
    let text = said(text);
    let mut rest = text.as_str();
    let mut pieces: Vec<(&str, &str)> = Vec::new();
    while let Some(at) = rest.find("--") {
        let end = rest[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '-').map_or(rest.len(), |end| at + end);
        pieces.push((&rest[..at], &rest[at..end]));
        rest = &rest[end..];
    }
    html! { @for (before, option) in pieces { (before) span.option { (option) } } (rest) }
}

/// CSS class of the tone of a record's verdict.
pub(crate) fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Care => "care",
        Tone::Bad => "bad",
    }
}

impl Shell<'_> {
    /// The page as text.
    pub(crate) fn page(self) -> String {
        let (charts, drawn, scripted) = match self.scripts {
            Scripts::None => (String::new(), false, false),
            Scripts::Films => ("[]".to_owned(), false, true),
            Scripts::Charts(json) => (json, true, true),
        };
        // Only scripts and styles that carry this nonce run. It is a hash of the whole content, so a
        // name inside the content cannot know it, and equal records make equal pages.
        let (script, style, uplot) = (SCRIPT.text(), STYLE.text(), UPLOT_JS.text());
        let hash = blake3::hash(format!("{charts}{}{script}{style}{uplot}", self.body.0).as_bytes()).to_hex();
        let nonce = hash.get(..32).unwrap_or_default();
        let scripts = if scripted { format!("script-src 'nonce-{nonce}'; ") } else { String::new() };
        let policy = format!(
            "default-src 'none'; {scripts}style-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; form-action 'none'"
        );
        let kind = self.kind.to_lowercase();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (said(self.title)) " – assay " (kind) }
                    @if drawn { style nonce=(nonce) { (PreEscaped(UPLOT_CSS)) } }
                    style nonce=(nonce) { "\n" (PreEscaped(style)) }
                }
                body id="top" {
                    header.top {
                        span.brand { "assay" }
                        span.brand-sub { (kind) }
                        @if scripted { button type="button" id="theme" hidden { "Theme: system" } }
                    }
                    @if drawn {
                        noscript { p.hint { "Charts over time need scripts; all figures and bars below do not." } }
                    }
                    (hatch())
                    main { (self.body) }
                    footer {
                        p { (self.footer) "MB is 10" sup { "6" } " bytes, MiB 2" sup { "20" } "." }
                    }
                    @if scripted {
                        script type="application/json" id="data" { (PreEscaped(&charts)) }
                        @if drawn { script nonce=(nonce) { (PreEscaped(uplot)) } }
                        script nonce=(nonce) { "\n" (PreEscaped(script)) }
                    }
                }
            }
        };
        page.into_string() + "\n"
    }
}

/// The pattern of bars that the bus limits.
fn hatch() -> Markup {
    html! {
        svg.defs aria-hidden="true" {
            defs {
                pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.base width="8" height="8" {}
                    path.stripe d="M2 0V8" {}
                }
            }
        }
    }
}

// Parts that several sections of the page are made of.

/// Terms and their descriptions; a term without one is left out.
pub(crate) fn facts<'a, N: AsRef<str> + 'a>(pairs: impl IntoIterator<Item = &'a (N, String)>) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in pairs {
                @if !value.trim().is_empty() { div { dt { (harmless(name.as_ref())) } dd { (said(value)) } } }
            }
        }
    }
}

// Pictures of several records, and the slider over block sizes.

/// Pictures of one kind; more are in `assay report --picture`.
const MOST: usize = 6;

/// `decided` is the load that the page is about: its finding stands above.
pub(super) fn pictures_section(records: &[Record], decided: Option<Decided>) -> Markup {
    let wanted = Wanted::default().decided(decided);
    let kinds: Vec<(Kind, Vec<Drawing>)> =
        on_page(records, &wanted).filter(|(_, drawings)| !drawings.is_empty()).collect();
    let film = film(records, &Wanted::default()).ok();
    html! {
        @if !kinds.is_empty() {
            h2 id="pictures" { "Pictures" }
            @if let Some(film) = film { (slider(&film)) }
            @for (kind, drawings) in &kinds {
                @for drawing in drawings.iter().take(MOST) {
                    figure.picture.wide[drawing.size().0 > 900.0] { (PreEscaped(drawing.inline())) }
                }
                @if drawings.len() > MOST {
                    p.hint {
                        (drawings.len() - MOST) " more by " code { "assay report --picture " (kind.name()) " --load …" }
                    }
                }
            }
        }
    }
}

/// All frames; a script shows one of them, and without one all are there.
pub(crate) fn slider(film: &Film) -> Markup {
    html! {
        figure.picture.sweep {
            figcaption.control hidden {
                button type="button" { "Play" }
                input type="range" min="0" max=(film.frames().count().saturating_sub(1)) value="0" step="1"
                    aria-label="Block size";
                output {}
            }
            @for (name, drawing) in film.frames() {
                div.frame data-name=(harmless(name)) { (PreEscaped(drawing.inline())) }
            }
        }
    }
}
