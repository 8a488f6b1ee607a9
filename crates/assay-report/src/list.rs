//! Table of records, for `assay list`.

use comfy_table::{CellAlignment, ContentArrangement, Row, Table};
use unicode_width::UnicodeWidthStr;

use assay_core::record::{Measurement, Record};
use assay_core::units::figures;

use crate::facts::{self, clean};
use crate::figure::MB;
use crate::headline::{Headline, durable_or_acknowledged};
use crate::style::Style;
use crate::verdict::word;
use crate::wrap::shorten;

/// Shortest name of a medium that still tells something.
const SHORTEST_NAME: usize = 12;

/// One line a record, newest wherever the caller put it. Columns go as the width shrinks: first
/// the random figures, then the suite.
#[must_use]
pub fn list(records: &[Record], style: &Style) -> String {
    let style = style.bounded();
    let mut columns: Vec<Column> = COLUMNS.to_vec();
    loop {
        let name = style.width.saturating_sub(fixed_width(records, &columns, style));
        let droppable = columns.iter().enumerate().max_by_key(|(_, c)| c.rank).filter(|(_, c)| c.rank > 0);
        match droppable {
            Some((least, _)) if name < SHORTEST_NAME => {
                columns.remove(least);
            }
            _ => return table(records, &columns, style, name.max(SHORTEST_NAME)),
        }
    }
}

#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    /// The higher, the sooner it goes; 0 stays.
    rank: u8,
    numeric: bool,
    cell: fn(&Record) -> String,
}

/// The medium's name takes the room that is left; its cell is filled in by the table.
const MEDIUM: &str = "medium";

const COLUMNS: [Column; 9] = [
    Column { title: "id", rank: 0, numeric: false, cell: |r| shorten(&clean(&r.id), 10) },
    Column {
        title: "when (UTC)",
        rank: 1,
        numeric: false,
        cell: |r| shorten(facts::when(&r.created).trim_end_matches(" UTC"), 16),
    },
    Column { title: MEDIUM, rank: 0, numeric: false, cell: facts::title },
    Column { title: "suite", rank: 2, numeric: false, cell: |r| shorten(&clean(&r.suite.name), 12) },
    Column { title: "read MB/s", rank: 0, numeric: true, cell: |r| megabytes(Headline::of(r).sequential_read) },
    Column { title: "write MB/s", rank: 0, numeric: true, cell: |r| megabytes(Headline::of(r).sequential_write) },
    Column { title: "read IOPS", rank: 3, numeric: true, cell: |r| iops(Headline::of(r).random_read) },
    Column { title: "write IOPS", rank: 4, numeric: true, cell: |r| iops(Headline::of(r).random_write) },
    Column { title: "result", rank: 0, numeric: false, cell: |r| word_of(r).to_owned() },
];

fn word_of(record: &Record) -> &'static str {
    match word(record) {
        "turned read-only" => "read-only",
        "running or killed" => "killed?",
        other => other,
    }
}

fn megabytes(m: Option<&Measurement>) -> String {
    m.and_then(durable_or_acknowledged).map_or_else(|| "–".to_owned(), |e| figures(e.point / MB))
}

fn iops(m: Option<&Measurement>) -> String {
    m.and_then(|m| m.iops.as_ref()).map_or_else(|| "–".to_owned(), |e| figures(e.point))
}

/// Columns between two cells.
const GAP: usize = 2;

fn fixed_width(records: &[Record], columns: &[Column], style: Style) -> usize {
    columns
        .iter()
        .map(|c| {
            let cells = if c.title == MEDIUM {
                0
            } else {
                records.iter().map(|r| style.fold(&(c.cell)(r)).width()).max().unwrap_or(0)
            };
            if c.title == MEDIUM { GAP } else { cells.max(c.title.len()) + GAP }
        })
        .sum::<usize>()
        .saturating_sub(GAP)
}

fn table(records: &[Record], columns: &[Column], style: Style, name: usize) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|c| c.title));
    for record in records {
        let cells = columns.iter().map(|c| {
            let text = (c.cell)(record);
            style.fold(&if c.title == MEDIUM { shorten(&text, name) } else { text })
        });
        table.add_row(Row::from(cells));
    }
    for (column, spec) in table.column_iter_mut().zip(columns) {
        column.set_padding((0, 2));
        if spec.numeric {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut out = table.trim_fmt();
    out.push('\n');
    out
}
