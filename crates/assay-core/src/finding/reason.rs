//! Why a run came to less than its suite asks for, and what slowed its host down.
//!
//! All are data; their words stand at the end.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, counted, rate};

/// What kept the test area smaller than the suite asks for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AreaLimit {
    /// The space that was free before the run.
    FreeSpace,
    /// The file system was full before the area was written.
    FileSystemFull,
    /// The bytes that the run may write.
    WriteLimit,
    /// The time for writing the area.
    Time {
        /// How fast the medium took it.
        bytes_per_second: f64,
    },
    /// Another node of the run has a smaller one.
    OtherNodes,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// Why a workload or a program has fewer repeats than planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Shortfall {
    /// The time or write budget was used up.
    Budget,
    /// Time, write limit or space leave this much, which is too little for it.
    TooLittleRoom {
        /// Bytes that are left for it.
        bytes: u64,
    },
    /// Not one operation was done within its time.
    NothingDone,
    /// The process was stopped (SIGSTOP) in every try.
    Suspended,
    /// The other nodes of the run were past the repeats, as this one takes longer.
    OtherNodesPast,
    /// The test area is smaller than its blocks.
    SmallArea,
    /// The test area is smaller than the blocks that all nodes of the run use.
    CommonBlocks,
    /// Direct I/O here cannot do the blocks that all nodes of the run use.
    CommonAlignment,
    /// What all nodes of the run keep in flight takes longer here than is left of the budget.
    CommonInFlight,
    /// A repeat has no room for ten of its pauses, or the budget was used up.
    LongPauses,
    /// The workload that its rate is a share of has no figure.
    NoRateToShare,
    /// The suite names no original for it, and originals run.
    NoOriginal,
    /// The engine has no such work.
    NoSuchWork {
        /// Its name.
        engine: String,
    },
    /// The file system was full.
    FileSystemFull,
    /// It needs files, and a raw device holds none.
    RawDevice,
    /// Its directory was replaced while it ran.
    DirectoryReplaced,
    /// The system or a tool refused it.
    Refused {
        /// What it said.
        said: String,
    },
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// How large a workload or a program is, in what may be reduced of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Size {
    /// A workload.
    Load {
        /// Bytes of a block, on average.
        block_bytes: u64,
        /// Queue depth of each job.
        queue_depth: u32,
        /// Jobs.
        jobs: u32,
    },
    /// A program that writes a stream.
    Stream {
        /// Bytes of a write.
        block_bytes: u64,
        /// Writes.
        writes: u32,
    },
    /// A program that keeps many files.
    Files {
        /// Files at the start.
        files: u32,
        /// Transactions on them.
        transactions: u32,
    },
    /// A program that inserts rows into a database.
    Rows {
        /// Rows.
        rows: u32,
    },
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// Among what rates were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// The repeats of a load.
    Repeats,
    /// The seconds of one repeat.
    Seconds,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What the firmware of a Raspberry Pi reports (its documentation, `vcgencmd get_throttled`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FirmwareFlag {
    /// The supply voltage is too low.
    UnderVoltage,
    /// The clock is capped.
    ClockCapped,
    /// The processor is throttled.
    Throttled,
    /// The soft limit of the temperature is reached.
    SoftTemperatureLimit,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What shows that the processor was slowed down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "sign", rename_all = "snake_case")]
