//! The check on the page: facts, a map as a drawing, speed over the address.

use assay_core::record::Record;
use assay_core::text::markup;
use assay_core::verification::{Pass, Verification};

use super::map::{ALL, Shade, shades};
use super::words;
use crate::html::fact;

const COLUMNS: usize = 64;
const ROWS: usize = 16;
/// Side of a part of the map in units of the drawing.
const SIDE: usize = 10;

/// Adds the section.
pub(crate) fn html(out: &mut String, record: &Record) {
    let Some(v) = &record.verification else { return };
    out.push_str("<section class=\"verification\"><h2>Genuine or fake</h2>\n<dl class=\"facts\">\n");
    // The sentence stands above already.
    for (name, words) in words::facts(record).into_iter().skip(1) {
        fact(out, name, &words);
    }
    out.push_str("</dl>\n");
    if !v.map.is_empty() {
        map(out, v);
    }
    for (name, pass) in [("Writing", &v.write), ("Reading", &v.read)] {
        if let Some(pass) = pass {
            speed(out, name, pass);
        }
    }
    out.push_str("</section>\n");
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

fn map(out: &mut String, v: &Verification) {
    let all = shades(&v.map, COLUMNS * ROWS);
    let rows = all.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS * SIDE, rows * SIDE);
    out.push_str(&format!(
        "<figure class=\"map\"><figcaption>Map of the medium, from its beginning row by row</figcaption><svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
        markup(&words::counts(v))
    ));
    let mut at = 0;
    for same in all.chunk_by(|a, b| a == b) {
        // A run of equal parts is drawn row by row.
        let end = at + same.len();
        while at < end {
            let (x, y) = (at % COLUMNS, at / COLUMNS);
            let length = (end - at).min(COLUMNS - x);
            out.push_str(&format!(
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                class(same[0]),
                x * SIDE,
                y * SIDE,
                length * SIDE - 1,
                SIDE - 1
            ));
            // A letter tells what colour may not.
            if same[0].lost() {
                for part in 0..length {
                    out.push_str(&format!(
                        "<text x=\"{}\" y=\"{}\">{}</text>",
                        (x + part) * SIDE + SIDE / 2,
                        y * SIDE + SIDE - 2,
                        same[0].symbol()
                    ));
                }
            }
            at += length;
        }
    }
    out.push_str("</svg><p class=\"legend\">");
    for shade in ALL.into_iter().filter(|shade| all.contains(shade)) {
        out.push_str(&format!(
            "<span class=\"key {}\">{}</span> {} ",
            class(shade),
            shade.symbol(),
            markup(shade.name())
        ));
    }
    out.push_str("</p></figure>\n");
}

fn speed(out: &mut String, name: &str, pass: &Pass) {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 120.0;
    let rates = words::rates(pass);
    let top = rates.iter().copied().fold(0.0, f64::max);
    if rates.len() < 2 || top <= 0.0 {
        return;
    }
    let x = |i: usize| i as f64 / (rates.len() - 1) as f64 * WIDTH;
    let points: Vec<String> = rates
        .iter()
        .enumerate()
        .map(|(i, rate)| format!("{:.1},{:.1}", x(i), HEIGHT - rate / top * (HEIGHT - 6.0)))
        .collect();
    let label = words::pass(pass).unwrap_or_default();
    out.push_str(&format!(
        "<figure class=\"address\"><figcaption>{name} over the address: {}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\"><path class=\"axis\" d=\"M0 {HEIGHT}H{WIDTH}\"/><polyline points=\"{}\"/></svg></figure>\n",
        markup(&label),
        markup(&label),
        points.join(" ")
    ));
}
