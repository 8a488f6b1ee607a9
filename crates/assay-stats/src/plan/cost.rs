//! What a plan takes: minutes and bytes.

use super::design::Plan;
use super::fault::Fault;
use crate::decide::refusal::not_negative;

/// Pause between workloads, in minutes.
const IDLE_AFTER_READ: f64 = 0.5;
/// Pause after one that writes, in minutes: the medium tidies up.
const IDLE_AFTER_WRITE: f64 = 2.0;

/// One workload of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedLoad {
    /// Minutes of one repeat.
    pub minutes: f64,
    /// Bytes that one repeat writes; zero for one that only reads.
    pub written_bytes: u64,
    /// Repeats in a session.
    pub repeats: u32,
}

/// What a plan takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Sessions: one unit in one slot.
    pub sessions: usize,
    /// Minutes of one session.
    pub session_minutes: f64,
    /// Minutes that media are busy, all together.
    pub device_minutes: f64,
    /// Minutes on the clock: units of a wave run at the same time.
    pub clock_minutes: f64,
    /// Bytes written to each unit over all rounds.
    pub written_per_unit: u64,
    /// Bytes written to all units.
    pub written_bytes: u64,
}

/// The cost of `plan` with `fixed_minutes` per session (mounting, booting, conditioning).
///
/// # Errors
/// Minutes that are negative or not finite.
pub fn cost(plan: &Plan, loads: &[PlannedLoad], fixed_minutes: f64) -> Result<Cost, Fault> {
    let mut session_minutes = not_negative("the minutes of a session", fixed_minutes)?;
    let mut written_once = 0u64;
    for load in loads {
        let idle = if load.written_bytes > 0 { IDLE_AFTER_WRITE } else { IDLE_AFTER_READ };
        session_minutes += f64::from(load.repeats) * (not_negative("the minutes of a repeat", load.minutes)? + idle);
        written_once = written_once.saturating_add(load.written_bytes.saturating_mul(load.repeats.into()));
    }
    let sessions = plan.meetings.len();
    Ok(Cost {
        sessions,
        session_minutes,
        device_minutes: session_minutes * sessions as f64,
        clock_minutes: session_minutes * (plan.rounds * plan.waves) as f64,
        written_per_unit: written_once.saturating_mul(plan.rounds as u64),
        written_bytes: written_once.saturating_mul(sessions as u64),
    })
}
