//! How often the program decides wrongly.
//!
//! Each row of the table has a truth, a design and a question. Fleets are drawn by seed ([`assay_lab::fleet`]), their
//! records are what a store gives back of them, and the functions that the commands call decide (`decisions`). The
//! share of wrong answers is held against a bound. Nothing here knows how anything is decided.

mod decisions;
mod found;
mod row;
pub mod rows;

pub use decisions::save;
pub use found::{Failure, RowResult, Tally};
pub use row::{Bound, CalibrationRow, Measured, head, line, measure};
