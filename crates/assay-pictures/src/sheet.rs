//! The common parts of all pictures: the finding on top, the basis of the figures below it, axes, notes.

use assay_core::text::unbroken;

use crate::font;
use crate::paint::{AXIS, CEILING, GRID, INK, MUTE};
use crate::scale::{Scale, tick};
use crate::scene::{Anchor, Drawing, Shape, Stroke, Text};

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
