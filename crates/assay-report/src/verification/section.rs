//! The check on a terminal's card.

use assay_core::verification::{Method, Offsets, Pass, Remark, Verification};
use maud::{Markup, html};

use super::words;
use super::words::{ALL_SHADES, Part, Shade, shades};
use crate::html::{facts, said};
use crate::presented::Presented;
use crate::terminal::{Page, Paint, VALUES};

/// Rows of the map at most.
const ROWS: usize = 4;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(crate) fn check_on_card(page: &mut Page, record: &Presented<'_>) {
    if !record.check.is_empty() && !record.loads.is_empty() {
        page.blank();
    }
    for part in &record.check {
        match part {
            Part::Fact(fact) => fact.line(page),
            Part::Map => record.record.verification.iter().for_each(|v| map_lines(page, v)),
            Part::Curve(rates) => curve(page, rates),
        }
    }
}

fn map_lines(page: &mut Page, v: &Verification) {
    let width = page.style.width.saturating_sub(VALUES).max(1);
    let all = shades(&v.map, width * ROWS);
    for (row, shades) in all.chunks(width).enumerate() {
        let mut line = page.line();
        if row == 0 {
            line.push(Paint::Dim, "map");
        }
        line.to(VALUES);
        for same in shades.chunk_by(|a, b| a == b) {
            let symbol = match same[0] {
                Shade::Good if page.style.unicode => '█',
                shade => shade.symbol(),
            };
            line.push(shade_paint(same[0]), &symbol.to_string().repeat(same.len()));
        }
        page.add(line);
    }
    let seen = ALL_SHADES.into_iter().filter(|shade| all.contains(shade));
    let key = |shade: Shade| {
        let symbol = if shade == Shade::Good && page.style.unicode { '█' } else { shade.symbol() };
        format!("{symbol} {}", shade.name())
    };
    let legend: Vec<String> = seen.map(key).chain(words::in_files(v).map(str::to_owned)).collect();
    page.labelled("", Paint::Dim, &legend.join("  "), Paint::Dim);
}

fn shade_paint(shade: Shade) -> Paint {
    match shade {
        Shade::Good => Paint::Good,
        Shade::Untested => Paint::Dim,
        _ => Paint::Bad,
    }
}

