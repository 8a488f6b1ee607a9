//! The same workloads and programs by another instrument, in turns with assay's own.

use serde::{Deserialize, Serialize};

use super::original::OriginalRun;
use crate::estimate::Estimate;

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
    #[serde(default)]
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
    #[serde(default)]
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
