//! What a run on a cluster adds to the record of each node.

use serde::{Deserialize, Serialize};

/// The part that a record had in a run on a cluster. A record is counted once by its run, node and attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClusterPart {
    /// Identity of the run, which the records of all its nodes share.
    pub run: String,
    /// Name of the node.
    pub node: String,
    /// Which attempt of the node in this run, from 1.
    pub attempt: u32,
    /// Nodes that the run expected.
    pub nodes: u32,
    /// How they worked: `simultaneous`, `staggered` so many at a time, or `alone` one after the other.
    pub mode: String,
    /// Nodes that measured at a time at most.
    pub at_a_time: u32,
    /// How the clock of the node was compared with the one of the coordinator.
    pub clock: Option<ClockFit>,
    /// Why the node went on without the coordinator, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// The monotonic clock of a node by that of the coordinator, from exchanges of four time stamps each (RFC 5905, section
/// 8): the offset of the exchange with the shortest round trip, which is off by half of that round trip at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockFit {
    /// Coordinator's clock minus the node's at the first common start, in nanoseconds. Both count from an instant of their
    /// own, so that the figure itself says nothing about either clock.
    pub offset_ns: i64,
    /// The offset is off by this much at most, in nanoseconds, drift up to the start included.
    pub bound_ns: u64,
    /// The shortest round trip, in nanoseconds.
    pub round_trip_ns: u64,
    /// Exchanges before the first start.
    pub exchanges: u32,
    /// By how much the node's clock ran slower, in parts per million, by the exchanges before and after; null where the end
    /// was not seen.
    pub drift_ppm: Option<f64>,
    /// The drift is off by this much at most, in parts per million.
    pub drift_bound_ppm: Option<f64>,
}

/// The start of a repeat that nodes began together. Times are those of the
/// coordinator's clock, since its run began; without one they count from the planned moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommonStart {
    /// When all were to begin, in nanoseconds.
    pub planned_ns: i64,
    /// When the first thread of this node began to submit, in nanoseconds.
    pub began_ns: i64,
    /// Both are off by this much at most on the coordinator's clock, in nanoseconds; null where there was none, and the node
    /// began by its own time of day.
    pub bound_ns: Option<u64>,
    /// Nodes that were to begin together.
    pub nodes: u32,
}
