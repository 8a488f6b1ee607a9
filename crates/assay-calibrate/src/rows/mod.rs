//! The rows of the table, a file for each command.

mod advise;
mod compare;
mod interval;
mod odd;
mod plan;
mod rank;

pub use crate::row::MISSED;
use crate::row::{CalibrationRow, missed};

/// All of them.
#[must_use]
pub fn all() -> Vec<CalibrationRow> {
    let each = [
        compare::rows(),
        interval::one_day_rows(),
        interval::rows(),
        rank::rows(),
        rank::confounded_rows(),
        rank::ceiling_rows(),
        odd::rows(),
        odd::group_rows(),
        plan::rows(),
        advise::class_rows(),
        advise::nas_rows(),
        advise::nas_single_rows(),
        advise::buy_rows(),
        advise::cache_rows(),
        advise::cache_single_rows(),
        compare::voice_rows(),
        plan::needed_rows(),
    ];
    each.into_iter().flatten().map(|row| CalibrationRow { missed: missed(&row.name), ..row }).collect()
}
