//! Whether a medium is genuine: fills it and checks it, or probes it quickly. A check ends in a record.

pub mod aged;
pub mod files;
pub mod probe;
pub mod quick;
mod record;
mod sys;
pub mod usable;

pub use record::{CheckRecord, CheckSubject};
