//! The check on the page: facts, a map as a drawing, speed over the address.

use assay_core::verification::{Method, Pass, Remark, Verification};
use maud::{Markup, html};

use super::map::{ALL, Shade, shades};
use super::words;
use crate::html::{facts, said};
use crate::presented::Presented;

const COLUMNS: usize = 64;
const ROWS: usize = 16;
/// Side of a part of the map in units of the drawing.
const SIDE: usize = 10;

/// The section of the page; nothing where nothing was checked.
pub(crate) fn html(record: &Presented<'_>) -> Markup {
    let Some(v) = &record.record.verification else { return Markup::default() };
    html! {
        section.verification {
            h2 { "Genuine or fake" }
            // Where nothing was measured the sentence stands above already.
            (facts(record.checked().iter().filter(|(name, _)| name != "Check" || !record.loads.is_empty())))
            @if !v.map.is_empty() { (map(v)) }
            @for (name, pass) in [("Writing", &v.write), ("Reading", &v.read)] {
                @if let Some(drawing) = pass.as_ref().and_then(|pass| speed(name, pass)) { (drawing) }
            }
        }
    }
}

fn class(shade: Shade) -> &'static str {
    match shade {
        Shade::Untested => "untested",
        Shade::Good => "good",
        Shade::Changed => "changed",
        Shade::Overwritten => "overwritten",
        Shade::Corrupted => "corrupted",
        Shade::Unreadable => "unreadable",
    }
}

fn map(v: &Verification) -> Markup {
    let all = shades(&v.map, COLUMNS * ROWS);
    let (width, height) = (COLUMNS * SIDE, all.len().div_ceil(COLUMNS) * SIDE);
    html! {
        figure.map {
            figcaption { "Map of " (mapped(v)) ", row by row" }
            svg viewBox={"0 0 " (width) " " (height)} role="img" aria-label=(words::counts(v)) {
                @for (at, length, shade) in stretches(&all) { (stretch(at, length, shade)) }
            }
            p.legend {
                @for shade in ALL.into_iter().filter(|shade| all.contains(shade)) {
                    span class={"key " (class(shade))} { (shade.symbol()) } " " (shade.name()) " "
                }
            }
        }
    }
}

/// The area that the map shows: a check in files covers the free space, or the requested part of it.
fn mapped(v: &Verification) -> &'static str {
    match v.method {
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
        rect class=(class(shade)) x=(x * SIDE) y=(y * SIDE) width=(length * SIDE - 1) height=(SIDE - 1) {}
        // A letter tells what colour may not.
        @if shade.lost() {
            @for part in 0..length {
                text x=((x + part) * SIDE + SIDE / 2) y=(y * SIDE + SIDE - 2) { (shade.symbol()) }
            }
        }
    }
}

fn speed(name: &str, pass: &Pass) -> Option<Markup> {
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
    let label = words::pass(pass).unwrap_or_default();
    Some(html! {
        figure.address {
            figcaption { (name) " over the address: " (said(&label)) }
            svg viewBox={"0 0 " (WIDTH) " " (HEIGHT)} preserveAspectRatio="none" role="img" aria-label=(label) {
                path.axis d={"M0 " (HEIGHT) "H" (WIDTH)} {}
                polyline points=(points.join(" ")) {}
            }
        }
    })
}
