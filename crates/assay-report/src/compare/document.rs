//! A comparison as a document: the answer, a picture of the load that it is about, groups, loads, notes.

use assay_analysis::Mark;
use assay_analysis::compare::{Comparison, DoubtCause, Gate, GroupFigure, GroupInfo, LoadComparison, Note, Pair};
use assay_core::estimate::Estimate;
use assay_core::finding::Cause;
use assay_core::text::{clean, statement};
use assay_pictures::{Drawing, Label, RankRow, Ranking, Value, ranking};
use unicode_width::UnicodeWidthStr;

use super::answer::{
    about_values, comparison_method, group_letter, left_out, overall, said_of_loads, sentence, title, verdict_paint,
    verdict_word, winning_side,
};
use super::{answer, gate};
use crate::caveats::listed_names;
use crate::change::is_useless;
use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right};
use crate::headline::{shown, unit, with_point};
use crate::terminal::{Page, Paint, Style};
use crate::verdict::capitalised;

/// Everything that the comparison says, and whether it keeps the limits that were set.
#[must_use]
pub fn document(c: &Comparison, gate: Option<&Gate>) -> Document {
    let heading = c.primary().map(|load| format!("Groups under {}", clean(&load.title))).unwrap_or_default();
    let mut blocks: Vec<Block> =
        titled(c, heading).map(|drawing| Block::Picture(Box::new(drawing))).into_iter().collect();
    blocks.extend(gate.into_iter().flat_map(|gate| gate::blocks(c, gate)));
    blocks.push(Block::Table(groups(c)));
    if !c.loads.is_empty() {
        blocks.push(Block::Table(loads(c)));
    }
    let mut items: Vec<(String, String)> = Vec::new();
    let mut add = |label: &str, text: String| items.push((label.to_owned(), text));
    about_values(c).into_iter().for_each(|text| add("about", text));
    notes(c).into_iter().for_each(|note| add("note", statement(&note)));
    left_out(c).into_iter().for_each(|line| add("left out", line));
    if !c.loads.is_empty() {
        add("method", comparison_method(c));
    }
    blocks.push(Block::Items(items));
    let about =
        c.primary().map_or_else(|| "Comparison".to_owned(), |load| format!("Comparison: {}", clean(&load.title)));
    Document { kind: "Comparison", about, finding: overall(c).0, blocks, data: data(c) }
}

fn groups(c: &Comparison) -> Table {
    let row = |(at, info): (usize, &GroupInfo)| -> TableRow {
        let ids: Vec<String> = info.records.iter().map(|id| clean(id)).collect();
        let role = if at == 0 { "reference" } else { "" };
        [Cell::with(info.letter, role), answer::group_title(c, info).into(), ids.join(", ").into()].into()
    };
    Table {
        caption: String::new(),
        columns: vec![left("group"), left("medium"), left("records")],
        rows: c.groups.iter().enumerate().map(row).collect(),
    }
}

/// A row for each load, the primary one first.
fn loads(c: &Comparison) -> Table {
    let mut columns = vec![left("load"), left("unit")];
    columns.extend(c.groups.iter().map(|info| right(info.letter)));
    columns.push(left("answer"));
    let (primary, others): (Vec<_>, Vec<_>) = c.loads.iter().partition(|load| load.primary);
    let mut rows: Vec<TableRow> = primary.into_iter().map(|load| row(c, load)).collect();
    if !others.is_empty() {
        rows.push(TableRow::Heading("Exploratory: with many loads some differ by chance".to_owned()));
    }
    rows.extend(others.into_iter().map(|load| row(c, load)));
    Table { caption: String::new(), columns, rows }
}

fn row(c: &Comparison, load: &LoadComparison) -> TableRow {
    let reference = load.sides.first().and_then(|side| side.values.first()).copied().unwrap_or(1.0);
    let (unit, divisor) = unit(load.quantity, reference);
    let mut cells: Vec<Cell> = vec![clean(&load.title).into(), answer::measured(load.quantity, unit).into()];
    cells.extend(
        (0..c.groups.len()).map(|group| winning_side(load, group).map_or_else(|| "–".into(), |s| figure(s, divisor))),
    );
    let answers: Vec<String> = said_of_loads(c, load).map(|pair| answer(c, load, pair)).collect();
    cells.push(answers.join(". ").into());
    TableRow::Cells(cells)
}

fn figure(side: &GroupFigure, divisor: f64) -> Cell {
    let Some(estimate) = side.estimate.as_ref() else { return "–".into() };
    let marks = answer::side_marks(side);
    let marks = if marks.is_empty() { marks } else { format!("; {marks}") };
    Cell::with(without_count(side, estimate, divisor), format!("({}{marks})", answer::values_counted(side)))
}

/// The figure of a side. How many values it has stands beside it.
fn without_count(side: &GroupFigure, estimate: &Estimate, divisor: f64) -> String {
    let has_interval = side.values.len() > 1 && estimate.low.is_some() && estimate.high.is_some();
    if has_interval { with_point(estimate, divisor) } else { shown(estimate, divisor).value }
}

