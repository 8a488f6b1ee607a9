//! Questions and answers about a central volume.

use assay_stats::variation::{PRIOR_DEGREES, PRIOR_DEVIATION};
use serde::Serialize;

use super::figure::Figure;
use super::link::Link;
use super::nas_share::Even;
use super::nas_verdict::NasVerdict;
use crate::{Excluded, Load};

/// A question about a central volume.
#[derive(Debug, Clone, PartialEq)]
pub struct NasQuestion {
    /// Number of nodes.
    pub nodes: u32,
    /// The wire at the volume.
    pub link: Link,
    /// The wire at each node.
    pub node_link: Option<Link>,
    /// Share of the nodes active at the same time.
    pub active_share: f64,
    /// Random operations per second of the volume.
    pub volume_iops: Option<f64>,
    /// Latency of the volume, in seconds.
    pub answer_seconds: Option<f64>,
    /// The lead that local media need, as a share.
    pub margin: f64,
    /// Only loads that match these words.
    pub load: Option<String>,
    /// A hypothetical rate of the bus of the local media, in bytes per second.
    pub what_if_bus: Option<f64>,
}

impl NasQuestion {
    /// A question about `nodes` nodes behind a wire with the defaults: all nodes active at once, no further facts about
    /// the volume, every load, and a margin of 10 % for local media.
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

/// The estimate for a load that ended at the bus, if the bus were faster and nothing else changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The smallest rate, which was measured, and the largest rate, which is that of the bus, in bytes per second.
    pub bytes_per_second: (f64, f64),
    /// Number of nodes at which local media and share are equal: at most, and at least; `None` where one node already
    /// gets less.
    pub break_even: Option<(f64, f64)>,
    /// The answer, where it is the same for the least and the most.
    pub verdict: Option<NasVerdict>,
}

/// What limits a node's share.
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
    /// The rate of a single node that uses the volume alone.
    Alone,
    /// The sum over several nodes that measured the volume at once.
    Together,
    /// The latency of the volume.
    Answer,
    /// The wire at the node.
    NodeWire,
}

/// One term of a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Terms {
    /// The term.
    pub term: Term,
    /// The rate that it leaves to an active node, in bytes per second.
    pub bytes_per_second: f64,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasRow {
    /// The load.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// The rate of the medium, in bytes per second.
    pub local: Figure,
    /// The rate that the volume leaves to one active node, in bytes per second.
    pub share_bytes_per_second: f64,
    /// The term that limits the share.
    pub limit: Term,
    /// All known terms of the share.
    pub terms: Vec<Terms>,
    /// Measurements of the volume.
    pub volume: Option<VolumeFigures>,
    /// Number of nodes at which both are equal, by the estimates.
    pub break_even: Even,
    /// Local over share, by the estimates.
    pub ratio: f64,
    /// Probability that local is faster by more than the margin; `None` without an interval.
    pub probability: Option<f64>,
    /// Whether the answer is about the next unit of the model; else it is about the unit that was measured.
    pub next_unit: bool,
    /// The answer.
    pub verdict: NasVerdict,
    /// The mode of the bus that held the local medium, so that the medium may be faster; an empty string where the mode
    /// is unknown; null where no bus held it.
    pub held_by: Option<String>,
    /// The estimate for another bus, where one was given and the load ended at the bus.
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
    /// Number of nodes.
    pub nodes: u32,
    /// Share of them active at once.
    pub active_share: f64,
    /// The lead that local media need.
    pub margin: f64,
    /// The hypothetical rate of the bus of the local media.
    pub what_if_bus: Option<f64>,
    /// The wire at the volume.
    pub link: Link,
    /// Share of one node by the line rate, in bytes per second; `None` where only a payload is known.
    pub line_share: Option<f64>,
    /// Share of one node by the payload rate, in bytes per second.
    pub payload_share: f64,
    /// Operations per second of the volume, as the user gave them.
    pub volume_iops: Option<f64>,
    /// Model of the volume, where records of it were given.
    pub volume: Option<String>,
    /// The smallest area of the volume in bytes that was read under a load that is judged. 0 where a record does not
    /// state its area; `None` where none was read.
    pub volume_read_bytes: Option<u64>,
    /// Each model of local media.
    pub models: Vec<NasModel>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

/// Measurements of the volume that bear on one load: by one client, by several nodes at once, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VolumeFigures {
    /// The rate of one client alone under the same load, in bytes per second.
    pub alone: Option<Figure>,
    /// Operations per second under the deepest load of the same kind and block size with at least eight operations in
    /// flight. One client measured it, so it is a lower bound of the volume.
    pub deepest: Option<Figure>,
    /// The best rate that one client had under any load in that direction, in bytes per second.
    pub best: Option<Figure>,
    /// The rates of nodes that measured the volume at once.
    pub together: Option<Together>,
}

/// The rate of each of several nodes that measure the volume at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Together {
    /// Number of nodes.
    pub nodes: u32,
    /// Repeats of these runs that are left out, because not all nodes made them at the same time or because another
    /// number of nodes did.
    pub left_out: usize,
    /// The share of one node, in bytes per second.
    pub share: Figure,
}

impl Together {
    /// The sum over all nodes, in bytes per second. With more nodes the volume gives at least this sum.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.share.value * f64::from(self.nodes)
    }
}

impl VolumeFigures {
    /// Squared error of the logarithm of a figure over many days, the largest of all figures, and its degrees of
    /// freedom. For a figure without repeats, the assumed variance of days.
    pub(super) fn error(&self) -> (f64, f64) {
        let together = self.together.as_ref().map(|together| &together.share);
        let all = [self.alone.as_ref(), self.deepest.as_ref(), self.best.as_ref(), together];
        let errors =
            all.into_iter().flatten().map(|f| f.posterior.error().unwrap_or((PRIOR_DEVIATION.powi(2), PRIOR_DEGREES)));
        errors.fold((0.0, PRIOR_DEGREES), |most, error| if error.0 > most.0 { error } else { most })
    }
}
