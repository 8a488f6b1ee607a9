//! The verdict on a medium in each node against a share of a central volume.

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
    /// A faster bus for the local medium: the bus limited it, so its figure is a lower bound, which cannot decide
    /// against it.
    Bus,
    /// Further runs of the medium: the best of several runs is an upper bound, which cannot decide for it.
    BestOf,
    /// Further days of the volume: days may change it by more than the difference.
    VolumeDays,
}
