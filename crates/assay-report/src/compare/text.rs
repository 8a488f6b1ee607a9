//! A comparison on a terminal.

use assay_analysis::compare::{Comparison, LoadComparison};
use assay_core::text::clean;

use super::answer::{overall, paint, said, sentence, word};
use super::left_out::{about, left_out};
use super::names::{self, letter, method};
use super::strip::Axis;
use crate::figure::{shown, unit, with_point};
use crate::line::{Page, Paint};
use crate::style::Style;
use crate::verdict::capitalised;

/// Column where the number of values begins.
const COUNTS: usize = 27;
/// Column where the points begin.
const POINTS: usize = 42;

/// The answer in a sentence, the groups, the primary load, the others, and what has to be known.
#[must_use]
pub fn text(c: &Comparison, style: &Style) -> String {
    let mut page = Page::new(style.at_least_a_table());
    let (sentence, tone) = overall(c);
    page.text(tone, 0, &sentence);
    page.blank();
    for (at, info) in c.groups.iter().enumerate() {
        let role = if at == 0 { ", the reference" } else { "" };
        let text = format!("{} · {}{role}", names::group(info), names::records(info));
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
    let axis = Axis::of(load, c.margin);
    let width = page.style.width.saturating_sub(POINTS);
    for side in &load.sides {
        let mut line = page.line();
        line.push(Paint::Bold, &format!("  {}", letter(c, side.group))).to(5);
        let figure = side.estimate.as_ref().map_or_else(
            || "–".to_owned(),
            |e| if e.low.is_some() { with_point(e, divisor) } else { shown(e, divisor).value },
        );
        line.push(Paint::Plain, &figure).push(Paint::Plain, " ").to(COUNTS);
        line.push(Paint::Dim, &names::n(side)).push(Paint::Plain, " ").to(POINTS);
        if let Some(axis) = axis {
            line.push(Paint::Plain, &axis.strip(side, width));
        }
        page.add(line);
    }
    if let Some((low, high)) = axis.map(Axis::ends) {
        let mut line = page.line();
        let left = format!("|{}", names::end(low, divisor));
        line.to(POINTS).push(Paint::Dim, &left).right(
            Paint::Dim,
            &format!("{}|", names::end(high, divisor)),
            page.style.width,
        );
        page.add(line);
    }
    for (marks, letters) in names::marked(c, load) {
        page.text(Paint::Care, 2, &format!("{letters} {marks}"));
    }
    for pair in said(c, load) {
        let names = (letter(c, pair.first), letter(c, pair.second));
        let said = sentence(c, load, pair, (&names.0, &names.1));
        page.text(paint(pair.verdict), 2, &format!("{}: {said}", word(pair.verdict)));
    }
}

fn foot(page: &mut Page, c: &Comparison) {
    page.blank();
    page.rule();
    if let Some(about) = about(c) {
        page.labelled("about", Paint::Dim, &about, Paint::Plain);
    }
    for note in &c.notes {
        page.labelled("note", Paint::Care, &note.to_string(), Paint::Plain);
    }
    for line in left_out(c) {
        page.labelled("left out", Paint::Care, &line, Paint::Plain);
    }
    if !c.loads.is_empty() {
        page.labelled("method", Paint::Dim, &method(c), Paint::Plain);
        let points = "each point is a repeat, on a logarithmic axis: ◦ one, • several in a column";
        page.labelled("points", Paint::Dim, points, Paint::Plain);
    }
}
