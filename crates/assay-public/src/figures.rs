//! The figures of all public records as a table, by model, for CSV and Parquet.

use assay_core::text::csv;
use assay_report::columns::{Cells, Holds};

use crate::digest::{Entry, Figure};
use crate::snapshot::Snapshot;

/// Its columns.
pub(crate) const COLUMNS: [(&str, Holds); 17] = [
    ("model", Holds::Text),
    ("id", Holds::Text),
    ("account", Holds::Text),
    ("unit", Holds::Text),
    ("class", Holds::Text),
    ("host", Holds::Text),
    ("slot", Holds::Text),
    ("bus", Holds::Text),
    ("bridge", Holds::Text),
    ("created", Holds::Text),
    ("suite", Holds::Text),
    ("load", Holds::Text),
    ("verdict", Holds::Text),
    ("iops", Holds::Real),
    ("iops_low", Holds::Real),
    ("iops_high", Holds::Real),
    ("bytes_per_second", Holds::Real),
];
/// Columns of text, which come first.
const TEXTS: usize = 13;

/// A row.
pub(crate) struct Row {
    texts: [String; TEXTS],
    numbers: [Option<f64>; COLUMNS.len() - TEXTS],
}

/// All rows, in the order of models.
pub(crate) fn rows(snapshot: &Snapshot) -> impl Iterator<Item = Row> + '_ {
    let entries = snapshot.models.values().flat_map(|model| &model.entries);
    entries.flat_map(|entry| entry.figures.iter().filter_map(|figure| row(entry, figure)))
}

fn row(entry: &Entry, figure: &Figure) -> Option<Row> {
    let (iops, low, high) = figure.iops?;
    let verdict = serde_json::to_value(entry.verdict).unwrap_or_default();
    let texts: [&str; TEXTS] = [
        &entry.model,
        &entry.id,
        &entry.account,
        &entry.unit,
        entry.class,
        &entry.host,
        &entry.slot,
        &entry.bus,
        &entry.bridge,
        &entry.created,
        &entry.suite,
        &figure.apart,
        verdict.as_str().unwrap_or_default(),
    ];
    Some(Row { texts: texts.map(str::to_owned), numbers: [Some(iops), low, high, figure.rate] })
}

/// The heading of the table as CSV.
pub(crate) fn heading() -> String {
    COLUMNS.map(|(name, _)| name).join(",")
}

impl Row {
    /// A line of CSV.
    pub(crate) fn line(&self) -> String {
        let numbers = self.numbers.iter().map(|value| value.map(|value| value.to_string()).unwrap_or_default());
        let cells: Vec<String> = self.texts.iter().map(|text| csv(text)).chain(numbers).collect();
        cells.join(",")
    }
}

/// Rows as columns; what is not known is null.
pub(crate) fn columns(rows: &[Row]) -> Vec<Cells> {
    let text = |text: &String| (!text.is_empty()).then(|| text.clone());
    let texts = (0..TEXTS).map(|at| Cells::Text(rows.iter().map(|row| text(&row.texts[at])).collect()));
    let numbers = (0..COLUMNS.len() - TEXTS).map(|at| Cells::Real(rows.iter().map(|row| row.numbers[at]).collect()));
    texts.chain(numbers).collect()
}
