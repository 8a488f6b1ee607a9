//! What is answered about a medium in each node against a share of a central volume.

use serde::Serialize;

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "answer", content = "needs")]
pub enum NasVerdict {
    /// A medium in each node is faster by more than the margin with 95 % probability.
    Local,
    /// It is not, with 95 % probability.
    Nas,
    /// The data do not tell.
    CannotTell(Need),
}

/// What would tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// More repeats: one value has no interval.
    Repeats,
    /// More measurements: the mean is not known well enough.
    MoreMeasurements,
    /// Nothing: units of this model differ by more than the distance.
    UnitsDiffer,
    /// The volume's operations per second: without them the wire alone bounds its share from above.
    Volume,
    /// A faster bus for the local medium: it was held, so that its figure is at least what it does, and by that nothing is lost.
    Bus,
    /// Its own runs: the best of several is at most what the medium does, and by that nothing is won.
    BestOf,
    /// Further days of the volume: it may change by more than the distance.
    VolumeDays,
}
