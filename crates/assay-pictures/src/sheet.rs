//! The common parts of all pictures: the finding on top, the basis of the figures below it, axes, notes.

use assay_core::text::unbroken;
use assay_core::units::figures;

use crate::data::{Ceiling, Label, Value, with_unit};
use crate::font;
use crate::paint::{AXIS, BAND, CEILING, GRID, INK, MUTE, SeriesStyle};
use crate::scale::{Scale, tick};
use crate::scene::{Anchor, Colour, Drawing, Shape, Stroke, Text};

/// Usual width; on 640 px of a page the small print is still 10 px high.
pub(crate) const WIDTH: f64 = 720.0;
/// Free at each side.
pub(crate) const EDGE: f64 = 20.0;
/// Size of labels.
pub(crate) const LABEL: f64 = 12.0;
const TITLE: f64 = 17.0;
const NOTE: f64 = 11.0;

/// A picture under way.
pub(crate) struct Sheet {
    pub(crate) drawing: Drawing,
    /// Where the body begins.
    pub(crate) top: f64,
}

impl Sheet {
    pub(crate) fn new(width: f64, title: &str, description: &str) -> Self {
        let mut sheet = Self {
            drawing: Drawing {
                width,
                height: 0.0,
                title: title.to_owned(),
                description: description.to_owned(),
                shapes: Vec::new(),
            },
            top: 32.0,
        };
        for line in font::wrapped(&unbroken(title), TITLE, true, width - 2.0 * EDGE) {
            let (x, y) = (EDGE, sheet.top);
            sheet.drawing.push(Shape::Text(Text {
                x,
                y,
                size: TITLE,
                ink: INK,
                anchor: Anchor::Start,
                bold: true,
                turn: 0.0,
                text: line,
            }));
            sheet.top += TITLE * 1.3;
        }
        sheet.small(description, LABEL);
        sheet.top += 4.0;
        sheet
    }

    fn small(&mut self, text: &str, size: f64) {
        for line in font::wrapped(&unbroken(text), size, false, self.drawing.width - 2.0 * EDGE) {
            self.drawing.text(EDGE, self.top, size, MUTE, Anchor::Start, &line);
            self.top += size * 1.4;
        }
    }

    /// The picture, with notes from `bottom` on.
    pub(crate) fn finish(mut self, bottom: f64, notes: &[String]) -> Drawing {
        self.top = bottom + 16.0;
        for note in notes {
            self.small(note, NOTE);
        }
        self.drawing.height = (self.top + 2.0).ceil();
        self.drawing
    }

    /// A horizontal axis with a grid over rows between `top` and `bottom`.
    pub(crate) fn across(&mut self, scale: &Scale, top: f64, bottom: f64, unit: &str, most: usize) {
        for value in scale.ticks(most) {
            let x = scale.at(value);
            self.drawing.line([(x, top), (x, bottom)], Stroke::thin(GRID));
            self.drawing.text(x, bottom + 15.0, NOTE, MUTE, Anchor::Middle, &tick(value));
        }
        let (from, to) = scale.range();
        self.drawing.line([(from, bottom), (to, bottom)], Stroke::thin(AXIS));
        self.drawing.text(to, bottom + 31.0, NOTE, MUTE, Anchor::End, &axis_name(unit, scale));
    }

    /// A vertical axis with a grid between `left` and `right`; its unit stands over it.
    pub(crate) fn upright(&mut self, scale: &Scale, left: f64, right: f64, unit: &str) {
        for value in scale.ticks(7) {
            let y = scale.at(value);
            self.drawing.line([(left, y), (right, y)], Stroke::thin(GRID));
            self.drawing.text(left - 7.0, y + 4.0, NOTE, MUTE, Anchor::End, &tick(value));
        }
        let (_, top) = scale.range();
        self.drawing.text(EDGE, top - 9.0, NOTE, MUTE, Anchor::Start, &axis_name(unit, scale));
    }

    /// A ceiling across rows, named above them.
    pub(crate) fn ceiling_upright(&mut self, x: f64, top: f64, bottom: f64, name: &str) {
        self.drawing.line([(x, top), (x, bottom)], CEILING);
        let name = font::fitted(name, NOTE, self.drawing.width - 2.0 * EDGE - 1.0);
        let half = font::width(&name, NOTE, false) / 2.0;
        let at = x.clamp(EDGE + half, self.drawing.width - EDGE - half);
        self.drawing.text(at, top - 4.0, NOTE, CEILING.ink, Anchor::Middle, &name);
    }
}

fn axis_name(unit: &str, scale: &Scale) -> String {
    let kind = if scale.is_log() {
        ", logarithmic"
    } else if scale.begins_at_nought() {
        ""
    } else {
        ", not from 0"
    };
    format!("{unit}{kind}")
}

/// Positions at least `apart` from one another between `from` and `to`, each near the wanted one, in the same order.
pub(crate) fn spread(wanted: &[f64], apart: f64, from: f64, to: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut at = vec![0.0; wanted.len()];
    let mut least = from;
    for &i in &order {
        at[i] = wanted[i].max(least);
        least = at[i] + apart;
    }
    let mut most = to;
    for &i in order.iter().rev() {
        at[i] = at[i].min(most);
        most = at[i] - apart;
    }
    at
}

