//! What time does to data: a medium is written, rests, and is read again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::endurance::FailureKind;
use crate::estimate::Estimate;

/// How old data are, by the clock of the host that wrote them and that of the host that reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Age {
    /// Age of what was written last, when reading began, in seconds.
    pub low_seconds: u64,
    /// Age of what was written first, in seconds.
    pub high_seconds: u64,
}

/// Whether a later reading went the way of the first; null where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SameWay {
    /// On the same host, by its name.
    pub host: Option<bool>,
    /// In the same reader.
    pub reader: Option<bool>,
    /// In the same mode of the bus.
    pub bus: Option<bool>,
}

impl SameWay {
    /// Whether host, reader and bus are all known to be the same.
    #[must_use]
    pub fn is_known(self) -> bool {
        [self.host, self.reader, self.bus] == [Some(true); 3]
    }
}

/// What the speed of a later reading shows, beside that of the reading directly after writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpeedSign {
    /// At least nine tenths of the first speed: the whole interval.
    AsBefore,
    /// Less than nine tenths, the whole interval, in the same reader and mode of the bus: a sign that data fade.
    Slower,
    /// As slow, and the host, the reader or the mode of the bus is another, or not known to be the same.
    SlowerElsewhere,
    /// The interval holds nine tenths, or there is none.
    CannotTell,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// The speed of a later reading beside that of the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedByAge {
    /// Rate of the later reading in bytes per second.
    pub bytes_per_second: f64,
    /// Rate of the first reading, of the same parts.
    pub first_bytes_per_second: f64,
    /// Later rate by first rate: the median over parts. The interval covers the parts of these two readings, and nothing that
    /// makes a whole reading faster or slower.
    pub ratio: Estimate,
    /// Whether the way was the same.
    pub same: SameWay,
    /// What it shows.
    pub sign: SpeedSign,
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

/// What a check of a mounted medium says of data that an earlier check wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retention {
    /// Id of the check that wrote them.
    pub by_check: String,
    /// When that ended writing (RFC 3339).
    pub written: String,
    /// How old they were when they were read.
    pub age: Age,
    /// The speed beside that of the first reading; null where the record of that check is not in the store.
    pub speed: Option<SpeedByAge>,
}
