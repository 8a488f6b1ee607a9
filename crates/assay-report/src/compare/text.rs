//! A comparison on a terminal.

use assay_analysis::compare::{Comparison, LoadComparison, Side};
use assay_core::text::clean;
use unicode_width::UnicodeWidthStr;

use super::answer::{overall, said_of_loads, sentence, verdict_paint, verdict_word};
use super::names;
use super::names::{about_values, comparison_method, group_letter, left_out};
use super::notes::notes;
use crate::figure::{shown, unit, with_point};
use crate::terminal::{Page, Paint, Style};
use crate::verdict::capitalised;

/// Column where figures begin.
const FIGURES: usize = 5;
/// Columns where the number of values and the points begin, unless a cell before them is wider.
const COUNTS: usize = 27;
const POINTS: usize = 42;
/// Between a wide cell and the next.
const GAP: usize = 2;

/// The answer in a sentence, the groups, the primary load, the others, and what has to be known.
#[must_use]
pub fn text(c: &Comparison, style: &Style) -> String {
    let mut page = Page::new(style.at_least_a_table());
    let (sentence, tone) = overall(c);
    page.text(tone, 0, &sentence);
    page.blank();
    for (at, info) in c.groups.iter().enumerate() {
        let role = if at == 0 { ", the reference" } else { "" };
        let text = format!("{} · {}{role}", names::group_name(info), names::group_records(info));
        page.labelled(&format!("  {}", info.letter), Paint::Bold, &text, Paint::Plain);
    }
    if let Some(load) = c.primary() {
        page.blank();
        block(&mut page, c, load);
    }
    let others: Vec<&LoadComparison> = c.loads.iter().filter(|load| !load.primary).collect();
    if !others.is_empty() {
        page.blank();
        page.rule();
        page.text(
            Paint::Dim,
            0,
            "Exploratory: the other loads, each by itself. With many loads some differ by chance; --load sets the \
             deciding one.",
        );
        for load in others {
            page.blank();
            block(&mut page, c, load);
        }
    }
    foot(&mut page, c);
    page.finish()
}

fn block(page: &mut Page, c: &Comparison, load: &LoadComparison) {
    let reference = load.sides.first().and_then(|side| side.values.first()).copied().unwrap_or(1.0);
    let (unit, divisor) = unit(load.quantity, reference);
    let mut line = page.line();
    line.push(Paint::Bold, &capitalised(&clean(&load.title)));
    line.push(Paint::Dim, &format!(" · {}", names::measured(load.quantity, unit)));
    page.add(line);
    let axis = Axis::for_load(load, c.margin);
    let figure = |side: &Side| {
        let shown = |e| if side.values.len() > 1 { with_point(e, divisor) } else { shown(e, divisor).value };
        side.estimate.as_ref().map_or_else(|| "–".to_owned(), shown)
    };
    let rows: Vec<(&Side, String, String)> =
        load.sides.iter().map(|side| (side, figure(side), names::values_counted(side))).collect();
    let counts_at = rows.iter().map(|(_, figure, _)| FIGURES + figure.width() + GAP).fold(COUNTS, usize::max);
    let points_at = rows.iter().map(|(.., count)| counts_at + count.width() + GAP).fold(POINTS, usize::max);
    let width = page.style.width.saturating_sub(points_at);
    for (side, figure, count) in rows {
        let mut line = page.line();
        line.push(Paint::Bold, &format!("  {}", group_letter(c, side.group))).to(FIGURES);
        line.push(Paint::Plain, &figure).to(counts_at);
        line.push(Paint::Dim, &count).to(points_at);
        if let Some(axis) = axis {
            line.push(Paint::Plain, &axis.strip(side, width));
        }
        page.add(line);
    }
    if let Some((low, high)) = axis.map(Axis::ends) {
        let mut line = page.line();
        let left = format!("|{}", names::axis_end(low, divisor));
        line.to(points_at).push(Paint::Dim, &left).right(
            Paint::Dim,
            &format!("{}|", names::axis_end(high, divisor)),
            page.style.width,
        );
        page.add(line);
    }
    for (marks, letters) in names::marked_groups(c, load) {
        page.text(Paint::Care, 2, &format!("{letters} {marks}"));
    }
    for pair in said_of_loads(c, load) {
        let names = (group_letter(c, pair.first), group_letter(c, pair.second));
        let said = sentence(c, load, pair, (&names.0, &names.1));
        page.text(verdict_paint(pair.verdict), 2, &format!("{}: {said}", verdict_word(pair.verdict)));
    }
}

fn foot(page: &mut Page, c: &Comparison) {
    page.blank();
    page.rule();
    if let Some(about) = about_values(c) {
        page.labelled("about", Paint::Dim, &about, Paint::Plain);
    }
    for note in notes(c) {
        page.labelled("note", Paint::Care, &note, Paint::Plain);
    }
    for line in left_out(c) {
        page.labelled("left out", Paint::Care, &line, Paint::Plain);
    }
    if !c.loads.is_empty() {
        page.labelled("method", Paint::Dim, &comparison_method(c), Paint::Plain);
        let points = "each point is a repeat, on a logarithmic axis: ◦ one, • several in a column";
        page.labelled("points", Paint::Dim, points, Paint::Plain);
    }
}

// Points on a common logarithmic axis.

/// One point, and several that fall into one column.
const NARROW_POINTS: [char; 2] = ['◦', '•'];

/// The axis of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// From the least to the greatest point, and at least twice the margin wide: what does not matter is not blown up.
    /// `None` without points.
    pub(super) fn for_load(load: &LoadComparison, margin: f64) -> Option<Self> {
        let logs: Vec<f64> = load.sides.iter().flat_map(points).map(f64::ln).collect();
        let low = logs.iter().copied().reduce(f64::min)?;
        let high = logs.iter().copied().reduce(f64::max)?;
        let (middle, half) = ((low + high) / 2.0, ((high - low) / 2.0).max(margin.ln_1p()).max(1e-6));
        Some(Self { low: middle - half, high: middle + half })
    }

    /// Values at the ends.
    pub(super) fn ends(self) -> (f64, f64) {
        (self.low.exp(), self.high.exp())
    }

    /// A line of `width` columns with the points of a group.
    pub(super) fn strip(self, side: &Side, width: usize) -> String {
        let last = width.saturating_sub(1);
        let mut counts = vec![0usize; width.max(1)];
        for point in points(side) {
            let share = (point.ln() - self.low) / (self.high - self.low);
            let column = (share * last as f64).round().clamp(0.0, last as f64) as usize;
            counts[column] += 1;
        }
        let shown = counts.iter().map(|count| match count {
            0 => ' ',
            1 => NARROW_POINTS[0],
            _ => NARROW_POINTS[1],
        });
        shown.collect()
    }
}

fn points(side: &Side) -> impl Iterator<Item = f64> + '_ {
    side.runs.iter().flat_map(|run| run.points.iter().copied()).filter(|p| *p > 0.0 && p.is_finite())
}
