//! Table of records, for `assay list`.

use std::collections::BTreeMap;

use assay_analysis::{Load, identity, names_model};
use assay_core::estimate::Estimate;
use assay_core::finding::ValidityVerdict;
use assay_core::medium::MediumKind;
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::text::clean;
use assay_core::units::{counted, figures};
use assay_core::verification::Verdict;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::document::{Block, Cell, Data, Document, left, number, right};
use crate::headline::{Columns, shown};
use crate::terminal::{Style, shorten};
use crate::verdict::{capitalised, word};
use crate::{document, facts, health};

/// Longest text in the column of units.
const UNIT_WIDTH: usize = 10;
/// Longest text in the column of labels.
const LABELS_WIDTH: usize = 30;
/// Longest id of a published figure among other records.
const PUBLISHED_WIDTH: usize = 30;
/// Shortest name of a medium that still tells something.
const SHORTEST_NAME: usize = 12;

/// What is known of the process that makes a record which is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    Running,
    /// It has ended.
    Killed,
    /// It was on another host or in another container: its state is not seen from here.
    Elsewhere,
}

/// That of records by their ids. Nothing is known of all others.
pub type Lives = BTreeMap<String, Life>;

/// One line for each record, in the order of the caller. A column of figures is for one load, which is named under its
/// title; a figure of another load names that load. Columns are dropped as the width shrinks: first the labels, then
/// the two figures that the fewest records have, the suite, the time of day, and the others except id, medium and
/// result. A column without any value is left out.
#[must_use]
pub fn list(records: &[Observation], lives: &Lives, style: &Style) -> String {
    let listed = Listed::from_records(records, lives, style.bounded());
    let known = |at: usize| listed.rows.iter().any(|row| !row[at].is_empty() && row[at] != style.fold(UNKNOWN));
    // Records without any figure have the columns that are most asked for.
    let no_figures = FIGURES.iter().all(|at| !known(*at));
    let shown = |at: &usize| match *at {
        DATE => false,
        WHEN | UNIT | SLOT | LABELS => known(*at),
        READ | WRITE if no_figures => true,
        READ | WRITE | RANDOM_READ | RANDOM_WRITE => known(*at),
        _ => true,
    };
    let mut columns: Vec<usize> = (0..COLUMNS.len()).filter(shown).collect();
    let ranks = listed.ranks(&style.fold(UNKNOWN));
    let rank = |at: &usize| ranks[*at];
    loop {
        let name = listed.style.width.saturating_sub(listed.fixed_width(&columns));
        let droppable =
            columns.iter().copied().enumerate().max_by_key(|(_, at)| rank(at)).filter(|(_, at)| rank(at) > 0);
        match droppable {
            Some((least, WHEN)) if name < SHORTEST_NAME => columns[least] = DATE,
            Some((least, _)) if name < SHORTEST_NAME => {
                columns.remove(least);
            }
            _ => return listed.table(&columns, name.max(SHORTEST_NAME)),
        }
    }
}

#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    /// The higher, the sooner it goes; 0 stays.
    rank: u8,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Text(fn(&Observation) -> String),
    /// Takes the room that is left.
    Medium,
    /// A column of [`Columns`].
    Figure(usize),
    /// How it ended.
    Result,
}

/// Places in [`COLUMNS`]: the id, the time of a run, the day of it where there is less room, the unit, and the slot.
const ID: usize = 0;
const WHEN: usize = 1;
const DATE: usize = 2;
const UNIT: usize = 4;
const SLOT: usize = 5;
const READ: usize = 7;
const WRITE: usize = 8;
const RANDOM_READ: usize = 9;
const RANDOM_WRITE: usize = 10;
const FIGURES: [usize; 4] = [READ, WRITE, RANDOM_READ, RANDOM_WRITE];
const LABELS: usize = 11;

