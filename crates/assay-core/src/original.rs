//! The tools whose measurements suites repeat, and how one of them was called in place of assay.

use serde::{Deserialize, Serialize};

/// A tool that can run a workload in place of assay: `original = "hdparm"` in a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Original {
    /// fio, with equal options.
    Fio,
    /// hdparm `-t`, with `--direct` where the workload is direct.
    Hdparm,
    /// GNU dd: writes zeros with `conv=fsync`, or reads the test file.
    Dd,
    /// iozone `-e`, with `-I` where the workload is direct.
    Iozone,
    /// ioping `-R`, with `-D` where the workload is direct.
    Ioping,
    /// f3write and f3read: files of 1 GiB through the page cache, which is emptied behind them.
    F3,
    /// bonnie++ `-f -n 0`, with `-D` where the workload is direct.
    #[serde(rename = "bonnie++")]
    Bonnie,
    /// sysbench cpu and memory, for programs.
    Sysbench,
    /// PostMark, for programs.
    Postmark,
}

impl Original {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Fio,
        Self::Hdparm,
        Self::Dd,
        Self::Iozone,
        Self::Ioping,
        Self::F3,
        Self::Bonnie,
        Self::Sysbench,
        Self::Postmark,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "dd",
            Self::Iozone => "iozone",
            Self::Ioping => "ioping",
            Self::F3 => "f3",
            Self::Bonnie => "bonnie++",
            Self::Sysbench => "sysbench",
            Self::Postmark => "postmark",
        }
    }

    /// The Debian package that brings it, with the part of the archive where that is not main.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "coreutils",
            Self::Iozone => "iozone3, of non-free",
            Self::Ioping | Self::F3 | Self::Bonnie | Self::Sysbench | Self::Postmark => self.name(),
        }
    }
}

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
