//! What all pages share: policy, style, heading and foot.

use std::collections::BTreeMap;

use assay_core::histogram::{StoredHistogram, bounds_of, bucket_of};
use assay_core::observation::Observation;
use assay_core::record::{Measurement, Record, Repeat, Sensor};
use assay_core::text::{clean, harmless, unbroken};
use assay_core::workload::Pattern;
use assay_packed::{Packed, packed};
use assay_pictures::{Decided, Drawing, Film, PictureKind, Wanted, film, on_page};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use crate::results;
use crate::verdict::Tone;

static UPLOT_JS: Packed = packed!("uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../assets/uplot/uPlot.min.css");
static SCRIPT: Packed = packed!("report.js");
static STYLE: Packed = packed!("report.css");

/// A page, without any reference to the network.
pub(crate) struct Shell {
    /// What the page is about.
    pub(crate) title: String,
    /// What kind of answer it is, in a word.
    pub(crate) kind: &'static str,
    /// Whether the body shows pictures.
    pub(crate) has_picture: bool,
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

/// The content of a page, for a server that frames it: the same as [`crate::html`] and [`crate::Document::html`] have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is about, as plain text.
    pub title: String,
    /// What kind of answer it is, in a word.
    pub kind: &'static str,
    /// Whether it shows pictures.
    pub has_picture: bool,
    /// HTML, with all that comes from elsewhere escaped.
    pub body: String,
    /// JSON from which the script draws; none where it has nothing to do. It is safe inside a `script` element.
    pub data: Option<String>,
    /// Whether the script needs the library for charts.
    pub charts: bool,
}

/// What a server hands out beside parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset {
    /// Style sheet of all pages.
    Style,
    /// Style sheet of charts.
    ChartStyle,
    /// The script of pages: charts, sliders, theme.
    Script,
    /// The library for charts.
    ChartScript,
}

impl Asset {
    /// Its text.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Style => STYLE.text(),
            Self::ChartStyle => UPLOT_CSS,
            Self::Script => SCRIPT.text(),
            Self::ChartScript => UPLOT_JS.text(),
        }
    }
}

impl Scripts {
    /// What is drawn from, and whether that needs the library for charts.
    pub(super) fn data(self) -> (Option<String>, bool) {
        match self {
            Self::None => (None, false),
            Self::Films => (Some("[]".to_owned()), false),
            Self::Charts(json) => (Some(json), true),
        }
    }
}

impl Shell {
    /// The content without the frame.
    pub(crate) fn part(self) -> Part {
        let (data, charts) = self.scripts.data();
        let body = html! { (hatch()) (self.body) p.hint { (self.footer) } };
        Part {
            title: self.title,
            kind: self.kind,
            has_picture: self.has_picture,
            body: body.into_string(),
            data,
            charts,
        }
    }

