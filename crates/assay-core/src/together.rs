//! What runs beside a load.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Workloads that run at the same time on one medium, each in a part of the test area of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
    /// Name of the group within the suite.
    pub group: String,
    /// Titles of the other workloads in it, in the order of the suite.
    pub beside: Vec<String>,
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "beside {}", self.beside.join(" and "))
    }
}
