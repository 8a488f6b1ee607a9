//! The long table as Apache Parquet: columns with their types, each cell present or null.
//!
//! Nothing is compressed, so that every reader can decode it. A store of thousands of records has a few megabytes of
//! figures.

use std::sync::Arc;

use assay_core::record::Record;
use assay_core::text::clean;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::long::{COLUMNS, Row, rows};

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
    let fields = COLUMNS.iter().map(|name| field(name)).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("figures").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_created_by("assay".to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for at in 0..COLUMNS.len() {
        column(&mut group, &rows, at)?;
    }
    group.close()?;
    writer.into_inner()
}

fn field(name: &str) -> Result<Arc<Type>, ParquetError> {
    let (physical, converted) = if WHOLE.contains(&name) {
        (Physical::INT64, ConvertedType::NONE)
    } else if REAL.contains(&name) {
        (Physical::DOUBLE, ConvertedType::NONE)
    } else {
        (Physical::BYTE_ARRAY, ConvertedType::UTF8)
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(converted)
        .build()?;
    Ok(Arc::new(field))
}

fn column(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, rows: &[Row], at: usize) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let cells = || rows.iter().map(|row| row[at].as_str());
    // A definition level of 0 is a null, which has no value.
    let levels = |present: &[bool]| -> Vec<i16> { present.iter().map(|present| i16::from(*present)).collect() };
    if WHOLE.contains(&COLUMNS[at]) {
        let values: Vec<Option<i64>> = cells().map(|cell| cell.parse().ok()).collect();
        let present: Vec<bool> = values.iter().map(Option::is_some).collect();
        let values: Vec<i64> = values.into_iter().flatten().collect();
        column.typed::<Int64Type>().write_batch(&values, Some(&levels(&present)), None)?;
    } else if REAL.contains(&COLUMNS[at]) {
        let values: Vec<Option<f64>> = cells().map(|cell| cell.parse().ok()).collect();
        let present: Vec<bool> = values.iter().map(Option::is_some).collect();
        let values: Vec<f64> = values.into_iter().flatten().collect();
        column.typed::<DoubleType>().write_batch(&values, Some(&levels(&present)), None)?;
    } else {
        let present: Vec<bool> = cells().map(|cell| !cell.is_empty()).collect();
        let values: Vec<ByteArray> =
            cells().filter(|cell| !cell.is_empty()).map(|cell| ByteArray::from(clean(cell).into_bytes())).collect();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels(&present)), None)?;
    }
    column.close()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn a_reader_of_parquet_finds_every_cell_of_the_table() {
        let records = assay_analysis::published("").unwrap();
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