const COLUMNS: [Column; 13] = [
    Column { title: "id", rank: 0, kind: Kind::Text(id_cell) },
    Column { title: "when (UTC)", rank: 5, kind: Kind::Text(|r| shorten(when_cell(r).trim_end_matches(" UTC"), 16)) },
    Column { title: "date", rank: 4, kind: Kind::Text(|r| when_cell(r).chars().take(10).collect()) },
    Column { title: "medium", rank: 0, kind: Kind::Medium },
    Column { title: "unit", rank: 3, kind: Kind::Text(|r| end_of(&facts::unit(r), UNIT_WIDTH)) },
    Column { title: "slot", rank: 4, kind: Kind::Text(|r| end_of(&facts::slot(r), UNIT_WIDTH)) },
    Column { title: "suite", rank: 6, kind: Kind::Text(|r| shorten(&clean(&r.suite.name), 12)) },
    Column { title: "read MB/s", rank: 1, kind: Kind::Figure(0) },
    Column { title: "write MB/s", rank: 2, kind: Kind::Figure(1) },
    Column { title: "read IOPS", rank: 7, kind: Kind::Figure(2) },
    Column { title: "write IOPS", rank: 8, kind: Kind::Figure(3) },
    Column { title: "labels", rank: 9, kind: Kind::Text(|r| shorten(&facts::other_labels(r), LABELS_WIDTH)) },
    Column { title: "result", rank: 0, kind: Kind::Result },
];

/// As much of it as names the record in a query; ids of published figures all begin alike, and differ at their end.
fn id_cell(record: &Observation) -> String {
    let id = clean(&record.id);
    if id.starts_with(assay_analysis::PREFIX) { end_of(&id, PUBLISHED_WIDTH) } else { shorten(&id, 10) }
}

/// The id of a published figure below a heading that says how it begins.
fn published_cell(record: &Observation) -> Option<String> {
    clean(&record.id).strip_prefix(assay_analysis::PREFIX).map(str::to_owned)
}

/// The sign for an unknown value.
const UNKNOWN: &str = "–";

/// When the record was made. Articles and some imported results do not say.
fn when_cell(record: &Observation) -> String {
    match facts::when(&record.created) {
        unknown if unknown.is_empty() => UNKNOWN.to_owned(),
        when => when,
    }
}

/// Serial numbers of one model differ at their end, and so do ids of figures of one article.
fn end_of(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut end = text;
    while end.width() + 1 > width {
        end = end.chars().next().map_or("", |first| &end[first.len_utf8()..]);
    }
    format!("…{end}")
}

/// How it ended, where there is little room.
fn short_word(record: &Observation, lives: &Lives) -> &'static str {
    match word_of(record, lives) {
        "turned read-only" => "read-only",
        "running or killed" => "killed?",
        other => other,
    }
}

/// How it ended, or what is known of a run that did not.
fn word_of(record: &Observation, lives: &Lives) -> &'static str {
    match lives.get(&record.id).filter(|_| record.outcome == Outcome::Running) {
        Some(Life::Running) => "running",
        Some(Life::Killed) => "killed",
        Some(Life::Elsewhere) => "elsewhere?",
        None => word(record),
    }
}

/// Columns between two cells.
const GAP: usize = 2;

/// The texts of all columns, each made once: of ten thousand records that takes most of the time.
struct Listed {
    headings: [String; COLUMNS.len()],
    rows: Vec<[String; COLUMNS.len()]>,
    style: Style,
}

impl Listed {
    fn from_records(records: &[Observation], lives: &Lives, style: Style) -> Self {
        let loads = Columns::from_records(records);
        let mut headings = COLUMNS.map(|column| list_heading(&column, &loads, &style));
        let row = |record| COLUMNS.map(|column| cell_text((record, lives), &column, &loads, &style));
        let mut rows: Vec<[String; COLUMNS.len()]> = records.iter().map(row).collect();
        if let Some(ids) =
            records.iter().map(published_cell).collect::<Option<Vec<String>>>().filter(|ids| !ids.is_empty())
        {
            assay_analysis::PREFIX.clone_into(&mut headings[ID]);
            rows.iter_mut().zip(ids).for_each(|(row, id)| row[ID] = style.fold(&id));
        }
        Self { headings, rows, style }
    }

    /// The rank of each column: those of figures in the order of how many records have one.
    fn ranks(&self, unknown: &str) -> [u8; COLUMNS.len()] {
        let mut ranks = COLUMNS.map(|column| column.rank);
        let figures = |at: &usize| self.rows.iter().filter(|row| row[*at] != unknown).count();
        let mut order = FIGURES;
        order.sort_by_key(|at| std::cmp::Reverse(figures(at)));
        for (at, rank) in order.into_iter().zip(FIGURES.map(|at| COLUMNS[at].rank)) {
            ranks[at] = rank;
        }
        ranks
    }

