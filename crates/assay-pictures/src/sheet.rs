//! The common parts of all pictures: the finding on top, the basis of the figures below it, axes, notes.

use assay_core::text::unbroken;
use assay_core::units::{figures, grouped, trimmed};

use crate::data::{BusCeiling, Label, Value, with_unit};
use crate::font;
use crate::paint::{AXIS, Anchor, BAND, CEILING, Colour, Drawing, GRID, INK, MUTE, SeriesStyle, Shape, Stroke, Text};

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

    /// Values of a vertical axis with a grid between `left` and `right`.
    pub(crate) fn upright_of(&mut self, scale: &Scale, left: f64, right: f64, most: usize) {
        for value in scale.ticks(most) {
            let y = scale.at(value);
            self.drawing.line([(left, y), (right, y)], Stroke::thin(GRID));
            self.drawing.text(left - 7.0, y + 4.0, NOTE, MUTE, Anchor::End, &tick(value));
        }
    }

    /// A vertical axis with a grid between `left` and `right`; its unit stands over it.
    pub(crate) fn upright(&mut self, scale: &Scale, left: f64, right: f64, unit: &str) {
        self.upright_of(scale, left, right, 7);
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
pub(crate) fn draw_rows(sheet: &mut Sheet, rows: &[IntervalRow], ceilings: &[BusCeiling], unit: &str) -> f64 {
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

// Axes: where a value stands, and which values are written beside it.

/// From values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    log: bool,
}

/// Values further apart than this get a logarithmic axis: more than a decade.
const LOG_FROM: f64 = 12.0;

/// A bar of less than this part of the longest is not seen.
const BARS_TO: f64 = 80.0;

impl Scale {
    /// An axis for values of 0 and more; from nought unless it spans decades.
    pub(crate) fn new(values: impl IntoIterator<Item = f64>, start: f64, end: f64) -> Self {
        let (least, most) = ends(values);
        if most / least > LOG_FROM {
            return Self { from: least / 1.25, to: most * 1.15, start, end, log: true };
        }
        Self { from: 0.0, to: most * 1.06, start, end, log: false }
    }

    /// An axis for bars: from nought, unless the shortest could not be seen.
    pub(crate) fn bars(values: impl IntoIterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let (least, most) = ends(values.clone());
        if most / least > BARS_TO {
            return Self::new(values, start, end);
        }
        Self { from: 0.0, to: most * 1.06, start, end, log: false }
    }

    /// An axis that shows differences: from nought only where values reach near it.
    pub(crate) fn close(values: impl IntoIterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let (least, most) = ends(values.clone());
        if least < most * 0.35 {
            return Self::new(values, start, end);
        }
        let pad = ((most - least) * 0.08).max(most * 0.02);
        Self { from: least - pad, to: most + pad, start, end, log: false }
    }

    /// Where a value stands, never outside the axis.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from).ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.start + share * (self.end - self.start)
    }

    /// Pixels of both ends.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.start, self.end)
    }

    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// Whether the axis begins at nought.
    pub(crate) fn begins_at_nought(&self) -> bool {
        !self.log && self.from == 0.0
    }

    /// About `most` values to write at the axis, at least two.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.log {
            for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
                let all = self.decades(factors);
                if all.len() <= most.max(2) && all.len() >= 2 {
                    return all;
                }
            }
            let all = self.decades(&[1.0]);
            let step = all.len().div_ceil(most.max(2)).max(1);
            return all.into_iter().step_by(step).collect();
        }
        let step = nice((self.to - self.from) / most.max(2) as f64);
        let first = (self.from / step).ceil();
        (0..200).map(|i| (first + f64::from(i)) * step).take_while(|v| *v <= self.to).collect()
    }

    fn decades(&self, factors: &[f64]) -> Vec<f64> {
        let (low, high) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        (low..=high)
            .flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)))
            .filter(|v| (self.from..=self.to).contains(v))
            .collect()
    }
}

/// Values outside of these stand at the ends of an axis, which itself has to be finite and above nought.
const DRAWN: std::ops::RangeInclusive<f64> = 1e-300..=1e300;

/// Smallest and largest of the finite positive values, within [`DRAWN`]; never zero.
fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values
        .into_iter()
        .filter(|v| v.is_finite() && *v > 0.0)
        .fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(v), most.max(v)));
    let drawn = |value: f64| value.clamp(*DRAWN.start(), *DRAWN.end());
    if most > 0.0 { (drawn(least), drawn(most)) } else { (1.0, 1.0) }
}

/// The next of 1, 2, 5 × 10^n.
fn nice(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * decade).find(|step| *step >= value * 0.999);
    step.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(1.0)
}

/// A value at an axis, with no more digits than it needs.
pub(crate) fn tick(value: f64) -> String {
    if (1000.0..1e15).contains(&value.abs()) { grouped(value.round() as i64) } else { trimmed(value, 4) }
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

    #[test]
    fn axes_hold_their_values_and_have_ticks() {
        for values in [vec![1.0], vec![3.0, 7.0], vec![0.02, 4000.0], vec![1e-9, 1e12], vec![], vec![f64::NAN, 5.0]] {
            for scale in [Scale::new(values.clone(), 0.0, 100.0), Scale::close(values.clone(), 0.0, 100.0)] {
                let ticks = scale.ticks(6);
                assert!((2..=14).contains(&ticks.len()), "{values:?}: {ticks:?}");
                assert!(ticks.windows(2).all(|t| t[0] < t[1]));
                for v in values.iter().chain(&ticks) {
                    assert!((0.0..=100.0).contains(&scale.at(*v)), "{v}");
                }
            }
        }
    }

    /// An end of an axis that is no finite number above nought has decades without end.
    #[test]
    fn values_at_the_ends_of_the_numbers_have_few_ticks() {
        let extreme = [f64::MIN_POSITIVE / 1e10, 1.0, f64::MAX];
        for values in [&extreme[..], &extreme[1..], &extreme[..2], &extreme[2..], &extreme[..1]] {
            let all = || values.iter().copied();
            for scale in [Scale::new(all(), 0.0, 9.0), Scale::bars(all(), 0.0, 9.0), Scale::close(all(), 0.0, 9.0)] {
                let ticks = scale.ticks(6);
                assert!((2..=14).contains(&ticks.len()), "{values:?}: {ticks:?}");
                assert!(ticks.iter().chain(values).all(|v| (0.0..=9.0).contains(&scale.at(*v))), "{values:?}");
            }
        }
    }

    #[test]
    fn a_decade_is_logarithmic_and_less_is_not() {
        assert!(Scale::new([1.0, 100.0], 0.0, 1.0).is_log());
        assert!(Scale::new([1.0, 13.0], 0.0, 1.0).is_log());
        assert!(!Scale::new([1.0, 11.0], 0.0, 1.0).is_log());
        assert!(Scale::new([50.0, 100.0], 0.0, 1.0).begins_at_nought());
        assert!(!Scale::close([90.0, 100.0], 0.0, 1.0).begins_at_nought());
        for (least, is_seen) in [(100.0, true), (13.0, true), (12.0, false)] {
            assert_eq!(Scale::bars([least, 1000.0], 0.0, 1.0).begins_at_nought(), is_seen, "{least}");
        }
        assert_eq!(Scale::new([1.0, 900.0], 0.0, 1.0).ticks(4), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!((tick(0.5), tick(20.0), tick(12_000.0)), ("0.5".into(), "20".into(), grouped(12_000)));
    }
}
