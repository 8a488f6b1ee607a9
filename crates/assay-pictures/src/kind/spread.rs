//! How nodes of a run are distributed: a dot for each, a row for each workload.

use assay_analysis::fleet::{FleetReport, LoadRow};
use assay_core::text::clean;
use assay_core::units::{figures, trimmed};

use super::nodes::speed;
use crate::data::{by_how_much, factor, unit};
use crate::font;
use crate::paint::{Anchor, BAND, CEILING, Drawing, GRID, INK, MUTE, PAPER, Shape, Stroke, diverging};
use crate::sheet::{EDGE, LABEL, Sheet, WIDTH, spread as apart};

/// Height of a row.
const HEIGHT: f64 = 46.0;
/// Ratios that may be written at the axis.
const TICKS: [f64; 15] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 4.0, 10.0];
/// An axis is no narrower than this on either side of the median.
const LEAST: f64 = 1.25;
/// Names beside dots, in a row.
const NAMED: usize = 4;

/// Draws the distribution over nodes; odd ones are named.
#[must_use]
pub fn spread(report: &FleetReport) -> Drawing {
    let heads: Vec<[String; 2]> = report.loads.iter().map(head).collect();
    let widest = heads.iter().flatten().map(|head| font::width(head, LABEL, false)).fold(80.0, f64::max).min(230.0);
    let described = "a dot for each node: how fast it is relative to the median of its workload, logarithmic; odd nodes \
                     are named and framed; the box holds the middle half";
    let mut sheet = Sheet::new(WIDTH, &title(report), described);
    let (left, right) = (EDGE + widest + 24.0, WIDTH - EDGE - 12.0);
    let ratios = report.loads.iter().flat_map(|load| load.figures.iter().flatten().map(move |f| speed(load, f)));
    let (mut low, mut high) = (1.0 / LEAST, LEAST);
    for ratio in ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0) {
        (low, high) = (low.min(ratio / 1.05), high.max(ratio * 1.05));
    }
    let x = |ratio: f64| {
        let share = (ratio.max(low).ln() - low.ln()) / (high.ln() - low.ln());
        left + share.clamp(0.0, 1.0) * (right - left)
    };
    let top = sheet.top + 6.0;
    let bottom = top + HEIGHT * report.loads.len() as f64;
    for row in (0..report.loads.len()).step_by(2) {
        sheet.drawing.rect(EDGE - 6.0, top + HEIGHT * row as f64, WIDTH - 2.0 * EDGE + 12.0, HEIGHT, Some(BAND), None);
    }
    axis(&mut sheet.drawing, &x, (low, high), (top, bottom));
    for (row, (load, head)) in report.loads.iter().zip(&heads).enumerate() {
        let y = top + HEIGHT * row as f64;
        let fitted = |text: &str| font::fitted(text, LABEL, widest);
        sheet.drawing.text(EDGE, y + 19.0, LABEL, INK, Anchor::Start, &fitted(&head[0]));
        sheet.drawing.text(EDGE, y + 35.0, LABEL, MUTE, Anchor::Start, &fitted(&head[1]));
        dots(&mut sheet.drawing, report, load, &x, y);
    }
    let note = "Left of ×1 is slower than the median; of latencies the ratio is inverted.".to_owned();
    sheet.finish(bottom + 26.0, &[note])
}

/// Under which load nodes differ most, and by how much those in the middle do.
fn title(report: &FleetReport) -> String {
    let ends = |load: &LoadRow| {
        let of = |at: usize| load.figures[at].as_ref().map_or(load.median.point, |figure| figure.estimate.point);
        of(load.largest) / of(load.least)
    };
    let widest = report.loads.iter().max_by(|a, b| ends(a).total_cmp(&ends(b)));
    widest.map_or_else(String::new, |load| {
        format!(
            "{} nodes differ by {} at {}, the middle half of them by {}",
            load.median.n,
            by_how_much(ends(load)),
            load.title,
            by_how_much(load.quartiles.1 / load.quartiles.0)
        )
    })
}

/// The load, and its median.
fn head(load: &LoadRow) -> [String; 2] {
    let median = load.median.point * factor(load.quantity);
    [load.title.clone(), format!("median {} {}, n = {}", figures(median), unit(load.quantity), load.median.n)]
}

fn axis(drawing: &mut Drawing, x: &impl Fn(f64) -> f64, (low, high): (f64, f64), (top, bottom): (f64, f64)) {
    let mut last = f64::MIN;
    for tick in TICKS.into_iter().filter(|tick| (low..=high).contains(tick)) {
        let at = x(tick);
        let stroke = if tick == 1.0 { Stroke::wide(MUTE, 1.4) } else { Stroke::thin(GRID) };
        drawing.line([(at, top), (at, bottom)], stroke);
        if at - last > 34.0 {
            drawing.text(at, bottom + 16.0, 11.0, MUTE, Anchor::Middle, &format!("×{}", trimmed(tick, 2)));
            last = at;
        }
    }
}

fn dots(drawing: &mut Drawing, report: &FleetReport, load: &LoadRow, x: &impl Fn(f64) -> f64, y: f64) {
    let to_median = |value: f64| {
        let ratio = value / load.median.point;
        if load.more_is_better { ratio } else { 1.0 / ratio }
    };
    let (from, to) = (x(to_median(load.quartiles.0)), x(to_median(load.quartiles.1)));
    drawing.rect(from.min(to), y + 13.0, (to - from).abs(), 26.0, None, Some(Stroke::thin(MUTE)));
    let mut named: Vec<(f64, String)> = Vec::new();
    for (at, figure) in load.figures.iter().enumerate() {
        let Some(figure) = figure else { continue };
        let ratio = speed(load, figure);
        // At heights given by their number, so that equal figures are all visible.
        let height = y + 18.0 + ((at * 7) % 17) as f64;
        let (r, stroke) = if figure.odd { (4.6, Stroke::wide(CEILING.ink, 2.0)) } else { (3.4, Stroke::thin(PAPER)) };
        let fill = if figure.odd { diverging(ratio).paper } else { INK };
        drawing.push(Shape::Circle { x: x(ratio), y: height, r, fill: Some(fill), stroke: Some(stroke) });
        if figure.odd {
            named.push((x(ratio), clean(&report.nodes[at].node)));
        }
    }
    named.truncate(NAMED);
    let wanted: Vec<f64> = named.iter().map(|(at, _)| *at).collect();
    let places = apart(&wanted, 64.0, x(0.0) + 30.0, WIDTH - EDGE - 30.0);
    for ((_, name), place) in named.iter().zip(places) {
        drawing.text(place, y + 11.0, 11.0, INK, Anchor::Middle, &font::fitted(name, 11.0, 90.0));
    }
}
