//! Figures over several runs as articles print them.

use assay_analysis::Excluded;
use assay_analysis::aggregate::{Aggregate, AggregateRow};
use assay_core::text::clean;
use assay_core::units::figures;
use serde::Serialize;

use crate::document::{Answered, Block, Cell, Data, Document, left, number, right};
use crate::{caveats, document};

/// What `assay list --aggregate --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AggregatesDocument<'a> {
    /// How several runs become one figure.
    aggregate: Aggregate,
    /// Always false: no decision uses these figures.
    decides: bool,
    /// One for each medium and load.
    figures: &'a [AggregateRow],
    /// Records that take no part.
    excluded: &'a [Excluded],
}

/// The figures as an answer.
#[must_use]
pub fn aggregates(rows: &[AggregateRow], excluded: &[Excluded], how: Aggregate) -> Answered {
    let mut media: Vec<&str> = rows.iter().map(|row| row.medium.as_str()).collect();
    media.dedup();
    let counted = match media.len() {
        1 => "1 medium".to_owned(),
        n => format!("{n} media"),
    };
    let mut lines: Vec<document::TableRow> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if at == 0 || rows[at - 1].medium != row.medium {
            lines.push(document::TableRow::Heading(clean(&row.medium)));
        }
        lines.push(line(row));
    }
    let table = document::Table {
        caption: String::new(),
        columns: vec![left("load"), right("figure"), left("unit"), right("runs"), right("least"), right("most")],
        rows: lines,
    };
    let note = "Figures as articles print them, for comparison only; no decision uses them.";
    let mut blocks = vec![Block::Table(table), Block::Text(note.to_owned())];
    let reasons = caveats::left_out_lines(excluded, caveats::record_name, Some("--json"));
    let reasons: Vec<_> = reasons.into_iter().map(|line| (caveats::LEFT_OUT.to_owned(), line)).collect();
    blocks.extend((!reasons.is_empty()).then_some(Block::Items(reasons)));
    Answered {
        document: Document {
            kind: "Figures over runs",
            about: format!("{}, by medium", how.title()),
            finding: format!("{} of the runs of {counted}", crate::verdict::capitalised(how.title())),
            blocks,
            data: data(rows),
        },
        // Numbers and text with string keys: this cannot fail.
        json: serde_json::to_value(AggregatesDocument { aggregate: how, decides: false, figures: rows, excluded })
            .unwrap_or_default(),
    }
}

/// Rates in MB/s for people.
fn scale(row: &AggregateRow) -> (f64, &str) {
    if row.unit == "bytes/s" { (1e6, "MB/s") } else { (1.0, &row.unit) }
}

fn line(row: &AggregateRow) -> document::TableRow {
    let (scale, unit) = scale(row);
    let shown = |value: f64| Cell::from(figures(value / scale));
    let least = row.values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = row.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let value = row.value.map_or_else(|| Cell::from("needs 3 runs"), shown);
    document::TableRow::Cells(vec![
        clean(&row.load).into(),
        value,
        clean(unit).into(),
        row.values.len().into(),
        shown(least),
        shown(most),
    ])
}

fn data(rows: &[AggregateRow]) -> Data {
    let columns = vec!["medium", "load", "figure", "unit", "runs", "value", "values"];
    let row = |row: &AggregateRow| {
        let values: Vec<String> = row.values.iter().map(|value| number(Some(*value))).collect();
        vec![
            row.medium.clone(),
            row.load.clone(),
            row.figure.to_owned(),
            row.unit.clone(),
            row.values.len().to_string(),
            number(row.value),
            values.join(" "),
        ]
    };
    Data { columns, rows: rows.iter().map(row).collect() }
}
