//! Everything that can make a number untrue, as data with cause and remedy.

mod cause;
mod kind;

pub use kind::{Finding, Severity, Validity, ValidityVerdict, Warning, is_small_area};
