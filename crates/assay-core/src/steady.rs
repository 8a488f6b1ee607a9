//! Whether a repeat came to a steady state, where its length was decided by that.

use serde::{Deserialize, Serialize};

/// What the stop rule saw of one repeat. The half width is a gate of this repeat alone; the
/// uncertainty of a measurement comes from its repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steady {
    /// What it came to.
    pub status: SteadyStatus,
    /// Relative half width of the 95 % interval within the repeat; null where it was too short.
    pub half_width: Option<f64>,
    /// Fitted change over the kept part, relative to its mean.
    pub drift: Option<f64>,
    /// Correlation of neighbouring batch means.
    pub lag1: Option<f64>,
    /// Time after the warm-up that was left out because it was clearly faster than the rest, in
    /// nanoseconds. Where it is not 0, the rates of the repeat are those of the rest.
    pub truncated_ns: u64,
}

/// How a repeat of open length ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SteadyStatus {
    /// Known well enough and without drift.
    Steady,
    /// Its time was over before it was known well enough; the value stands.
    Unsteady,
    /// Time or bytes were over before anything could be told.
    TooShort,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}