    /// The page as text.
    pub(crate) fn page(self) -> String {
        let (data, drawn) = self.scripts.data();
        let scripted = data.is_some();
        let charts = data.unwrap_or_default();
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
                    title { (said(&self.title)) " – assay " (kind) }
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
pub(super) fn pictures_section(records: &[Observation], decided: Option<Decided>) -> Markup {
    let wanted = Wanted::default().decided(decided);
    let kinds: Vec<(PictureKind, Vec<Drawing>)> =
        on_page(records, &wanted).filter(|(_, drawings)| !drawings.is_empty()).collect();
    let film = film(records, &Wanted::default()).ok();
    html! {
        @if !kinds.is_empty() {
            h2 id="pictures" { "Pictures" }
            @if let Some(film) = film { (slider(&film)) }
            @for (kind, drawings) in &kinds {
                @for drawing in drawings.iter().take(MOST) {
                    figure.picture.wide[drawing.size().0 > 900.0] tabindex="0" { (PreEscaped(drawing.inline())) }
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
        figure.picture.sweep tabindex="0" {
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

// What the charts are drawn from, as JSON inside the page.

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Charts {
    /// What the bus lets through, MB/s.
    reachable: Option<f64>,
    /// Mode of the bus.
    bus: String,
    workloads: Vec<Workload>,
    sensors: Vec<SensorData>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Workload {
    /// Whether IOPS are what people read.
    random: bool,
    block_bytes: u64,
    repeats: Vec<RepeatData>,
    /// Buckets of all repeats: lowest and highest nanosecond, count.
    histogram: Vec<(u64, u64, u64)>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RepeatData {
    seconds: f64,
    samples: Vec<SampleData>,
}

/// Middle of the interval in seconds of the repeat, its start in seconds of the run (or -1),
/// operations and bytes per second, p50 and p99 in ns.
type SampleData = (f64, f64, f64, f64, Option<u64>, Option<u64>);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SensorData {
    name: String,
    unit: String,
    /// Seconds of the run and values.
    t: Vec<f64>,
    v: Vec<f64>,
}

/// JSON that can stand in a script element: no `<` can end it or begin a comment.
pub(crate) fn json(records: &[Record]) -> String {
    let charts: Vec<Charts> = records.iter().map(charts).collect();
    serde_json::to_string(&charts).unwrap_or_else(|_| "[]".to_owned()).replace('<', "\\u003c")
}

fn charts(record: &Record) -> Charts {
    Charts {
        reachable: record.medium.reachable().map(|b| b / 1e6),
        bus: record.medium.bus.as_ref().map(|b| clean(&b.mode)).unwrap_or_default(),
        workloads: record.measurements.iter().map(workload).collect(),
        sensors: results::sensor_is_drawn(record).map(sensor).collect(),
    }
}

fn workload(m: &Measurement) -> Workload {
    Workload {
        random: m.workload.pattern_is(Pattern::Random),
        block_bytes: m.workload.block_bytes,
        repeats: m.repeats.iter().map(repeat).collect(),
        histogram: merged(m.repeats.iter().map(|r| &*r.histogram)),
    }
}

fn repeat(r: &Repeat) -> RepeatData {
    let start = r.samples.first().map(|s| s.t_ns.saturating_sub(s.interval_ns));
    let mut samples: Vec<_> = r
        .samples
        .iter()
        .filter(|s| s.interval_ns > 0)
        .map(|s| {
            let seconds = s.interval_ns as f64 / 1e9;
            let begin = s.t_ns.saturating_sub(s.interval_ns);
            let middle = begin.saturating_sub(start.unwrap_or(0)) as f64 / 1e9 + seconds / 2.0;
            (
                rounded(middle, 3),
                rounded(begin as f64 / 1e9, 3),
                rounded(s.operations as f64 / seconds, 2),
                rounded(s.bytes as f64 / seconds, 0),
                s.p50_ns.map(|v| v as u64),
                s.p99_ns.map(|v| v as u64),
            )
        })
        .collect();
    let mut seconds = r.elapsed_ns as f64 / 1e9;
    if let (Some(first), Some(last)) = (start, r.samples.last()) {
        seconds = seconds.max(last.t_ns.saturating_sub(first) as f64 / 1e9);
    }
    if samples.is_empty() {
        // Shorter than a sample: the repeat itself is the one point there is.
        samples.push((
            rounded(seconds / 2.0, 4),
            -1.0,
            rounded(r.iops, 2),
            rounded(r.bytes_per_second, 0),
            quantile(&r.histogram, 0.5),
            quantile(&r.histogram, 0.99),
        ));
    }
    RepeatData { seconds: rounded(seconds, 4), samples }
}

/// Nearest rank over the stored buckets; `None` when empty.
fn quantile(histogram: &StoredHistogram, q: f64) -> Option<u64> {
    let buckets = merged(std::iter::once(histogram));
    let total = buckets.iter().fold(0u64, |sum, b| sum.saturating_add(b.2));
    let rank = (total as f64 * q).ceil().max(1.0);
    let mut seen = 0u64;
    buckets.iter().find_map(|(low, high, count)| {
        seen = seen.saturating_add(*count);
        (seen as f64 >= rank).then_some(low / 2 + high / 2)
    })
}

/// More buckets than a screen has columns are joined.
const MOST_BUCKETS: usize = 400;

fn merged<'a>(histograms: impl Iterator<Item = &'a StoredHistogram>) -> Vec<(u64, u64, u64)> {
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for &(low, count) in histograms.flat_map(|h| &h.counts) {
        let slot = counts.entry(bucket_of(low)).or_default();
        *slot = slot.saturating_add(count);
    }
    let mut shift = 0;
    while counts.len() > MOST_BUCKETS && shift < 5 {
        shift += 1;
        let mut fewer: BTreeMap<usize, u64> = BTreeMap::new();
        for (bucket, count) in counts {
            let slot = fewer.entry(bucket / 2).or_default();
            *slot = slot.saturating_add(count);
        }
        counts = fewer;
    }
    counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(bucket, count)| (bounds_of(bucket << shift).0, bounds_of(((bucket + 1) << shift) - 1).1, count))
        .collect()
}

fn sensor(s: &Sensor) -> SensorData {
    let (unit, factor) = results::sensor_unit(s);
    let good = || s.samples.iter().filter(|(_, v)| v.is_finite());
    SensorData {
        name: harmless(&clean(&s.name)),
        unit,
        t: good().map(|(t, _)| rounded(*t as f64 / 1e9, 2)).collect(),
        v: good().map(|(_, v)| rounded(v * factor, 3)).collect(),
    }
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    if value.is_finite() { (value * scale).round() / scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use assay_core::histogram::Histogram;

    use super::*;

    #[test]
    fn joined_buckets_lose_no_operation_and_bound_every_value() {
        let mut h = Histogram::default();
        (0..30_000u64).for_each(|i| h.add(i * i));
        let stored = StoredHistogram::from(&h);
        assert!(stored.counts.len() > MOST_BUCKETS);
        let merged = merged(std::iter::once(&stored));
        assert!(merged.len() <= MOST_BUCKETS);
        assert_eq!(merged.iter().map(|b| b.2).sum::<u64>(), 30_000);
        for pair in merged.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{pair:?}");
        }
        let median = quantile(&stored, 0.5).unwrap() as f64;
        assert!((median / 225e6 - 1.0).abs() < 0.05, "{median}");
    }

    #[test]
    fn samples_of_any_length_become_rates() {
        let sample = |t_ns, interval_ns| assay_core::record::Sample {
            t_ns,
            interval_ns,
            operations: 500,
            bytes: 2_048_000,
            p50_ns: Some(7.0),
            p99_ns: None,
        };
        let drawn = repeat(&Repeat {
            elapsed_ns: 1,
            operations: 1000,
            bytes: 4_096_000,
            iops: 400.0,
            bytes_per_second: 1_638_400.0,
            issued_bytes: 4_096_000,
            in_flight: 1.0,
            samples: vec![sample(10_500_000_000, 500_000_000), sample(12_500_000_000, 2_000_000_000)],
            ..Repeat::empty("", assay_core::outcome::Outcome::Completed)
        });
        let wanted = [(0.25, 10.0, 1000.0, 4_096_000.0, Some(7), None), (1.5, 10.5, 250.0, 1_024_000.0, Some(7), None)];
        assert_eq!((drawn.seconds, drawn.samples.as_slice()), (2.5, &wanted[..]));
    }

    #[test]
    fn a_stored_histogram_from_elsewhere_never_panics() {
        let odd = StoredHistogram {
            scheme: "log2/128".into(),
            sum_ns: u64::MAX,
            min_ns: 9,
            max_ns: 3,
            counts: vec![(u64::MAX, u64::MAX), (0, u64::MAX), (7, 3)],
        };
        assert!(quantile(&odd, 0.99).is_some());
    }
}
