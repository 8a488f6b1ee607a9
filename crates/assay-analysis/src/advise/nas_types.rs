//! What is asked and answered about a central volume.

use assay_stats::variation::{PRIOR_DEGREES, PRIOR_DEVIATION};
use serde::Serialize;

use super::figure::Figure;
use super::link::Link;
use super::nas_share::Even;
use super::nas_verdict::NasVerdict;
use crate::{Excluded, Load};

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct NasQuestion {
    /// Nodes.
    pub nodes: u32,
    /// The wire at the volume.
    pub link: Link,
    /// The wire at each node.
    pub node_link: Option<Link>,
    /// Share of the nodes active at the same time.
    pub active_share: f64,
    /// Random operations per second of the volume.
    pub volume_iops: Option<f64>,
    /// Seconds until the volume answers.
    pub answer_seconds: Option<f64>,
    /// By how much local has to be faster, as a share.
    pub margin: f64,
    /// Only loads named so.
    pub load: Option<String>,
    /// Bytes per second that the bus of the local media would give in place of what it gives.
    pub what_if_bus: Option<f64>,
}

impl NasQuestion {
    /// About so many nodes behind a wire, all active at once, of whose volume nothing more is known; under every load,
    /// and local has to be faster by 10 %.
    #[must_use]
    pub fn of(nodes: u32, link: Link) -> Self {
        Self {
            nodes,
            link,
            node_link: None,
            active_share: 1.0,
            volume_iops: None,
            answer_seconds: None,
            margin: 0.1,
            load: None,
            what_if_bus: None,
        }
    }
}

/// What a load that ended at the bus would come to if the bus gave more, and nothing else changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The least, which is what was measured, and the most, which is what the bus gives, in bytes per second.
    pub bytes_per_second: (f64, f64),
    /// Nodes at which local and share are the same: at most, and at least; `None` where one node gets less already.
    pub break_even: Option<(f64, f64)>,
    /// The answer, where it is the same for the least and the most.
    pub verdict: Option<NasVerdict>,
}

/// What ends a node's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// The wire at the volume.
    Wire,
    /// The best rate measured of the volume, which is less than the wire.
    BestRate,
    /// The operations per second of the volume.
    Volume,
    /// What a single node gets from it when it is alone.
    Alone,
    /// What several nodes that measured it at once got in sum.
    Together,
    /// The time of an answer.
    Answer,
    /// The wire at the node.
    NodeWire,
}

/// One term of a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Terms {
    /// Which one.
    pub term: Term,
    /// What it leaves to an active node, in bytes per second.
    pub bytes_per_second: f64,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasRow {
    /// Which one.
    pub load: Load,
    /// The same in words.
    pub title: String,
    /// What the medium gives, in bytes per second.
    pub local: Figure,
    /// What the volume leaves to one active node, in bytes per second.
    pub share_bytes_per_second: f64,
    /// What ends it.
    pub limit: Term,
    /// All that is known of it.
    pub terms: Vec<Terms>,
    /// What was measured of the volume.
    pub volume: Option<VolumeFigures>,
    /// Nodes at which both are the same, by the estimates.
    pub break_even: Even,
    /// Local over share, by the estimates.
    pub ratio: f64,
    /// Probability that local is faster by more than the margin; `None` without an interval.
    pub probability: Option<f64>,
    /// Whether it is about the next unit of the model; else about the unit that was measured.
    pub next_unit: bool,
    /// The answer.
    pub verdict: NasVerdict,
    /// The bus that held the local medium, so that it may do more: its mode, which is empty where it is not known; null where none did.
    pub held_by: Option<String>,
    /// The same with another bus, where that was asked for and the load ended at the bus.
    pub what_if: Option<WhatIf>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasModel {
    /// Its name.
    pub model: String,
    /// Units with records that count.
    pub units: usize,
    /// Its loads.
    pub rows: Vec<NasRow>,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasAdvice {
    /// Nodes.
    pub nodes: u32,
    /// Share of them active at once.
    pub active_share: f64,
    /// By how much local has to be faster.
    pub margin: f64,
    /// What the bus of the local media was asked to give.
    pub what_if_bus: Option<f64>,
    /// The wire at the volume.
    pub link: Link,
    /// Share of one node of the line, bytes per second; `None` where only a payload is known.
    pub line_share: Option<f64>,
    /// The same of the payload.
    pub payload_share: f64,
    /// Operations per second that were said of the volume.
    pub volume_iops: Option<f64>,
    /// Model of the volume, where records of it were given.
    pub volume: Option<String>,
    /// The smallest area in bytes that was read of the volume under a load that is judged, 0 where it is not told of all;
    /// `None` where none was read.
    pub volume_read_bytes: Option<u64>,
    /// Each model of local media.
    pub models: Vec<NasModel>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

/// What was measured of the volume that bears on one load: by one client, by several nodes at once, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VolumeFigures {
    /// What one client gets alone under the same load, in bytes per second.
    pub alone: Option<Figure>,
    /// Operations per second under the deepest load of the same kind and block size with at least
    /// eight in flight; one client measured it, so the volume gives at least that.
    pub deepest: Option<Figure>,
    /// The best rate that one client had under any load in that direction, in bytes per second.
    pub best: Option<Figure>,
    /// What nodes got that measured it at once.
    pub together: Option<Together>,
}

/// What each of several nodes gets that measure the volume at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
    /// So many nodes.
    pub nodes: u32,
    /// Repeats of these runs that were not made by all nodes at the same time, or by another number of nodes.
    pub left_out: usize,
    /// The share of one of them, in bytes per second.
    pub share: Figure,
}

impl Together {
    /// What all of them get, in bytes per second: with more nodes the volume gives at least that in sum.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.share.value * f64::from(self.nodes)
    }
}

impl VolumeFigures {
    /// Squared error of the logarithm of its figures over many days, the largest of them, and its degrees of freedom. Of a
    /// figure without repeats there is what days are assumed to do.
    pub(super) fn error(&self) -> (f64, f64) {
        let together = self.together.as_ref().map(|together| &together.share);
        let all = [self.alone.as_ref(), self.deepest.as_ref(), self.best.as_ref(), together];
        let errors =
            all.into_iter().flatten().map(|f| f.posterior.error().unwrap_or((PRIOR_DEVIATION.powi(2), PRIOR_DEGREES)));
        errors.fold((0.0, PRIOR_DEGREES), |most, error| if error.0 > most.0 { error } else { most })
    }
}
