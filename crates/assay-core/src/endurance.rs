//! How long one unit lasted under a stated wear: the document that `assay endure` writes and `assay survive` reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::retention::{Age, SpeedByAge};

/// Version of the document.
pub const ENDURANCE_SCHEMA: u32 = 1;

/// The life of one unit under wear, so far or to its end. Cycles count from 1; the cycle under way counts in milestones
/// and not in [`Endurance::cycles`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Endurance {
    /// Version of this document, 1.
    pub schema: u32,
    /// Name of the test: its stamp on the medium, 16 hexadecimal digits. Two documents with the same id are of one life.
    pub id: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// When this document was written (RFC 3339).
    pub updated: String,
    /// Model, as the medium says or the user labelled it.
    pub model: Option<String>,
    /// The unit: serial number, CID or the user's label.
    pub unit: Option<String>,
    /// Announced size of the medium in bytes.
    pub capacity_bytes: u64,
    /// Bytes that each cycle overwrites once.
    pub area_bytes: u64,
    /// What wears it.
    pub load: WearLoad,
    /// Cycles that were written and read back to their end.
    pub cycles: u64,
    /// Bytes written and logged.
    pub written_bytes: u64,
    /// At most this many bytes more were written, in slices that an interruption cut off.
    pub uncounted_bytes: u64,
    /// Bytes read back and logged.
    pub read_bytes: u64,
    /// Sectors of 512 bytes that failed at least once.
    pub failed_sectors: u64,
    /// Sectors of 512 bytes of the area.
    pub sectors: u64,
    /// First failures by kind, in sectors.
    pub kinds: BTreeMap<FailureKind, u64>,
    /// Readings of sectors that had failed before and held again.
    pub healed: u64,
    /// What was reached, and when.
    pub milestones: Milestones,
    /// How it ended.
    pub end: LifeEnd,
    /// The rest that was asked for; null where there is none, or it was written again since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// Readings after a rest, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rest_reads: Vec<RestRead>,
    /// Labels that the user gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// What wears a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "load", rename_all = "snake_case")]
pub enum WearLoad {
    /// The whole area is overwritten in 16 slices, each from its start to its end.
    Whole,
    /// Each block of the area is overwritten once a cycle, in random order, with a sync after each.
    RandomSync {
        /// Bytes of a block.
        block_bytes: u32,
    },
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl WearLoad {
    /// Its name as the option has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::RandomSync { .. } => "random-sync",
            Self::Other => "other",
        }
    }
}

/// What a sector held in place of what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Only zeros.
    Zeros,
    /// Only ones.
    Ones,
    /// What an earlier cycle wrote there: the write was lost.
    StaleRound,
    /// What was written to another address of this medium.
    OtherAddress,
    /// What another test wrote, on another medium or before.
    OtherDevice,
    /// What was written, with at most a quarter of its bits wrong.
    BitFlips,
    /// Reading it gave an error.
    Unreadable,
    /// Anything else.
    #[serde(other)]
    Garbage,
}

impl FailureKind {
    /// All of them, in the order of their numbers in the log.
    pub const ALL: [Self; 8] = [
        Self::Zeros,
        Self::Ones,
        Self::StaleRound,
        Self::OtherAddress,
        Self::OtherDevice,
        Self::BitFlips,
        Self::Unreadable,
        Self::Garbage,
    ];

    /// Its words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ones => "ones",
            Self::StaleRound => "an earlier cycle",
            Self::OtherAddress => "another address",
            Self::OtherDevice => "another device",
            Self::BitFlips => "bit flips",
            Self::Unreadable => "unreadable",
            Self::Garbage => "garbage",
        }
    }
}

/// A rest that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rest {
    /// For how long, in seconds, from the end of the first reading.
    pub seconds: u64,
    /// Until when (RFC 3339).
    pub until: String,
}

/// A reading of what the last cycle of a test wrote, after a rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestRead {
    /// When it began (RFC 3339).
    pub at: String,
    /// How old the data were; null where the clock was not set when they were written.
    pub age: Option<Age>,
    /// Whether it came before the end of the rest that was asked for.
    pub early: bool,
    /// Seconds by which the clock of the host jumped while it was read; the age may be wrong by as much.
    pub clock_jump_seconds: i64,
    /// The cycle that was read.
    pub cycle: u64,
    /// Slices that were read, of 16.
    pub slices: u32,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Sectors that no longer hold what they held in the first reading. They are no wear, and count in no milestone.
    pub lost_sectors: u64,
    /// These by kind.
    pub kinds: BTreeMap<FailureKind, u64>,
    /// Sectors that do not hold, and had failed under wear before.
    pub worn_sectors: u64,
    /// Sectors that held only when they were read again at once.
    pub transient: u64,
    /// Rates of each slice, in the order of reading.
    pub rates: Vec<SliceRates>,
    /// Its speed beside that of the first reading; null where nothing was read.
    pub speed: Option<SpeedByAge>,
}

