//! Whether a medium in each node is faster than a share of one central volume.

use assay_stats::decide::{About, Posterior, Refusal, not_negative};

use super::error::AdviseError;
use super::nas_share::{Even, Nas, Share, break_even, share};
use super::nas_verdict::{NasVerdict, Need};

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
        Err(Refusal::NoInterval { .. }) => {}
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
fn shifts(nas: &Nas, seed: u64) -> Result<Vec<f64>, Refusal> {
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
