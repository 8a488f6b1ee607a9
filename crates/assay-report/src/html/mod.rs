//! One self-contained page: works offline, without scripts (tables and bars), and on paper.

mod compare;
mod data;
mod pictures;
mod record;
mod svg;
mod text;
mod workload;

use assay_core::record::Record;
use assay_core::text::markup;

use crate::facts;
pub(crate) use text::{fact, glued};

const UPLOT_JS: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../assets/uplot/uPlot.min.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const STYLE: &str = include_str!("../../assets/report.css");

/// The report as one HTML page, without any reference to the network.
#[must_use]
pub fn html(records: &[Record]) -> String {
    let data = data::json(records);
    // Only scripts and styles that carry this nonce run. It is a hash of the whole content, so a
    // name inside the content cannot know it, and equal records make equal pages.
    let hash = blake3::hash(format!("{data}{SCRIPT}{STYLE}{UPLOT_JS}").as_bytes()).to_hex();
    let nonce = hash.get(..32).unwrap_or_default();
    let title = match records {
        [one] => facts::title(one),
        many => format!("{} records", many.len()),
    };
    let mut body = String::new();
    if records.len() > 1 {
        compare::add(&mut body, records);
    }
    for (i, record) in records.iter().enumerate() {
        record::add(&mut body, record, i);
    }
    if records.is_empty() {
        body.push_str("<p>No records.</p>\n");
    }
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title} – assay report</title>
<style nonce="{nonce}">{UPLOT_CSS}</style>
<style nonce="{nonce}">
{STYLE}</style>
</head>
<body>
<header class="top"><span class="brand">assay</span><span class="brand-sub">report</span>
<button type="button" id="theme" hidden>Theme: system</button></header>
<noscript><p class="hint">Charts over time need scripts; all figures and bars below do without.</p></noscript>
<svg class="defs" aria-hidden="true"><defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="base" width="8" height="8"/><path class="stripe" d="M2 0V8"/></pattern></defs></svg>
<main>
{body}</main>
<footer><p>± and brackets are confidence intervals over repeats; the level and the number of repeats stand with the figures. MB is 10<sup>6</sup> bytes, MiB 2<sup>20</sup>. Charts: hover or use the arrow keys, drag to zoom, double-click or Esc to reset.</p></footer>
<script type="application/json" id="data">{data}</script>
<script nonce="{nonce}">{UPLOT_JS}</script>
<script nonce="{nonce}">
{SCRIPT}</script>
</body>
</html>
"#,
        title = markup(&title),
    )
}
