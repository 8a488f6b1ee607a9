//! The check on a terminal's card.

use assay_core::verification::Verification;

use super::map::{ALL, Shade, shades};
use super::words::Part;
use crate::line::{Page, Paint, VALUES};
use crate::presented::Presented;

/// Rows of the map at most.
const ROWS: usize = 4;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(crate) fn add(page: &mut Page, record: &Presented<'_>) {
    if !record.check.is_empty() && !record.loads.is_empty() {
        page.blank();
    }
    for part in &record.check {
        match part {
            Part::Fact(fact) => fact.line(page),
            Part::Map => record.record.verification.iter().for_each(|v| map(page, v)),
            Part::Curve(rates) => curve(page, rates),
        }
    }
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
