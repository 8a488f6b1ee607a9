//! The rows of the table, a file for each command.

mod buy;
mod cache;
mod ceiling;
mod class;
mod compare;
mod confounded;
mod interval;
mod missed;
mod names;
mod nas;
mod needed;
mod odd;
mod one_day;
mod plan;
mod rank;
mod truths;
mod voice;

use crate::row::Row;

use missed::missed;

pub use missed::MISSED;

/// All of them.
#[must_use]
pub fn all() -> Vec<Row> {
    let each = [
        compare::rows(),
        one_day::rows(),
        interval::rows(),
        rank::rows(),
        confounded::rows(),
        ceiling::rows(),
        odd::rows(),
        plan::rows(),
        class::rows(),
        nas::rows(),
        buy::rows(),
        cache::rows(),
        voice::rows(),
        needed::rows(),
    ];
    each.into_iter().flatten().map(|row| Row { missed: missed(&row.name), ..row }).collect()
}