fn answer(c: &Comparison, load: &LoadComparison, pair: &Pair) -> String {
    let names = (group_letter(c, pair.first), group_letter(c, pair.second));
    format!("{}: {}", verdict_word(pair.verdict), sentence(c, load, pair, (&names.0, &names.1)))
}

/// The groups under the primary load, with the finding in a line as title; `None` where there is no such load.
#[must_use]
pub fn picture(c: &Comparison) -> Option<Drawing> {
    titled(c, title(c))
}

fn titled(c: &Comparison, title: String) -> Option<Drawing> {
    let load = c.primary()?;
    let reference = load.sides.first().and_then(|side| side.values.first()).copied().unwrap_or(1.0);
    let (unit, divisor) = unit(load.quantity, reference);
    let row = |side: &GroupFigure| {
        let e = side.estimate.as_ref()?;
        let info = c.groups.get(side.group)?;
        let value = Value {
            point: e.point / divisor,
            // A bar over many decades would press all figures together.
            interval: e
                .low
                .zip(e.high)
                .filter(|(low, high)| !is_useless(*low, *high))
                .map(|(low, high)| (low / divisor, high / divisor)),
            level: e.level,
            n: e.n,
            marks: side.marks.iter().copied().filter(|mark| *mark != Mark::Published).collect(),
        };
        let hue = c.groups.iter().position(|other| other.models.first() == info.models.first()).unwrap_or_default();
        Some(RankRow {
            place: info.letter.to_string(),
            label: Label::without_unit(answer::group_title(c, info)),
            hue,
            value,
        })
    };
    let rows: Vec<RankRow> = load.sides.iter().filter_map(row).collect();
    let drawn = Ranking {
        title: Some(title),
        load: clean(&load.title),
        unit: unit.to_owned(),
        rows,
        ceilings: Vec::new(),
        notes: Vec::new(),
    };
    (!drawn.rows.is_empty()).then(|| ranking(&drawn))
}

/// A row for each load and group, with its ratio to the reference.
fn data(c: &Comparison) -> Data {
    let columns = vec![
        "load",
        "exploratory",
        "metric",
        "group",
        "medium",
        "records",
        "n",
        "values_are",
        "value",
        "low",
        "high",
        "level",
        "marks",
        "ratio_to_reference",
        "ratio_low",
        "ratio_high",
        "answer",
    ];
    let rows = c.loads.iter().flat_map(|load| load.sides.iter().map(|side| data_row(c, load, side))).collect();
    Data { columns, rows }
}

fn data_row(c: &Comparison, load: &LoadComparison, side: &GroupFigure) -> Vec<String> {
    let reference = load.pairs.first().map(|pair| pair.first);
    let pair = load.pairs.iter().find(|pair| Some(pair.first) == reference && pair.second == side.group);
    let info = c.groups.get(side.group);
    let e = side.estimate.as_ref();
    vec![
        load.title.clone(),
        (!load.primary).to_string(),
        load.quantity.name().to_owned(),
        group_letter(c, side.group),
        info.map(answer::group_name).unwrap_or_default(),
        info.map(|info| info.records.join(" ")).unwrap_or_default(),
        side.values.len().to_string(),
        answer::basis_name(side.basis).to_owned(),
        number(e.map(|e| e.point)),
        number(e.and_then(|e| e.low)),
        number(e.and_then(|e| e.high)),
        number(e.and_then(|e| e.level)),
        answer::side_marks(side),
        number(pair.map(|pair| pair.ratio)),
        number(pair.and_then(|pair| pair.low)),
        number(pair.and_then(|pair| pair.high)),
        pair.map(|pair| verdict_word(pair.verdict).to_owned()).unwrap_or_default(),
    ]
}

// A comparison on a terminal.

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
        // The record stands behind it.
        let by_record = matches!(&info.records[..], [one] if *one == info.query);
        let name = if by_record { answer::group_name(info) } else { answer::group_title(c, info) };
        let text = format!("{name} · {}{role}", answer::group_records(info));
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
            "Other loads, each by itself (exploratory): with many loads some differ by chance. --load chooses the one that decides.",
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
    line.push(Paint::Dim, &format!(" · {}", answer::measured(load.quantity, unit)));
    page.add(line);
    let axis = Axis::for_load(load, c.margin);
    let figure = |side: &GroupFigure| {
        side.estimate.as_ref().map_or_else(|| "–".to_owned(), |estimate| without_count(side, estimate, divisor))
    };
    let rows: Vec<(&GroupFigure, String, String)> =
        load.sides.iter().map(|side| (side, figure(side), answer::values_counted(side))).collect();
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
        let left = format!("|{}", answer::axis_end(low, divisor));
        line.to(points_at).push(Paint::Dim, &left).right(
            Paint::Dim,
            &format!("{}|", answer::axis_end(high, divisor)),
            page.style.width,
        );
        page.add(line);
    }
    for (marks, letters) in answer::marked_groups(c, load) {
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
    pub(super) fn strip(self, side: &GroupFigure, width: usize) -> String {
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

fn points(side: &GroupFigure) -> impl Iterator<Item = f64> + '_ {
    side.runs.iter().flat_map(|run| run.points.iter().copied()).filter(|p| *p > 0.0 && p.is_finite())
}

// Other causes of a difference, each said once.

/// A cause, and the records that it is found in.
struct Doubted<'a> {
    mark: Mark,
    cause: Cause,
    records: Vec<&'a str>,
}