/// The rates of a slice in two readings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SliceRates {
    /// The slice, by address from 0.
    pub slice: u64,
    /// Rate after the rest, in bytes per second.
    pub bytes_per_second: f64,
    /// Rate directly after writing, in bytes per second.
    pub first_bytes_per_second: f64,
}

/// When a share of the sectors had failed at least once; null where that was not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Milestones {
    /// The first failed sector.
    pub first_error: Option<Reached>,
    /// A thousandth of the sectors (0.1 %).
    pub per_mille: Option<Reached>,
    /// 1 %.
    pub one_percent: Option<Reached>,
    /// 10 %.
    pub ten_percent: Option<Reached>,
    /// 25 %.
    pub quarter: Option<Reached>,
    /// 50 %.
    pub half: Option<Reached>,
    /// The end of the medium itself; never the end of a reader, a host or the user's patience.
    pub death: Option<Reached>,
}

/// When something was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reached {
    /// In which cycle.
    pub cycle: u64,
    /// Bytes written until then.
    pub written_bytes: u64,
}

/// How a test ended. Everything but a death is censored: the unit lasted at least that long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LifeEnd {
    /// It goes on, or was interrupted and can be resumed.
    Running,
    /// The medium itself is at its end.
    Died {
        /// How it died.
        cause: DeathCause,
    },
    /// The test ended before the medium did, or nothing shows which of the two ended.
    Censored {
        /// Why.
        reason: CensorReason,
    },
}

/// How a medium died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeathCause {
    /// Half of its sectors failed, most of them without an error: they held something else.
    SilentLoss,
    /// Half of its sectors failed, most of them with errors; or it answers only with errors.
    Errors,
    /// It takes no writes any more.
    ReadOnly,
    /// It is no longer seen, while its reader and host work.
    Vanished,
    /// It no longer answers, while its reader and host work.
    Hung,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl DeathCause {
    /// Its words, after "died:".
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::SilentLoss => "lost half of its sectors without an error",
            Self::Errors => "answers with errors",
            Self::ReadOnly => "takes no writes",
            Self::Vanished => "is no longer seen",
            Self::Hung => "no longer answers",
            Self::Other => "died",
        }
    }
}

/// Why a test ended before its medium did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CensorReason {
    /// The cycles, the date or the event that the user asked for were reached.
    Limit,
    /// The user ended it for good.
    Stopped,
    /// The reader failed: a control medium in it fails too, or the medium works in another.
    Reader,
    /// A bus or hub failed: several media vanished together.
    Bus,
    /// The host failed: memory, its log, its power.
    Host,
    /// Another medium took its place.
    Exchanged,
    /// Nothing separates medium, reader and host.
    Unknown,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

impl CensorReason {
    /// Its words, after "censored:".
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Limit => "ended as asked",
            Self::Stopped => "ended by the user",
            Self::Reader => "the reader failed",
            Self::Bus => "several media vanished together: a bus or hub failed",
            Self::Host => "the host failed",
            Self::Exchanged => "another medium took its place",
            Self::Unknown => "nothing shows whether medium, reader or host failed",
            Self::Other => "the test ended",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_in_words_that_other_programs_read() {
        let json = |end: LifeEnd| serde_json::to_string(&end).unwrap_or_default();
        assert_eq!(json(LifeEnd::Running), r#"{"state":"running"}"#);
        assert_eq!(json(LifeEnd::Died { cause: DeathCause::ReadOnly }), r#"{"state":"died","cause":"read_only"}"#);
        let censored = LifeEnd::Censored { reason: CensorReason::Reader };
        assert_eq!(json(censored), r#"{"state":"censored","reason":"reader"}"#);
    }

    #[test]
    fn names_of_later_versions_are_read() {
        let later: Option<LifeEnd> = serde_json::from_str(r#"{"state":"censored","reason":"earthquake"}"#).ok();
        assert_eq!(later, Some(LifeEnd::Censored { reason: CensorReason::Other }));
        let kind: Option<FailureKind> = serde_json::from_str(r#""sparkles""#).ok();
        assert_eq!(kind, Some(FailureKind::Garbage));
    }
}
