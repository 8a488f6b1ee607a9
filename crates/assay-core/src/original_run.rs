//! How a tool was called in place of assay, and what it printed.

use serde::{Deserialize, Serialize};

/// A run of the tool that a workload or a program was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OriginalRun {
    /// The tool, by the name of its program.
    pub tool: String,
    /// Its version, as it says it; empty where it says none.
    pub version: String,
    /// Its command line, each argument after a space.
    pub command: String,
    /// What it was given on standard input; null where nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// SHA-256 of what it printed.
    pub text_sha256: String,
    /// What it printed, without addresses and serial numbers; null where that is long.
    pub text: Option<String>,
}
