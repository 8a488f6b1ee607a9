//! Everything that can make a number untrue, as data with cause and remedy.

mod cause;
mod kind;
mod reason;
mod remedy;
mod warning;

pub use cause::Cause;
pub use kind::{Finding, Severity, is_small_area};
pub use reason::{AreaLimit, FirmwareFlag, Over, Shortfall, Size, Throttling, VoltageSign};
pub use warning::{Validity, ValidityVerdict, Warning};
