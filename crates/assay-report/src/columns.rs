//! Tables as Apache Parquet: columns with their types, each cell present or null.
//!
//! Nothing is compressed, so that every reader can decode it. A store of thousands of records has a few megabytes of
//! figures.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Other numbers.
    Real,
}

/// The cells of a column, in the order of the rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Text.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Other numbers.
    Real(Vec<Option<f64>>),
}

/// A table that is written part by part.
pub struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> Table<W> {
    /// A table with these columns. `sorted` is the number of the column by which all rows are in rising order, where they are.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn begin(out: W, name: &str, columns: &[(&str, Holds)], sorted: Option<i32>) -> Result<Self, ParquetError> {
        let fields = columns.iter().map(|(name, holds)| field(name, *holds)).collect::<Result<_, _>>()?;
        let schema = Type::group_type_builder(name).with_fields(fields).build()?;
        let by = |column_idx| vec![SortingColumn { column_idx, descending: false, nulls_first: false }];
        let properties =
            WriterProperties::builder().set_created_by("assay".to_owned()).set_sorting_columns(sorted.map(by)).build();
        Ok(Self { writer: SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))? })
    }

    /// Writes rows as a group of their own.
    ///
    /// # Errors
    /// What cannot be written; also cells of another type than their column.
    pub fn rows(&mut self, columns: &[Cells]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for cells in columns {
            column(&mut group, cells)?;
        }
        group.close().map(drop)
    }

    /// Ends the table; what it was written to.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn finish(self) -> Result<W, ParquetError> {
        self.writer.into_inner()
    }
}

fn field(name: &str, holds: Holds) -> Result<Arc<Type>, ParquetError> {
    let (physical, converted) = match holds {
        Holds::Whole => (Physical::INT64, ConvertedType::NONE),
        Holds::Real => (Physical::DOUBLE, ConvertedType::NONE),
        Holds::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(converted)
        .build()?;
    Ok(Arc::new(field))
}

fn column<W: Write + Send>(group: &mut SerializedRowGroupWriter<'_, W>, cells: &Cells) -> Result<(), ParquetError> {
    match cells {
        Cells::Whole(cells) => values::<Int64Type, W>(group, cells.iter().copied()),
        Cells::Real(cells) => values::<DoubleType, W>(group, cells.iter().copied()),
        Cells::Text(cells) => {
            let bytes = cells.iter().map(|cell| cell.as_ref().map(|text| ByteArray::from(text.clone().into_bytes())));
            values::<ByteArrayType, W>(group, bytes)
        }
    }
}

fn values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    // A definition level of 0 is a null, which has no value.
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}