/// The notes of a comparison, in the order of their first records. What is doubtful of several records for the same
/// cause is one note that names them.
pub(super) fn notes(c: &Comparison) -> Vec<String> {
    let mut doubted: Vec<Doubted<'_>> = Vec::new();
    for note in &c.notes {
        let Note::Doubtful { record, mark, causes } = note else { continue };
        for cause in causes.iter().map(words) {
            match doubted.iter_mut().find_map(|k| (k.mark == *mark && k.cause.merge(&cause)).then_some(k)) {
                Some(known) => {
                    if !known.records.contains(&record.as_str()) {
                        known.records.push(record);
                    }
                }
                None => doubted.push(Doubted { mark: *mark, cause, records: vec![record] }),
            }
        }
    }
    let mut doubted: Vec<String> = doubted.iter().map(|of| doubt_sentence(c, of)).collect();
    let mut all = Vec::new();
    for note in &c.notes {
        match note {
            Note::Doubtful { .. } => all.append(&mut doubted),
            other => all.push(other.to_string()),
        }
    }
    all
}

fn words(cause: &DoubtCause) -> Cause {
    match cause {
        DoubtCause::Finding { warning } => warning.pieces(),
        DoubtCause::Check { .. } => Cause::words(&cause.to_string()),
    }
}

/// `suspect: dd went through the page cache: A, B (10 records)`.
fn doubt_sentence(c: &Comparison, of: &Doubted<'_>) -> String {
    let word = match of.mark {
        Mark::Invalid => "invalid and cannot win",
        Mark::Fake => "not genuine and cannot win",
        _ => "suspect",
    };
    // A group is named by its letter where all its records are meant.
    let mut rest = of.records.clone();
    let mut names: Vec<String> = Vec::new();
    for group in &c.groups {
        if !group.records.is_empty() && group.records.iter().all(|id| of.records.contains(&id.as_str())) {
            rest.retain(|id| !group.records.iter().any(|own| own == id));
            names.push(match group.records.len() {
                1 => group.letter.to_string(),
                many => format!("{} (all {many} records)", group.letter),
            });
        }
    }
    let ids: Vec<String> = rest.into_iter().map(clean).collect();
    if !ids.is_empty() {
        let what = if ids.len() == 1 { "record" } else { "records" };
        names.push(format!("{what} {}", listed_names(&ids, ", ", Some("--json"))));
    }
    format!("{word}: {}: {}", of.cause, names.join(", "))
}

#[cfg(test)]
mod tests {
    use assay_analysis::compare::{CompareRequest, RecordGroup, compare};
    use assay_analysis::published;
    use assay_core::observation::Observation;

    use super::*;
    use assay_core::finding::Finding;

    /// Ten records with one cause were ten notes, and one record had a cause four times with other numbers.
    #[test]
    fn a_cause_is_said_once_with_the_records_behind_it() {
        let busy = |share: f64, most: &str| Finding::LoadOfOthers { share, most: most.to_owned() };
        let mut a = published("sandisk-ultra-a1").unwrap();
        let mut b = published("samsung-evo-plus-64gb").unwrap();
        for (at, record) in a.iter_mut().chain(&mut b).enumerate() {
            record.id = format!("r{at}");
            let percent = at as f64 / 100.0;
            record.measurements[0].warnings.push(busy(0.5 + percent, "rustc").into());
            record.measurements[1].warnings.push(busy(0.6 + percent, "cc").into());
        }
        a[0].warnings.push(Finding::CachedByTool { tool: "dd".to_owned() }.into());
        let of = |name: &str, records| RecordGroup { name: name.to_owned(), records };
        let groups = [of("a", a.iter().collect::<Vec<&Observation>>()), of("b", b.iter().collect())];
        let said = notes(&compare(&groups, &CompareRequest::default()).unwrap());
        let suspect: Vec<&String> = said.iter().filter(|note| note.starts_with("suspect: ")).collect();
        assert_eq!(suspect.len(), 2, "{said:#?}");
        let busy = suspect.iter().find(|note| note.contains("other programs")).unwrap();
        assert!(busy.contains("50 to 64 %") && busy.ends_with(": A (all 3 records), B (all 2 records)"), "{busy}");
        assert!(suspect.iter().any(|note| note.contains("page cache") && note.ends_with(": record r0")), "{said:#?}");
        assert!(said.iter().all(|note| !note.contains("doubtful")), "{said:#?}");
    }
}
