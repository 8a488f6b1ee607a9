//! What a central volume leaves to each of its nodes, and at how many nodes a medium of their own gives as much.

use assay_stats::decide::{Refusal, a_share, positive};
use serde::Serialize;

use super::link::Link;

/// A central volume and its nodes, for one workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nas {
    /// The wire at the volume.
    pub wire: Link,
    /// The wire at each node, where it is known.
    pub node_wire: Option<Link>,
    /// Operations per second that the volume itself gives at this block size, where known.
    pub volume_iops: Option<f64>,
    /// Whether operations are at random places: then the wire is a bound, and the volume may give far less.
    pub random: bool,
    /// Seconds from asking for a block until it arrives, with the time to serve it, where known.
    pub answer_seconds: Option<f64>,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Queue depth of each node.
    pub queue_depth: u32,
    /// Nodes.
    pub nodes: u32,
    /// Share of the nodes that is active at the same time; 1 is the worst case.
    pub active_share: f64,
    /// The terms that were measured on the volume; `None` where all are given.
    pub measured: Option<MeasuredTerms>,
}

/// Terms that were measured on the volume. They share the effect of that day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeasuredTerms {
    /// The wire is the best rate of a client.
    pub wire: bool,
    /// The operations per second.
    pub volume: bool,
    /// The time of an answer.
    pub answer: bool,
    /// Squared error of their logarithms.
    pub error: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
}

impl MeasuredTerms {
    fn holds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Wire => self.wire,
            Limit::Volume => self.volume,
            Limit::Latency => self.answer,
            Limit::NodeWire => false,
        }
    }
}

/// What a node's share ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// The wire at the volume.
    Wire,
    /// The operations per second of the volume.
    Volume,
    /// Round trip and queue depth.
    Latency,
    /// The wire at the node.
    NodeWire,
}

/// Bytes per second that one active node gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Share {
    /// The smallest of the terms.
    pub bytes_per_second: f64,
    /// Which one that is.
    pub limit: Limit,
    /// All that are known, in bytes per second.
    pub terms: Vec<(Limit, f64)>,
}

/// Nodes at which both are the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Even {
    /// That many, which is no whole number; more nodes, and local is faster.
    Nodes(f64),
    /// Already one node gets less from the volume, by a term that nodes do not share.
    Always,
}

impl Nas {
    fn active(&self) -> Result<f64, Refusal> {
        let nodes = positive("the number of nodes", f64::from(self.nodes))?;
        Ok((nodes * positive("the active share", a_share("the active share", self.active_share)?)?).max(1.0))
    }

    fn block(&self) -> Result<f64, Refusal> {
        positive("the block size", self.block_bytes as f64)
    }

    /// Terms that the active nodes divide, undivided.
    fn shared(&self) -> Result<Vec<(Limit, f64)>, Refusal> {
        let mut terms = vec![(Limit::Wire, self.wire.known_payload()?)];
        if let Some(iops) = self.volume_iops {
            terms.push((Limit::Volume, positive("the operations per second of the volume", iops)? * self.block()?));
        }
        Ok(terms)
    }

    /// Terms that each node has to itself.
    fn own(&self) -> Result<Vec<(Limit, f64)>, Refusal> {
        let mut terms = Vec::new();
        if let Some(seconds) = self.answer_seconds {
            let depth = positive("the queue depth", f64::from(self.queue_depth))?;
            terms.push((Limit::Latency, depth * self.block()? / positive("the time to answer", seconds)?));
        }
        if let Some(wire) = self.node_wire {
            terms.push((Limit::NodeWire, wire.known_payload()?));
        }
        Ok(terms)
    }
}

fn least(terms: &[(Limit, f64)]) -> Option<(Limit, f64)> {
    terms.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// What one active node gets: the smallest of its part of the wire, its part of the volume's
/// operations, what round trips allow (Little's law) and its own wire.
///
/// # Errors
/// A quantity that is not positive and finite, a share outside 0 to 1.
pub(super) fn share(nas: &Nas) -> Result<Share, Refusal> {
    let active = nas.active()?;
    let mut terms: Vec<(Limit, f64)> = nas.shared()?.into_iter().map(|(limit, rate)| (limit, rate / active)).collect();
    terms.extend(nas.own()?);
    let (limit, bytes_per_second) = least(&terms).ok_or(Refusal::TooFew { what: "terms", least: 1, given: 0 })?;
    Ok(Share { bytes_per_second, limit, terms })
}

/// Nodes at which a medium of `local` bytes per second is as fast as a share of the volume.
///
/// # Errors
/// As [`share`], and a rate that is not positive and finite.
pub(super) fn break_even(nas: &Nas, local: f64) -> Result<Even, Refusal> {
    let local = positive("the rate of the medium", local)?;
    nas.active()?;
    if least(&nas.own()?).is_some_and(|(_, rate)| rate < local) {
        return Ok(Even::Always);
    }
    let (_, total) = least(&nas.shared()?).ok_or(Refusal::TooFew { what: "terms", least: 1, given: 0 })?;
    // A single node is always whole: the active share divides from the second one on.
    Ok(if total < local { Even::Always } else { Even::Nodes(total / (nas.active_share * local)) })
}

impl Share {
    /// The share if the measured terms of the volume are off by `shift` in their logarithm.
    pub(super) fn shifted(&self, nas: &Nas, shift: f64) -> f64 {
        let factor = |limit| if nas.measured.is_some_and(|m| m.holds(limit)) { shift.exp() } else { 1.0 };
        self.terms.iter().map(|(limit, rate)| rate * factor(*limit)).fold(f64::INFINITY, f64::min)
    }
}