    fn fixed_width(&self, columns: &[usize]) -> usize {
        let width = |at: &usize| {
            if matches!(COLUMNS[*at].kind, Kind::Medium) {
                return GAP;
            }
            let texts = std::iter::once(&self.headings[*at]).chain(self.rows.iter().map(|row| &row[*at]));
            texts.map(|text| text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)).max().unwrap_or(0) + GAP
        };
        columns.iter().map(width).sum::<usize>().saturating_sub(GAP)
    }

    fn table(&self, columns: &[usize], name: usize) -> String {
        let column = |at: &usize| {
            let mut heading = self.headings[*at].lines().map(str::to_owned);
            let title = heading.next().unwrap_or_default();
            let side = if matches!(COLUMNS[*at].kind, Kind::Figure(_)) { right(title) } else { left(title) };
            document::Column { under: heading.collect(), ..side }
        };
        let row = |row: &[String; COLUMNS.len()]| {
            let cell = |at: &usize| match COLUMNS[*at].kind {
                // Paths of one directory differ at their end.
                Kind::Medium if row[*at].starts_with('/') => end_of(&row[*at], name).into(),
                Kind::Medium => shorten(&row[*at], name).into(),
                _ => list_lines(&row[*at]),
            };
            document::TableRow::Cells(columns.iter().map(cell).collect())
        };
        document::of_rows(columns.iter().map(column).collect(), self.rows.iter().map(row).collect(), &self.style)
    }
}

/// A cell of several lines.
fn list_lines(text: &str) -> Cell {
    let mut lines = text.lines().map(str::to_owned);
    Cell { value: lines.next().unwrap_or_default(), under: lines.collect(), ..Cell::default() }
}

/// The lines of a column's heading.
fn list_heading(column: &Column, loads: &Columns, style: &Style) -> String {
    match column.kind {
        Kind::Figure(at) => format!("{}\n{}", column.title, short_lines(loads.load(at), style)),
        _ => column.title.to_owned(),
    }
}

/// A load in short lines.
fn short_lines(load: &str, style: &Style) -> String {
    let load = style.fold(load).replace(" synced", "\nsynced");
    let parts: Vec<&str> = load.split(", ").collect();
    let mut lines = parts.first().map_or_else(String::new, |first| (*first).to_owned());
    for part in &parts[1..] {
        // The depth of a queue stands beside the block.
        lines += &format!(",{}{part}", if part.starts_with("QD") { " " } else { "\n" });
    }
    lines
}

/// The lines of a cell.
fn cell_text((record, lives): (&Observation, &Lives), column: &Column, loads: &Columns, style: &Style) -> String {
    match column.kind {
        Kind::Result => style.fold(short_word(record, lives)),
        Kind::Text(text) => style.fold(&text(record)),
        Kind::Medium => style.fold(&record.title()),
        Kind::Figure(at) => match loads.figure(record, at) {
            None => style.fold(UNKNOWN),
            Some(f) => {
                let load = f.other_load.map(|load| format!("\n({})", short_lines(&load, style))).unwrap_or_default();
                style.fold(&figures(f.estimate.point / f.unit)) + &load
            }
        },
    }
}

/// What a column shows of a record.
type RecordCell = fn(&Observation) -> String;

