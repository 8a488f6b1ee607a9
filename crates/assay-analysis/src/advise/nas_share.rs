//! What a central volume leaves to each of its nodes, at how many nodes a medium of their own gives as much, and
//! whether such a medium is faster than the share.

use assay_stats::decide::{About, InputRefusal, Posterior, a_share, not_negative, positive};
use serde::Serialize;

use super::evidence::AdviseError;

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
    fn active(&self) -> Result<f64, InputRefusal> {
        let nodes = positive("the number of nodes", f64::from(self.nodes))?;
        Ok((nodes * positive("the active share", a_share("the active share", self.active_share)?)?).max(1.0))
    }

    fn block(&self) -> Result<f64, InputRefusal> {
        positive("the block size", self.block_bytes as f64)
    }

    /// Terms that the active nodes divide, undivided.
    fn shared(&self) -> Result<Vec<(Limit, f64)>, InputRefusal> {
        let mut terms = vec![(Limit::Wire, self.wire.known_payload()?)];
        if let Some(iops) = self.volume_iops {
            terms.push((Limit::Volume, positive("the operations per second of the volume", iops)? * self.block()?));
        }
        Ok(terms)
    }

    /// Terms that each node has to itself.
    fn own(&self) -> Result<Vec<(Limit, f64)>, InputRefusal> {
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
pub(super) fn share(nas: &Nas) -> Result<Share, InputRefusal> {
    let active = nas.active()?;
    let mut terms: Vec<(Limit, f64)> = nas.shared()?.into_iter().map(|(limit, rate)| (limit, rate / active)).collect();
    terms.extend(nas.own()?);
    let (limit, bytes_per_second) = least(&terms).ok_or(InputRefusal::TooFew { what: "terms", least: 1, given: 0 })?;
    Ok(Share { bytes_per_second, limit, terms })
}

/// Nodes at which a medium of `local` bytes per second is as fast as a share of the volume.
///
/// # Errors
/// As [`share`], and a rate that is not positive and finite.
pub(super) fn break_even(nas: &Nas, local: f64) -> Result<Even, InputRefusal> {
    let local = positive("the rate of the medium", local)?;
    nas.active()?;
    if least(&nas.own()?).is_some_and(|(_, rate)| rate < local) {
        return Ok(Even::Always);
    }
    let (_, total) = least(&nas.shared()?).ok_or(InputRefusal::TooFew { what: "terms", least: 1, given: 0 })?;
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

// Whether a medium in each node is faster than a share of one central volume.

/// Probability that makes a decision.
const SURE: f64 = 0.95;
/// Draws per decision: the standard error of a probability of 0.95 is 0.0015.
const DRAWS: usize = 20_000;

/// The medium in the node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Local {
    /// Bytes per second.
    pub bytes_per_second: Posterior,
    /// Block size it was measured at, in bytes.
    pub block_bytes: u64,
    /// Queue depth it was measured at.
    pub queue_depth: u32,
}

/// The decision and the numbers behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NasDecision {
    /// The answer.
    pub verdict: NasVerdict,
    /// Probability that the medium is faster than the share by more than the margin.
    pub probability: Option<f64>,
    /// The share of one active node.
    pub share: Share,
    /// Nodes at which both are the same, by the estimates.
    pub break_even: Even,
    /// The estimate of the medium over the share.
    pub ratio: f64,
}