// Heads of the columns of a table of cells, turned so that long ones fit.

const HEAD_SIZE: f64 = 11.0;
/// Heads stand at 55 degrees, which still reads without turning one's own.
const HEAD_TURN: f64 = 55.0;
/// Longer ones are cut.
const LONGEST_HEAD: f64 = 250.0;

/// What stands over each column.
pub(crate) struct Heads {
    texts: Vec<String>,
    longest: f64,
}

impl Heads {
    pub(crate) fn new(texts: Vec<String>) -> Self {
        let longest =
            texts.iter().map(|head| font::width(head, HEAD_SIZE, false)).fold(0.0, f64::max).min(LONGEST_HEAD);
        Self { texts, longest }
    }

    /// Height that they take.
    pub(crate) fn rise(&self) -> f64 {
        self.longest * HEAD_TURN.to_radians().sin()
    }

    /// Width of the picture with columns of `cell` from `left` on.
    pub(crate) fn width(&self, left: f64, cell: f64) -> f64 {
        let end = |(i, head): (usize, &String)| {
            let run = font::width(head, HEAD_SIZE, false).min(self.longest) * HEAD_TURN.to_radians().cos();
            left + cell * (i + 1) as f64 + run
        };
        (self.texts.iter().enumerate().map(end).fold(WIDTH - EDGE, f64::max) + EDGE).ceil()
    }

    /// Writes one over the column of `cell` that begins at `x`, below which the cells begin at `top`.
    pub(crate) fn write(&self, drawing: &mut Drawing, column: usize, (x, top): (f64, f64), cell: f64) {
        drawing.push(Shape::Text(Text {
            x: x + cell / 2.0 + 3.0,
            y: top - 7.0,
            size: HEAD_SIZE,
            ink: INK,
            anchor: Anchor::Start,
            bold: false,
            turn: HEAD_TURN,
            text: font::fitted(&self.texts[column], HEAD_SIZE, self.longest),
        }));
    }
}

// Rows with a point, an interval and dots: what ranking and dot plot share.

/// A row to draw.
pub(crate) struct IntervalRow<'a> {
    /// Before the name: a place.
    pub(crate) lead: &'a str,
    pub(crate) label: &'a Label,
    pub(crate) value: &'a Value,
    pub(crate) repeats: &'a [f64],
    pub(crate) look: SeriesStyle,
    /// Whether a new group begins.
    pub(crate) first: bool,
}

const ROW_HEIGHT: f64 = 26.0;

/// Draws rows; returns where they end.
pub(crate) fn draw_rows(sheet: &mut Sheet, rows: &[IntervalRow], ceilings: &[Ceiling], unit: &str) -> f64 {
    let widest =
        |text: fn(&IntervalRow) -> String| rows.iter().map(|r| font::width(&text(r), LABEL, false)).fold(0.0, f64::max);
    let lead = widest(|r| r.lead.to_owned()).min(90.0);
    let names = widest(|r| r.label.to_string()).min(210.0);
    let figure = widest(|r| shown(r.value)).min(150.0);
    let name_at = EDGE + if lead > 0.0 { lead + 10.0 } else { 0.0 };
    let (left, right) = (name_at + names + 16.0, WIDTH - EDGE - figure - 14.0);
    let top = sheet.top + if ceilings.is_empty() { 4.0 } else { 18.0 };
    let bottom = top + ROW_HEIGHT * rows.len().max(1) as f64;
    let good = rows.iter().filter(|r| r.value.counts());
    let all: Vec<f64> = good
        .flat_map(|r| r.value.extent().chain(r.repeats.iter().copied()))
        .chain(ceilings.iter().map(|c| c.value))
        .collect();
    let scale = Scale::close(all.iter().copied(), left + 8.0, right - 8.0);
    for (i, _) in rows.iter().enumerate().filter(|(i, _)| i % 2 == 0) {
        sheet.drawing.rect(
            EDGE - 6.0,
            top + ROW_HEIGHT * i as f64,
            WIDTH - 2.0 * EDGE + 12.0,
            ROW_HEIGHT,
            Some(BAND),
            None,
        );
    }
    sheet.across(&scale, top, bottom, unit, 6);
    for ceiling in ceilings {
        let name = format!("{} allows {}", ceiling.name, with_unit(ceiling.value, unit));
        sheet.ceiling_upright(scale.at(ceiling.value), top, bottom, &name);
    }
    for (i, row) in rows.iter().enumerate() {
        let middle = top + ROW_HEIGHT * (i as f64 + 0.5);
        if row.first && i > 0 {
            sheet.drawing.line(
                [(EDGE - 6.0, middle - ROW_HEIGHT / 2.0), (WIDTH - EDGE + 6.0, middle - ROW_HEIGHT / 2.0)],
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

fn marks(sheet: &mut Sheet, row: &IntervalRow, scale: &Scale, middle: f64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_order() {
        let at = spread(&[50.0, 51.0, 10.0, 99.0, 98.0, 99.5], 12.0, 0.0, 100.0);
        let mut sorted = at.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 12.0 - 1e-9), "{at:?}");
        assert!(at[0] < at[1] && at[2] < at[0] && at[3] < at[5] && at[4] < at[3], "{at:?}");
        assert!(sorted[0] >= 0.0 && sorted[5] <= 100.0);
    }
}
