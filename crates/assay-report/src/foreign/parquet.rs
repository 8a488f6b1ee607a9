//! The long table as Apache Parquet.

use assay_core::record::Record;
use assay_core::text::clean;
use parquet::errors::ParquetError;

use super::long::{COLUMNS, rows};
use crate::columns::{Cells, Holds, Table};

/// Columns of whole numbers.
const WHOLE: [&str; 5] = ["block_bytes", "queue_depth", "jobs", "repeat", "n"];
/// Columns of other numbers.
const REAL: [&str; 4] = ["value", "low", "high", "level"];

/// All records in one table.
///
/// # Errors
/// What the library refuses, which it does of no such table.
pub(crate) fn parquet(records: &[Record]) -> Result<Vec<u8>, ParquetError> {
    let rows = rows(records);
    let columns = COLUMNS.map(|name| (name, holds(name)));
    let cells = columns.iter().enumerate().map(|(at, (_, holds))| {
        let texts = rows.iter().map(|row| row[at].as_str());
        match holds {
            Holds::Whole => Cells::Whole(texts.map(|cell| cell.parse().ok()).collect()),
            Holds::Real => Cells::Real(texts.map(|cell| cell.parse().ok()).collect()),
            Holds::Text => Cells::Text(texts.map(|cell| (!cell.is_empty()).then(|| clean(cell))).collect()),
        }
    });
    let cells: Vec<Cells> = cells.collect();
    let mut table = Table::begin(Vec::new(), "figures", &columns, None)?;
    table.rows(&cells)?;
    table.finish()
}

fn holds(name: &str) -> Holds {
    if WHOLE.contains(&name) {
        Holds::Whole
    } else if REAL.contains(&name) {
        Holds::Real
    } else {
        Holds::Text
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn a_reader_of_parquet_finds_every_cell_of_the_table() {
        let records = assay_analysis::published_records("").unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&parquet(&records).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let expected = rows(&records);
        let mut seen = 0;
        for (row, want) in reader.get_row_iter(None).unwrap().zip(&expected) {
            let row = row.unwrap();
            seen += 1;
            for (at, name) in COLUMNS.iter().enumerate() {
                let got = if WHOLE.contains(name) {
                    row.get_long(at).map(|value| value.to_string())
                } else if REAL.contains(name) {
                    row.get_double(at).map(assay_core::units::exact)
                } else {
                    row.get_string(at).cloned()
                };
                // Text is escaped for terminals, but published figures contain nothing to escape.
                assert_eq!(got.unwrap_or_default(), want[at], "{name} of row {seen}");
            }
        }
        assert!(seen > 100 && seen == expected.len(), "{seen}");
    }
}
