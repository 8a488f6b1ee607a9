//! Think time: pauses of a job between its operations.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Pauses of a job between its operations, as fio's `thinktime`: after some operations it waits for those in flight,
/// and then pauses. Each thread counts its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Think {
    /// Length of a pause in nanoseconds.
    pub pause_ns: u64,
    /// Operations between two pauses, 1 or more.
    pub after_operations: u32,
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pause = match self.pause_ns {
            ns if ns.is_multiple_of(1_000_000) => format!("{} ms", ns / 1_000_000),
            ns if ns.is_multiple_of(1000) => format!("{} µs", ns / 1000),
            ns => format!("{ns} ns"),
        };
        match self.after_operations {
            1 => write!(f, "{pause} think time"),
            n => write!(f, "{pause} think time every {n}"),
        }
    }
}