/// The records as a document: a row each.
#[must_use]
pub fn list_document(records: &[Observation], lives: &Lives) -> Document {
    let loads = Columns::from_records(records);
    // A column that no record fills is left out.
    let filled = |cell: fn(&Observation) -> String| records.iter().any(|record| !cell(record).is_empty());
    let about: [(&str, RecordCell); 6] = [
        ("record", |r| clean(&r.id)),
        ("when", when_cell),
        ("medium", Observation::title),
        ("unit", facts::unit),
        ("slot", facts::slot),
        ("suite", |r| clean(&r.suite.name)),
    ];
    let about: Vec<_> = about.into_iter().filter(|(_, cell)| filled(*cell)).collect();
    let healths: Vec<Option<String>> = records.iter().map(|record| health::words(&record.medium)).collect();
    let has_health = healths.iter().any(Option::is_some);
    let warmths: Vec<Option<f64>> = records.iter().map(|record| record.medium_celsius).collect();
    let has_warmth = warmths.iter().any(Option::is_some);
    let has_labels = filled(facts::other_labels);
    let mut columns: Vec<document::Column> = about.iter().map(|(title, _)| left(*title)).collect();
    columns.extend(loads.filled().into_iter().map(|at| right(figure_title(&loads, at))));
    columns.extend(has_warmth.then(|| right("°C at most")));
    columns.extend(has_health.then(|| left("health")));
    columns.extend(has_labels.then(|| left("labels")));
    columns.push(left("result"));
    let row = |((r, health), warmth): ((&Observation, &Option<String>), &Option<f64>)| -> document::TableRow {
        let warmth = has_warmth.then(|| warmth.map(figures).unwrap_or_default().into());
        let facts = about.iter().map(|(_, cell)| Cell::from(cell(r)));
        let figures = loads.filled().into_iter().map(|at| figure_cell(&loads, r, at));
        let health = has_health.then(|| health.clone().unwrap_or_default().into());
        let labels = has_labels.then(|| facts::other_labels(r).into());
        let last = [word_of(r, lives).into()];
        document::TableRow::Cells(facts.chain(figures).chain(warmth).chain(health).chain(labels).chain(last).collect())
    };
    Document {
        kind: "Records",
        about: "Records".to_owned(),
        finding: counted(records.len(), "record"),
        blocks: vec![Block::Table(document::Table {
            caption: String::new(),
            columns,
            rows: records.iter().zip(&healths).zip(&warmths).map(row).collect(),
        })],
        data: list_data(records, lives, &loads),
    }
}

/// What a column of figures holds, with its load: `Read MB/s, 1 MiB QD8`.
pub(crate) fn figure_title(loads: &Columns, at: usize) -> String {
    let load = Some(loads.load(at)).filter(|load| !load.is_empty()).map(|load| format!(", {load}"));
    capitalised(Columns::TITLES[at]) + &load.unwrap_or_default()
}

/// A figure with its certainty, and with its load where that is not the column's.
pub(crate) fn figure_cell(loads: &Columns, record: &Observation, at: usize) -> Cell {
    loads.figure(record, at).map_or_else(Cell::default, |f| {
        let shown = shown(f.estimate, f.unit);
        let load = f.other_load.map(|load| format!("({load})"));
        let small: Vec<String> =
            [Some(shown.spread), load].into_iter().flatten().filter(|part| !part.is_empty()).collect();
        Cell::with(shown.value, small.join(" "))
    })
}

