//! The intervals of a figure, by what they claim to hold.

use assay_core::record::Record;

use super::compare::compare;
use crate::row::Failure;

/// What the unit of a record does there and then.
///
/// # Errors
/// A record without a figure.
pub fn today(record: &Record) -> Result<Option<(f64, f64)>, Failure> {
    own(std::slice::from_ref(record))
}

/// What the unit of these records does over many days.
///
/// # Errors
/// Records without a figure.
pub fn another_day(records: &[Record]) -> Result<Option<(f64, f64)>, Failure> {
    own(records)
}

/// What another unit of the model of these records does over many days. No command says it yet.
///
/// # Errors
/// None so far.
pub fn another_unit(_: &[Record]) -> Result<Option<(f64, f64)>, Failure> {
    Ok(None)
}

/// The interval that a comparison shows of a group.
fn own(records: &[Record]) -> Result<Option<(f64, f64)>, Failure> {
    // Any other group will do: the interval is the group's own.
    let mut other = records[0].clone();
    other.id.push('x');
    let said = compare(records, &[other])?;
    Ok(said.sides.first().and_then(|side| side.estimate.as_ref()).and_then(|e| e.low.zip(e.high)))
}
