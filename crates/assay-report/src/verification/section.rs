//! The check on a terminal's card.

use assay_core::record::Record;
use assay_core::text::{clean, statement};
use assay_core::units::{Bytes, capacity};
use assay_core::verification::{Method, Verdict, Verification};

use super::map::{ALL, Shade, shades};
use super::words;
use crate::line::{Page, Paint, VALUES};

/// Rows of the map at most.
const ROWS: usize = 4;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(crate) fn add(page: &mut Page, record: &Record) {
    let Some(v) = &record.verification else { return };
    if !record.measurements.is_empty() {
        page.blank();
    }
    let paint = match v.verdict {
        Verdict::Genuine => Paint::Good,
        Verdict::Fake | Verdict::Damaged | Verdict::Failed => Paint::Bad,
        Verdict::Undecided | Verdict::Other => Paint::Care,
    };
    page.labelled("check", Paint::Dim, &statement(&v.sentence), paint);
    page.labelled("capacity", Paint::Dim, &sizes(v), Paint::Plain);
    page.labelled("sectors", Paint::Dim, &words::counts(v), Paint::Plain);
    if let Some(first) = &v.first_error {
        page.labelled("first", Paint::Dim, &words::first_error(first), Paint::Plain);
    }
    if !v.map.is_empty() {
        map(page, v);
    }
    for (label, pass) in [("write", &v.write), ("read", &v.read)] {
        if let Some(pass) = pass
            && let Some(text) = words::pass(pass)
        {
            page.labelled(label, Paint::Dim, &text, Paint::Plain);
            curve(page, &words::rates(pass));
        }
    }
    page.labelled("proof", Paint::Dim, &clean(&v.read_back), Paint::Plain);
    if let Some(bytes) = v.cache_bytes {
        page.labelled(
            "cache",
            Paint::Dim,
            &format!("{} of the medium's own, which hid losses", Bytes(bytes)),
            Paint::Plain,
        );
    }
    for (label, text) in [("holds", words::holds(v)), ("reach", words::reach(v))] {
        if let Some(text) = text {
            page.labelled(label, Paint::Dim, &text, Paint::Plain);
        }
    }
}

fn sizes(v: &Verification) -> String {
    let real = match v.real_bytes {
        Some(bytes) if bytes == v.announced_bytes && v.checked_bytes >= bytes => ", all of it real".to_owned(),
        Some(bytes) if bytes == v.announced_bytes => ", nothing missing where it was tested".to_owned(),
        Some(bytes) => format!(", {} ({}) real", Bytes(bytes), capacity(bytes)),
        None => match (v.real_low_bytes, v.real_high_bytes) {
            (None, None) => String::new(),
            (low, high) => {
                format!(", {} to {} real", Bytes(low.unwrap_or(0)), Bytes(high.unwrap_or(v.announced_bytes)))
            }
        },
    };
    let checked = if v.checked_bytes == v.announced_bytes {
        "all checked".to_owned()
    } else {
        format!("{} checked", Bytes(v.checked_bytes))
    };
    // A check in files sees free space, not what the medium announces.
    let what = match v.method {
        Method::Full | Method::QuickMounted => "of free space",
        Method::QuickProbe | Method::Other => "announced",
    };
    format!("{} {what}{real}; {checked}", Bytes(v.announced_bytes))
}

fn map(page: &mut Page, v: &Verification) {
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
            line.push(paint(same[0]), &symbol.to_string().repeat(same.len()));
        }
        page.add(line);
    }
    let seen = ALL.into_iter().filter(|shade| all.contains(shade));
    let legend: Vec<String> = seen
        .map(|shade| {
            let symbol = if shade == Shade::Good && page.style.unicode { '█' } else { shade.symbol() };
            format!("{symbol} {}", shade.name())
        })
        .collect();
    page.labelled("", Paint::Dim, &legend.join("  "), Paint::Dim);
}

fn paint(shade: Shade) -> Paint {
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