fn list_data(records: &[Observation], lives: &Lives, loads: &Columns) -> Data {
    // Before the figures of each record, and behind them.
    let before: [(&'static str, RecordCell); 7] = [
        ("record", |r| r.id.clone()),
        ("created", |r| r.created.clone()),
        ("medium", Observation::title),
        ("unit", facts::unit),
        ("slot", facts::slot),
        ("host", |r| r.host.hostname.clone().unwrap_or_default()),
        ("suite", |r| r.suite.name.clone()),
    ];
    let figures = [
        "read_load",
        "read_bytes_per_second",
        "write_load",
        "write_bytes_per_second",
        "random_read_load",
        "random_read_iops",
        "random_write_load",
        "random_write_iops",
    ];
    let behind: [(&'static str, RecordCell); 4] = [
        ("celsius_max", |r| number(r.medium_celsius)),
        ("health", |r| health::words(&r.medium).unwrap_or_default()),
        ("health_worsened", |r| health::changes(&r.medium).unwrap_or_default()),
        ("labels", |r| crate::csv::labels(&r.labels)),
    ];
    let names = |columns: &[(&'static str, RecordCell)]| columns.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let columns = [names(&before), vec!["result"], figures.to_vec(), names(&behind)].concat();
    let row = |r: &Observation| {
        let mut cells: Vec<String> = before.iter().map(|(_, cell)| cell(r)).collect();
        cells.push(word_of(r, lives).to_owned());
        for at in 0..4 {
            let figure = loads.figure(r, at);
            let load = figure.as_ref().map(|f| f.other_load.clone().unwrap_or_else(|| loads.load(at).to_owned()));
            cells.extend([load.unwrap_or_default(), number(figure.map(|f| f.estimate.point))]);
        }
        cells.extend(behind.iter().map(|(_, cell)| cell(r)));
        cells
    };
    Data { columns, rows: records.iter().map(row).collect() }
}

// Records of `assay list` for programs.

/// A record in `assay list`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRecord {
    /// Id.
    id: String,
    /// When it was begun, RFC 3339, UTC; null where its source does not say.
    created: Option<String>,
    /// Model: the label, or what the medium says; null where it is not known.
    model: Option<String>,
    /// Title of the medium.
    medium: String,
    /// Kind of the medium.
    kind: MediumKind,
    /// Unit: label, or else serial number or CID.
    unit: Option<String>,
    /// Host name.
    host: Option<String>,
    /// Slot or port: label, or else what the host says.
    slot: Option<String>,
    /// Name of the suite.
    suite: String,
    /// How the run ended.
    outcome: Outcome,
    /// The result as in the table: `valid`, `fake`, `killed`.
    result: &'static str,
    /// Whether the figures can be trusted; null where the run did not complete, and of a check without figures.
    verdict: Option<ValidityVerdict>,
    /// Verdict of the checks of this unit; null where it was not checked.
    verification: Option<Verdict>,
    /// Labels.
    labels: BTreeMap<String, String>,
    /// The figures of the columns: sequential and random reads and writes, each of the load that most records have.
    figures: Vec<ListedFigure>,
}

/// A figure of a record.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFigure {
    /// The load.
    load: Load,
    /// The load as text.
    title: String,
    /// The quantity of the estimate: `bytes_per_second` or `iops`.
    quantity: &'static str,
    /// The figure.
    estimate: Estimate,
}

/// The records in their order.
#[must_use]
pub fn listed(records: &[Observation], lives: &Lives) -> Vec<ListedRecord> {
    let columns = Columns::from_records(records);
    records.iter().map(|record| ListedRecord::new(record, lives, &columns)).collect()
}

impl ListedRecord {
    fn new(record: &Observation, lives: &Lives, columns: &Columns) -> Self {
        let has_figures = record.outcome == Outcome::Completed && !record.measurements.is_empty();
        let figure = |column: usize| {
            let found = columns.figure(record, column)?;
            let load = Load::from_workload(&found.measurement.workload);
            let quantity = if Columns::is_of_rates(column) { "bytes_per_second" } else { "iops" };
            Some(ListedFigure { title: load.title(), load, quantity, estimate: found.estimate.clone() })
        };
        Self {
            id: record.id.clone(),
            created: Some(record.created.clone()).filter(|created| !created.is_empty()),
            model: names_model(record).then(|| identity(record).model),
            medium: record.medium.title(),
            kind: record.medium.kind,
            unit: Some(facts::unit(record)).filter(|unit| !unit.is_empty()),
            host: record.host.hostname.clone(),
            slot: Some(facts::slot(record)).filter(|slot| !slot.is_empty()),
            suite: record.suite.name.clone(),
            outcome: record.outcome.clone(),
            result: word_of(record, lives),
            verdict: Some(record.validity.verdict).filter(|_| has_figures),
            verification: record.verification.as_ref().map(|check| check.verdict),
            labels: record.labels.clone(),
            figures: (0..Columns::TITLES.len()).filter_map(figure).collect(),
        }
    }
}

// The list for a page that puts something beside each record.

/// Records as texts of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTable {
    /// Titles of the columns, and whether their cells end at the right, as numbers do.
    pub titles: Vec<(String, bool)>,
    /// A row for each record, in their order.
    pub rows: Vec<ListRow>,
}

/// A record as texts of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRow {
    /// Its id.
    pub id: String,
    /// Value, and interval with the number of repeats; as plain text.
    pub cells: Vec<(String, String)>,
}

/// The table of [`list_document`].
#[must_use]
pub fn list_table(records: &[Observation], lives: &Lives) -> ListTable {
    let document = list_document(records, lives);
    let Some(Block::Table(table)) = document.blocks.into_iter().next() else {
        return ListTable { titles: Vec::new(), rows: Vec::new() };
    };
    let cells = |row: document::TableRow| match row {
        document::TableRow::Cells(cells) => cells.into_iter().map(|cell| (cell.value, cell.small)).collect(),
        document::TableRow::Heading(title) => vec![(title, String::new())],
    };
    ListTable {
        titles: table.columns.into_iter().map(|column| (column.title, column.right)).collect(),
        rows: records
            .iter()
            .zip(table.rows)
            .map(|(record, row)| ListRow { id: record.id.clone(), cells: cells(row) })
            .collect(),
    }
}
