//! The rows of the table, a file for each command.

mod compare;
mod missed;
mod odd;
mod rank;

use assay_lab::fleet::{Load, Spread, Truth, Units};

use crate::row::Row;

pub use missed::MISSED;
pub(crate) use missed::missed;

/// All of them.
#[must_use]
pub fn all() -> Vec<Row> {
    [compare::rows(), rank::rows(), odd::rows()].into_iter().flatten().collect()
}

/// Repeats vary by 1 %, runs of a unit by as much as is said.
fn spread(run: f64) -> Spread {
    Spread { run, repeat: 0.01, ..Spread::default() }
}

/// Equal models under random reads of 4 KiB.
fn equal(models: usize, units: Units, run: f64) -> Truth {
    Truth::equal(Load::random_read(), models, units, spread(run))
}

/// A share as people read it: `3 %`.
fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}