/// Speed over the address as a row of bars from zero to the largest.
fn curve(page: &mut Page, rates: &[f64]) {
    let width = page.style.width.saturating_sub(VALUES).max(1);
    let top = rates.iter().copied().fold(0.0, f64::max);
    if !page.style.unicode || rates.len() < 2 || top <= 0.0 {
        return;
    }
    let columns = width.min(rates.len());
    let bar = |column: usize| {
        let part = &rates[column * rates.len() / columns..(column + 1) * rates.len() / columns];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        BLOCKS[((mean / top * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    let mut line = page.line();
    line.to(VALUES).push(Paint::Dim, &(0..columns).map(bar).collect::<String>());
    page.add(line);
}

// The check on the page: facts, a map as a drawing, speed over the address.

const COLUMNS: usize = 64;
const DRAWN_ROWS: usize = 16;
/// Side of a part of the map in units of the drawing.
const SIDE: usize = 10;

/// The section of the page; nothing where nothing was checked.
pub(crate) fn check_on_page(record: &Presented<'_>) -> Markup {
    let Some(v) = &record.record.verification else { return Markup::default() };
    html! {
        section.verification {
            h2 { "Genuine or fake" }
            // Where nothing was measured the sentence stands above already.
            (facts(record.checked().iter().filter(|(name, _)| name != "Check" || !record.loads.is_empty())))
            @if !v.map.is_empty() { (drawn_map(v)) }
            @for (name, pass) in [("Writing", &v.write), ("Reading", &v.read)] {
                @if let Some(drawing) = pass.as_ref().and_then(|pass| speed(v, name, pass)) { (drawing) }
            }
        }
    }
}

fn shade_class(shade: Shade) -> &'static str {
    match shade {
        Shade::Untested => "untested",
        Shade::Good => "good",
        Shade::Changed => "changed",
        Shade::Overwritten => "overwritten",
        Shade::Corrupted => "corrupted",
        Shade::Unreadable => "unreadable",
    }
}

fn drawn_map(v: &Verification) -> Markup {
    let all = shades(&v.map, COLUMNS * DRAWN_ROWS);
    let (width, height) = (COLUMNS * SIDE, all.len().div_ceil(COLUMNS) * SIDE);
    html! {
        figure.map {
            figcaption { "Map of " (mapped(v)) @if let Some(words) = words::in_files(v) { " " (words) } ", row by row" }
            svg viewBox={"0 0 " (width) " " (height)} role="img" aria-label=(words::counts(v)) {
                @for (at, length, shade) in stretches(&all) { (stretch(at, length, shade)) }
            }
            p.legend {
                @for shade in ALL_SHADES.into_iter().filter(|shade| all.contains(shade)) {
                    span class={"key " (shade_class(shade))} { (shade.symbol()) } " " (shade.name()) " "
                }
            }
        }
    }
}

/// The area that the map shows: the device, or where addresses are not known the free space, or the requested part of it.
fn mapped(v: &Verification) -> &'static str {
    match v.method {
        Method::Full if v.offsets == Offsets::Device => "the medium, from its beginning",
        Method::Full if v.remarks.contains(&Remark::OnlyRead) => "the files that were read",
        Method::Full if v.checked_bytes < v.announced_bytes => "the part of the free space that was checked",
        Method::Full | Method::QuickMounted => "the free space",
        Method::QuickProbe | Method::Other => "the medium, from its beginning",
    }
}

/// Equal parts next to each other in a row: the first, how many, and what they are.
fn stretches(all: &[Shade]) -> Vec<(usize, usize, Shade)> {
    let (mut at, mut found) = (0, Vec::new());
    for same in all.chunk_by(|a, b| a == b) {
        let end = at + same.len();
        while at < end {
            let length = (end - at).min(COLUMNS - at % COLUMNS);
            found.push((at, length, same[0]));
            at += length;
        }
    }
    found
}

fn stretch(at: usize, length: usize, shade: Shade) -> Markup {
    let (x, y) = (at % COLUMNS, at / COLUMNS);
    html! {
        rect class=(shade_class(shade)) x=(x * SIDE) y=(y * SIDE) width=(length * SIDE - 1) height=(SIDE - 1) {}
        // A letter tells what colour may not.
        @if shade.lost() {
            @for part in 0..length {
                text x=((x + part) * SIDE + SIDE / 2) y=(y * SIDE + SIDE - 2) { (shade.symbol()) }
            }
        }
    }
}

fn speed(v: &Verification, name: &str, pass: &Pass) -> Option<Markup> {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 120.0;
    let rates = words::rates(pass);
    let top = rates.iter().copied().fold(0.0, f64::max);
    if rates.len() < 2 || top <= 0.0 {
        return None;
    }
    let x = |i: usize| i as f64 / (rates.len() - 1) as f64 * WIDTH;
    let points: Vec<String> = rates
        .iter()
        .enumerate()
        .map(|(i, rate)| format!("{:.1},{:.1}", x(i), HEIGHT - rate / top * (HEIGHT - 6.0)))
        .collect();
    let label = words::pass(v, pass).unwrap_or_default();
    Some(html! {
        figure.address {
            figcaption { (name) " " (words::along(v)) ": " (said(&label)) }
            svg viewBox={"0 0 " (WIDTH) " " (HEIGHT)} preserveAspectRatio="none" role="img" aria-label=(label) {
                path.axis d={"M0 " (HEIGHT) "H" (WIDTH)} {}
                polyline points=(points.join(" ")) {}
            }
        }
    })
}
