//! What the operations of a workload do, and where.

use serde::{Deserialize, Serialize};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Reads and writes mixed at random; see `Workload::read_percent`.
    Mixed,
}

/// Where the next operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Block after block, from the start again at the end.
    Sequential,
    /// Uniformly random blocks, aligned to the block size.
    Random,
}
