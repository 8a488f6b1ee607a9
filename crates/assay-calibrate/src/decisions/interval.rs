//! The intervals of a figure, by what they claim to hold.

use assay_analysis::advise::{self, Link, NasQuestion};
use assay_analysis::rank::RankOptions;
use assay_analysis::{Load, Quantity};
use assay_core::record::Record;

use super::{compare::compare, rank::rank};
use crate::found::Failure;

/// What the unit of a record does there and then: the interval beside its figure.
///
/// # Errors
/// A record without a figure.
pub fn today(record: &Record) -> Result<Option<(f64, f64)>, Failure> {
    // Any other group will do: the interval is the group's own.
    let mut other = record.clone();
    other.id.push('x');
    let said = compare(std::slice::from_ref(record), &[other])?;
    Ok(said.sides.first().and_then(|side| side.estimate.as_ref()).and_then(|e| e.low.zip(e.high)))
}

/// What the unit of these records does over many days: of one record what its card and its page show, of several what
/// `assay advise` says of a unit.
///
/// # Errors
/// Records without a figure.
pub fn another_day(records: &[Record]) -> Result<Option<(f64, f64)>, Failure> {
    let load = first_load(records)?;
    if let [one] = records {
        return Ok(assay_analysis::over_days(one, &load, Quantity::Iops).and_then(|e| e.low.zip(e.high)));
    }
    let question = NasQuestion::of(1, Link::Line(1e12));
    let found = advise::nas(records, &[], &question)?;
    let figure = found.models.first().and_then(|model| model.rows.first()).map(|row| &row.local);
    // Advice has rates, the truth has operations.
    let block = load.block_bytes as f64;
    Ok(figure.and_then(|figure| figure.interval).map(|(low, high)| (low / block, high / block)))
}

/// What another unit of the model of these records comes to: the "next unit" of `assay rank`.
///
/// # Errors
/// Records that cannot be ranked.
pub fn another_unit(records: &[Record]) -> Result<Option<(f64, f64)>, Failure> {
    let report = rank(records, &RankOptions::default())?;
    Ok(report.primary.models.first().and_then(|model| model.further_unit))
}

fn first_load(records: &[Record]) -> Result<Load, Failure> {
    let measured = records.first().and_then(|record| record.measurements.first());
    Ok(Load::of(&measured.ok_or("nothing was measured")?.workload))
}
