//! Which way data goes.

use std::fmt;

use serde::Deserialize;

/// Which way data goes: from a medium or memory, or to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// As suites and other tools call it.
impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}
