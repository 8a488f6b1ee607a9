//! A comparison as a document: the answer, a picture of the load that it is about, groups, loads, notes.

use assay_analysis::Mark;
use assay_analysis::compare::{Comparison, Gate, GroupInfo, LoadComparison, Pair, Side};
use assay_core::text::{clean, statement};
use assay_pictures::{Drawing, Label, RankRow, Ranking, Value, ranking};

use super::answer::{overall, said_of_loads, sentence, title, verdict_word, winning_side};
use super::names::{about_values, comparison_method, group_letter, left_out};
use super::notes::notes;
use super::{gate, names};
use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right};
use crate::figure::{shown, unit, with_point};

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
        [Cell::with(info.letter, role), names::group_name(info).into(), ids.join(", ").into()].into()
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
    let mut cells: Vec<Cell> = vec![clean(&load.title).into(), names::measured(load.quantity, unit).into()];
    cells.extend(
        (0..c.groups.len()).map(|group| winning_side(load, group).map_or_else(|| "–".into(), |s| figure(s, divisor))),
    );
    let answers: Vec<String> = said_of_loads(c, load).map(|pair| answer(c, load, pair)).collect();
    cells.push(answers.join(". ").into());
    TableRow::Cells(cells)
}

fn figure(side: &Side, divisor: f64) -> Cell {
    let Some(estimate) = side.estimate.as_ref() else { return "–".into() };
    let marks = names::side_marks(side);
    let marks = if marks.is_empty() { marks } else { format!("; {marks}") };
    let value = if side.values.len() > 1 { with_point(estimate, divisor) } else { shown(estimate, divisor).value };
    Cell::with(value, format!("({}{marks})", names::values_counted(side)))
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
    let row = |side: &Side| {
        let e = side.estimate.as_ref()?;
        let info = c.groups.get(side.group)?;
        let value = Value {
            point: e.point / divisor,
            interval: e.low.zip(e.high).map(|(low, high)| (low / divisor, high / divisor)),
            level: e.level,
            n: e.n,
            marks: side.marks.iter().copied().filter(|mark| *mark != Mark::Published).collect(),
        };
        let hue = c.groups.iter().position(|other| other.models.first() == info.models.first()).unwrap_or_default();
        Some(RankRow {
            place: info.letter.to_string(),
            label: Label::without_unit(names::group_name(info)),
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

fn data_row(c: &Comparison, load: &LoadComparison, side: &Side) -> Vec<String> {
    let reference = load.pairs.first().map(|pair| pair.first);
    let pair = load.pairs.iter().find(|pair| Some(pair.first) == reference && pair.second == side.group);
    let info = c.groups.get(side.group);
    let e = side.estimate.as_ref();
    vec![
        load.title.clone(),
        (!load.primary).to_string(),
        load.quantity.name().to_owned(),
        group_letter(c, side.group),
        info.map(names::group_name).unwrap_or_default(),
        info.map(|info| info.records.join(" ")).unwrap_or_default(),
        side.values.len().to_string(),
        names::basis_name(side.basis).to_owned(),
        number(e.map(|e| e.point)),
        number(e.and_then(|e| e.low)),
        number(e.and_then(|e| e.high)),
        number(e.and_then(|e| e.level)),
        names::side_marks(side),
        number(pair.map(|pair| pair.ratio)),
        number(pair.and_then(|pair| pair.low)),
        number(pair.and_then(|pair| pair.high)),
        pair.map(|pair| verdict_word(pair.verdict).to_owned()).unwrap_or_default(),
    ]
}
