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
    /// How they worked: `simultaneous`, `staggered` with a limited number at a time, or `alone` one after the other.
    pub mode: String,
    /// Nodes that measured at a time at most.
    pub at_a_time: u32,
    /// How the clock of the node was compared with the one of the coordinator.
    pub clock: Option<ClockFit>,
    /// Why the node lost the coordinator before all was measured, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The loads that all nodes were to run; absent where none were settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settlement>,
}

/// A node that does less than this share of what the node does that a quarter of all do not reach is far below the others. Half,
/// as depth and block are settled in steps of two: who has half the pace costs the others one step at most.
pub const FAR_BELOW: f64 = 0.5;

/// Who settled the loads of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// The coordinator, by what the nodes of this attempt said that they can do.
    Nodes,
    /// The coordinator, as an earlier attempt or round had them.
    Earlier,
}

/// The loads that all nodes of a run were to run, settled before the first repeat by what each node had said that it can
/// do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settlement {
    /// Who settled them.
    pub by: SettledBy,
    /// Nodes that had said what they can do.
    pub nodes: u32,
    /// Test area of all nodes in bytes. One that has less uses what it has.
    pub area_bytes: u64,
    /// Test area that this node had before, in bytes.
    pub own_area_bytes: u64,
    /// Each workload, in the order of the suite.
    pub loads: Vec<SettledLoad>,
}

/// A workload as all nodes were to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettledLoad {
    /// Its name in the suite.
    pub workload: String,
    /// Block in bytes.
    pub block_bytes: u64,
    /// Queue depth of each job.
    pub queue_depth: u32,
    /// Jobs.
    pub jobs: u32,
    /// Operations of this node over those of the node that was decided by, in the same time, by a first look; null where
    /// either is not known.
    pub to_typical: Option<f64>,
    /// Operations of that look; null where nothing is known of this kind of operation.
    pub operations: Option<u32>,
    /// Where this node stood.
    pub standing: Standing,
}

/// Single operations of a node before its first repeat: how long one takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Look {
    /// Seconds that one usually takes.
    pub seconds: f64,
    /// Operations that this rests on; 0 where they were not timed one by one.
    pub operations: u32,
}

/// Where a node stood when the loads of all were settled, by its first look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was counted.
    Counted,
    /// It was not counted, to spare the others, as it seemed to do less than half of what they do. Operations that follow each
    /// other are not independent, so that a look does not say that it is slower.
    LeftOut,
}

impl Standing {
    /// Whether the loads of all were settled without it.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        self != Self::Counted
    }
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