/// Whether a medium in each node beats its share of the volume by more than `margin` (0.10 is a usual value), for the
/// model's mean or for the next unit. Given properties of the volume are taken as exact, measured ones with their
/// error. If the rate of the wire is only an upper bound, a medium can beat the bound, but the volume cannot win by it.
///
/// # Errors
/// Different block sizes or queue depths, a next unit where only one unit was measured, and those of [`share`].
pub(super) fn decide(
    local: &Local,
    nas: &Nas,
    about: About,
    margin: f64,
    seed: u64,
) -> Result<NasDecision, AdviseError> {
    if local.block_bytes != nas.block_bytes {
        return Err(AdviseError::Unlike { what: "block size", local: local.block_bytes, other: nas.block_bytes });
    }
    if local.queue_depth != nas.queue_depth {
        let (local, other) = (local.queue_depth.into(), nas.queue_depth.into());
        return Err(AdviseError::Unlike { what: "queue depth", local, other });
    }
    let margin = not_negative("the margin", margin)?;
    let share = share(nas)?;
    let rate = local.bytes_per_second;
    let needed = (share.bytes_per_second * (1.0 + margin)).ln();
    let (mut probability, mut on_that_day) = (None, None);
    match rate.draws(about, DRAWS, seed) {
        Ok(draws) => {
            let faster = |needed: &dyn Fn(usize) -> f64| {
                let faster = draws.iter().enumerate().filter(|(at, rate)| **rate > needed(*at)).count();
                Some(faster as f64 / DRAWS as f64)
            };
            on_that_day = faster(&|_| needed);
            let shifts = shifts(nas, seed)?;
            probability = match shifts.is_empty() {
                true => on_that_day,
                false => faster(&|at| share.shifted(nas, shifts[at]).ln() + margin.ln_1p()),
            };
        }
        Err(InputRefusal::NoInterval { .. }) => {}
        Err(other) => return Err(other.into()),
    }
    let sure = |p: f64| p >= SURE || p <= 1.0 - SURE;
    let verdict = match probability {
        None => NasVerdict::CannotTell(Need::Repeats),
        Some(p) if p <= 1.0 - SURE && nas.random && nas.volume_iops.is_none() => NasVerdict::CannotTell(Need::Volume),
        Some(p) if p >= SURE => NasVerdict::Local,
        Some(p) if p <= 1.0 - SURE => NasVerdict::Nas,
        Some(_) if on_that_day.is_some_and(sure) => NasVerdict::CannotTell(Need::VolumeDays),
        Some(_) => NasVerdict::CannotTell(need(&rate, about, needed)),
    };
    let break_even = break_even(nas, rate.value())?;
    Ok(NasDecision { verdict, probability, ratio: rate.value() / share.bytes_per_second, share, break_even })
}

/// What the logarithm of the terms that were measured may be off by; empty where all is given.
fn shifts(nas: &Nas, seed: u64) -> Result<Vec<f64>, InputRefusal> {
    let Some(measured) = nas.measured else { return Ok(Vec::new()) };
    let shift = Posterior::moderated(0.0, measured.error, None, measured.degrees)?;
    // Another stream of draws than the medium's.
    shift.draws(About::Mean, DRAWS, seed.wrapping_add(1))
}

/// Whether knowing the mean perfectly would decide.
fn need(rate: &Posterior, about: About, needed: f64) -> Need {
    let known = if about == About::NextUnit { rate.units_above(needed) } else { None };
    match known {
        Some(p) if p < SURE && p > 1.0 - SURE => Need::UnitsDiffer,
        _ => Need::MoreMeasurements,
    }
}

// The verdict on a medium in each node against a share of a central volume.

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
    /// More repeats: one value has no interval, and is not far enough from the share.
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

// The wire to a volume or a node.

/// Payload of a full Ethernet frame over its length on the wire with preamble and gap: TCP over
/// IPv4 with time stamps, 1448 of 1538 bytes (IEEE 802.3; RFC 9293 and RFC 7323).
pub(super) const ETHERNET: f64 = 1448.0 / 1538.0;

/// The known rate of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "known_by", content = "bytes_per_second")]
pub enum Link {
    /// Its line rate in bytes per second; TCP over Ethernet leaves 94.1 % of it.
    Line(f64),
    /// Its payload in bytes per second.
    Payload(f64),
}

impl Link {
    /// Bytes of payload per second.
    #[must_use]
    pub fn payload(self) -> f64 {
        match self {
            Self::Line(rate) => rate * ETHERNET,
            Self::Payload(rate) => rate,
        }
    }

    /// The same, where the rate is above zero and finite.
    pub(super) fn known_payload(self) -> Result<f64, InputRefusal> {
        match self {
            Self::Line(rate) => positive("the line rate", rate)?,
            Self::Payload(rate) => positive("the payload rate", rate)?,
        };
        Ok(self.payload())
    }
}
