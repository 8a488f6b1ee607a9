//! The tools whose measurements suites repeat, and how one of them was called in place of assay.

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;

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

// The same workloads and programs by another instrument, in turns with assay's own.

/// How far another instrument agrees on one workload, or on one program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crosscheck {
    /// Name of the workload or of the program.
    pub workload: String,
    /// The other instrument: `fio`, or the tool that the workload was taken from.
    pub peer: String,
    /// Its version, as it says it.
    pub peer_version: String,
    /// Repeats of both, next to each other in time.
    pub pairs: Vec<Pair>,
    /// Operations per second by assay over the pairs.
    pub ours_iops: Option<Estimate>,
    /// Operations per second by the other.
    pub theirs_iops: Option<Estimate>,
    /// Operations per second, ours over theirs, over the pairs.
    pub ratio: Option<Estimate>,
    /// Median latency, ours over theirs.
    pub p50_ratio: Option<Estimate>,
    /// 99th percentile of the latency, ours over theirs.
    pub p99_ratio: Option<Estimate>,
    /// What went wrong with the other instrument; null where nothing did.
    pub trouble: Option<String>,
}

impl Crosscheck {
    /// One without pairs, of a workload or a program, by an instrument and its version.
    #[must_use]
    pub fn new(workload: impl Into<String>, peer: impl Into<String>, peer_version: impl Into<String>) -> Self {
        Self {
            workload: workload.into(),
            peer: peer.into(),
            peer_version: peer_version.into(),
            pairs: Vec::new(),
            ours_iops: None,
            theirs_iops: None,
            ratio: None,
            p50_ratio: None,
            p99_ratio: None,
            trouble: None,
        }
    }
}

/// One repeat by each instrument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Whether the other ran first.
    pub peer_first: bool,
    /// What assay measured.
    pub ours: Side,
    /// What the other measured.
    pub theirs: Side,
    /// Whether both rates have the final sync in the clock, as the other tool prints no other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub durable: bool,
    /// How the other was called and what it printed, where it is the tool that the workload was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Box<OriginalRun>>,
}

/// What one instrument measured in one repeat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Operations per second; of programs: events, transactions, blocks of memory, writes of a stream.
    pub iops: f64,
    /// Median latency in nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the latency in nanoseconds.
    pub p99_ns: Option<f64>,
}
