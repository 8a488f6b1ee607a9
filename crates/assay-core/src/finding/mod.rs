//! Everything that can make a number untrue, as data with cause and remedy.

mod cause;
mod kind;
mod reason;
mod source;
mod source_words;
mod warning;

pub use cause::Cause;
pub use kind::{Finding, Severity, is_small_area};
pub use reason::{AreaLimit, FirmwareFlag, Over, Shortfall, Size, Throttling, VoltageSign};
pub use source::{Contradiction, Detail, JobPart, Missing, Place, RowFlaw, SourceAmount, SourceQuantity, Untold};
pub use warning::{Validity, ValidityVerdict, Warning};