pub enum Throttling {
    /// The processor counts that it throttled itself for its temperature.
    OwnTemperature {
        /// How many times.
        times: u64,
    },
    /// The clock had a limit for a while.
    ClockLimit {
        /// Policy of the kernel, like `policy0`.
        policy: String,
        /// The limit in kHz.
        khz: u64,
    },
    /// A cooling device was active.
    CoolingDevice {
        /// Its type.
        device: String,
    },
    /// The firmware reports it.
    Firmware {
        /// What it reports.
        flag: FirmwareFlag,
    },
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What shows that the supply voltage was too low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VoltageSign {
    /// The firmware of a Raspberry Pi.
    Firmware,
    /// The voltage monitor of a Raspberry Pi.
    Monitor,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

// The reasons, in words.

impl fmt::Display for AreaLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FreeSpace => "free space allows no more",
            Self::FileSystemFull => "the file system was full",
            Self::WriteLimit => "the write limit allows no more",
            Self::Time { bytes_per_second } => {
                return write!(f, "too slow ({}) to fill more in time", rate(*bytes_per_second));
            }
            Self::OtherNodes => "all nodes of the run use the same area",
            Self::Unknown => NEWER,
        })
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Budget => "the time or write budget was used up",
            Self::TooLittleRoom { bytes } => {
                return write!(f, "time, write limit or space leave {} for it", Bytes(*bytes));
            }
            Self::NothingDone => "nothing was done within its time",
            Self::Suspended => "the process was stopped again and again",
            Self::OtherNodesPast => "the other nodes of the run were past them, as this one takes longer",
            Self::SmallArea => "the test area is smaller than its blocks",
            Self::CommonBlocks => "the test area is smaller than the blocks that all nodes of the run use",
            Self::CommonAlignment => "direct I/O here cannot do the blocks that all nodes of the run use",
            Self::CommonInFlight => {
                "this node is too slow for the queue depth of the run: the time that was left did not suffice for it"
            }
            Self::LongPauses => "a repeat has no room for ten of its pauses, or the budget was used up",
            Self::NoRateToShare => "the workload that its rate is a share of has no figure",
            Self::NoOriginal => "the suite names no original for it",
            Self::NoSuchWork { engine } => return write!(f, "the engine {engine} has no such work"),
            Self::FileSystemFull => "the file system was full",
            Self::RawDevice => "a raw device holds no files",
            Self::DirectoryReplaced => "its directory was replaced",
            Self::Refused { said } => said,
            Self::Unknown => NEWER,
        })
    }
}

/// What this version cannot name.
const NEWER: &str = "for a reason that a newer version of assay knows";

impl Size {
    /// What was asked for and what ran, in words: of a load what of it differs.
    pub(super) fn beside(self, used: Self) -> (String, String) {
        let (Self::Load { block_bytes, queue_depth, jobs }, Self::Load { block_bytes: b, queue_depth: q, jobs: j }) =
            (self, used)
        else {
            return (self.to_string(), used.to_string());
        };
        let parts = [
            (block_bytes != b, Bytes(block_bytes).to_string(), Bytes(b).to_string()),
            (queue_depth != q, format!("QD{queue_depth}"), format!("QD{q}")),
            (jobs != j, jobs_in_words(jobs), jobs_in_words(j)),
        ];
        let differ: Vec<&(bool, String, String)> = parts.iter().filter(|(differs, ..)| *differs).collect();
        let join = |side: fn(&(bool, String, String)) -> &str| {
            differ.iter().map(|part| side(part)).collect::<Vec<_>>().join(", ")
        };
        (join(|part| &part.1), join(|part| &part.2))
    }
}

fn jobs_in_words(jobs: u32) -> String {
    counted(jobs as usize, "job")
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load { block_bytes, queue_depth, jobs } => {
                write!(f, "{}, QD{queue_depth}, {}", Bytes(*block_bytes), jobs_in_words(*jobs))
            }
            Self::Stream { block_bytes, writes } => write!(f, "{writes} writes of {}", Bytes(*block_bytes)),
            Self::Files { files, transactions } => write!(f, "{transactions} transactions on {files} files"),
            Self::Rows { rows } => write!(f, "{rows} rows"),
            Self::Unknown => f.write_str("something that a newer version of assay knows"),
        }
    }
}

impl Over {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Repeats => "repeats",
            Self::Seconds => "seconds",
            Self::Unknown => "time",
        }
    }
}

impl FirmwareFlag {
    /// What it says, as in the documentation of the firmware.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::UnderVoltage => "under-voltage",
            Self::ClockCapped => "clock capped by the firmware",
            Self::Throttled => "throttled",
            Self::SoftTemperatureLimit => "soft temperature limit reached",
            Self::Unknown => "what a newer version of assay knows",
        }
    }
}

impl fmt::Display for Throttling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnTemperature { times: 1 } => f.write_str("it throttled itself once for its temperature"),
            Self::OwnTemperature { times } => write!(f, "it throttled itself {times} times for its temperature"),
            Self::ClockLimit { policy, khz } => write!(f, "{policy} was limited to {} MHz", khz / 1000),
            Self::CoolingDevice { device } => write!(f, "cooling device {device} was active"),
            Self::Firmware { flag } => write!(f, "the firmware says {}", flag.title()),
            Self::Unknown => f.write_str("a sign that a newer version of assay knows"),
        }
    }
}

impl fmt::Display for VoltageSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Firmware => "the firmware says so (get_throttled)",
            Self::Monitor => "alarm of the voltage monitor (rpi_volt)",
            Self::Unknown => "a sign that a newer version of assay knows",
        })
    }
}
