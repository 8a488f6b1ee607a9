//! Everything that can make a number untrue, as data with cause and remedy.

mod cause;
mod kind;
mod remedy;
mod validity;

pub use kind::{Finding, Severity, is_small_area};
pub use validity::{Validity, ValidityVerdict, Warning};
