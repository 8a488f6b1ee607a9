//! Whether a medium is genuine: fills it and checks it, or probes it quickly.

pub mod files;
pub mod probe;
pub mod quick;
