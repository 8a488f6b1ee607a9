//! Rows with a point, an interval and dots: what ranking and dot plot share.

use assay_core::units::figures;

use crate::data::{Ceiling, Value, with_unit};
use crate::font;
use crate::label::Label;
use crate::paint::{BAND, INK, MUTE, SeriesStyle};
use crate::scale::Scale;
use crate::scene::{Anchor, Colour, Shape, Stroke};
use crate::sheet::{EDGE, LABEL, Sheet, WIDTH};

/// A row to draw.
pub(crate) struct Row<'a> {
    /// Before the name: a place.
    pub(crate) lead: &'a str,
    pub(crate) label: &'a Label,
    pub(crate) value: &'a Value,
    pub(crate) repeats: &'a [f64],
    pub(crate) look: SeriesStyle,
    /// Whether a new group begins.
    pub(crate) first: bool,
}

const HEIGHT: f64 = 26.0;

/// Draws rows; returns where they end.
pub(crate) fn draw(sheet: &mut Sheet, rows: &[Row], ceilings: &[Ceiling], unit: &str) -> f64 {
    let widest =
        |text: fn(&Row) -> String| rows.iter().map(|r| font::width(&text(r), LABEL, false)).fold(0.0, f64::max);
    let lead = widest(|r| r.lead.to_owned()).min(90.0);
    let names = widest(|r| r.label.to_string()).min(210.0);
    let figure = widest(|r| shown(r.value)).min(150.0);
    let name_at = EDGE + if lead > 0.0 { lead + 10.0 } else { 0.0 };
    let (left, right) = (name_at + names + 16.0, WIDTH - EDGE - figure - 14.0);
    let top = sheet.top + if ceilings.is_empty() { 4.0 } else { 18.0 };
    let bottom = top + HEIGHT * rows.len().max(1) as f64;
    let good = rows.iter().filter(|r| r.value.counts());
    let all: Vec<f64> = good
        .flat_map(|r| r.value.extent().chain(r.repeats.iter().copied()))
        .chain(ceilings.iter().map(|c| c.value))
        .collect();
    let scale = Scale::close(all.iter().copied(), left + 8.0, right - 8.0);
    for (i, _) in rows.iter().enumerate().filter(|(i, _)| i % 2 == 0) {
        sheet.drawing.rect(EDGE - 6.0, top + HEIGHT * i as f64, WIDTH - 2.0 * EDGE + 12.0, HEIGHT, Some(BAND), None);
    }
    sheet.across(&scale, top, bottom, unit, 6);
    for ceiling in ceilings {
        let name = format!("{} allows {}", ceiling.name, with_unit(ceiling.value, unit));
        sheet.ceiling_upright(scale.at(ceiling.value), top, bottom, &name);
    }
    for (i, row) in rows.iter().enumerate() {
        let middle = top + HEIGHT * (i as f64 + 0.5);
        if row.first && i > 0 {
            sheet.drawing.line(
                [(EDGE - 6.0, middle - HEIGHT / 2.0), (WIDTH - EDGE + 6.0, middle - HEIGHT / 2.0)],
                Stroke::thin(MUTE),
            );
        }
        sheet.drawing.text(EDGE + lead, middle + 4.0, LABEL, MUTE, Anchor::End, &font::fitted(row.lead, LABEL, 90.0));
        let name = row.label.fitted(LABEL, 210.0);
        sheet.drawing.text(name_at, middle + 4.0, LABEL, INK, Anchor::Start, &name);
        marks(sheet, row, &scale, middle);
        let ink = if row.value.counts() { INK } else { MUTE };
        sheet.drawing.text(WIDTH - EDGE, middle + 4.0, LABEL, ink, Anchor::End, &shown(row.value));
    }
    bottom + 36.0
}

fn marks(sheet: &mut Sheet, row: &Row, scale: &Scale, middle: f64) {
    if !row.value.counts() {
        return;
    }
    let many = row.repeats.len() > 1;
    if let Some((low, high)) = row.value.interval {
        let (low, high) = (scale.at(low), scale.at(high));
        sheet.drawing.line([(low, middle), (high, middle)], Stroke::wide(row.look.ink, 2.0));
        for x in [low, high] {
            sheet.drawing.line([(x, middle - 4.0), (x, middle + 4.0)], Stroke::wide(row.look.ink, 1.4));
        }
    }
    if many {
        for (i, repeat) in row.repeats.iter().enumerate() {
            // At different heights, so that equal repeats are all visible.
            let y = middle + [-6.0, 6.0, -2.0, 2.0][i % 4];
            let (fill, stroke) = (None::<Colour>, Some(Stroke::wide(INK, 1.1)));
            sheet.drawing.push(Shape::Circle { x: scale.at(*repeat), y, r: 2.8, fill, stroke });
        }
    }
    row.look.marker(&mut sheet.drawing, scale.at(row.value.point), middle, row.value.bounded());
}

/// `22.8 ±0.1`, `≥ 22.8`, or `invalid`.
fn shown(value: &Value) -> String {
    if !value.counts() {
        return "not drawn".to_owned();
    }
    let point = figures(value.point);
    let bound = if value.bounded() { "≥ " } else { "" };
    match value.interval {
        Some((low, high)) if low < high => format!("{bound}{point} [{}–{}]", figures(low), figures(high)),
        _ => format!("{bound}{point}"),
    }
}
