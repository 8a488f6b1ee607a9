//! What a test and its rounds are: how they begin and end, and how writes are acknowledged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a test began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Version of the format, 1.
    pub version: u32,
    /// The number of the test in its stamps, 16 hexadecimal digits.
    pub id: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// Model, as the medium says or the user labelled it.
    pub model: Option<String>,
    /// Serial number, CID or the user's label.
    pub unit: Option<String>,
    /// Announced size of the medium in bytes.
    pub capacity_bytes: u64,
    /// Blocks of 4096 bytes of the area.
    pub blocks: u64,
    /// Whether a device or a file in a directory is written.
    pub target: Target,
    /// Where the file system of the directory was mounted.
    pub mount_point: Option<String>,
    /// Writers at the same time.
    pub writers: u64,
    /// How writes are acknowledged.
    pub modes: Vec<Mode>,
    /// Labels that the user gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A raw device.
    Device,
    /// A file on a file system.
    File,
}

/// How the medium acknowledges a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A batch by fsync(2).
    Fsync,
    /// A batch by fdatasync(2).
    Fdatasync,
    /// Each write by itself, as with `O_DSYNC` (`RWF_DSYNC` of pwritev2(2)): by FUA where the device has it.
    Dsync,
}

impl Mode {
    /// All of them, in the order of their numbers in the ledger.
    pub const ALL: [Self; 3] = [Self::Fsync, Self::Fdatasync, Self::Dsync];
}

/// A round: the base is written, then the load runs until the power is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// When it began (RFC 3339).
    pub at: String,
    /// Path of the medium then.
    pub path: String,
    /// Boot of the host and the kernel's counter of attachments.
    pub attached: Option<String>,
    /// Whether the kernel sends flushes; null where it does not tell.
    pub flushes: Option<bool>,
    /// Whether the area of a device bore the mark of a file system or a partition table; null where it was not looked at.
    pub marked: Option<bool>,
}

/// The end of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub end: LoadEnd,
    /// Whether the user's command was run before.
    pub by_command: bool,
}

/// How the load of a round ended, as far as the host saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadEnd {
    /// The medium was no longer there.
    Gone,
    /// It answered with an error.
    Errs,
    /// It refused writes.
    ReadOnly,
    /// It did not answer.
    Hung,
    /// The user ended it, with the medium at work.
    Stopped,
    /// Acknowledgements could no longer be kept.
    NoLedger,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}
