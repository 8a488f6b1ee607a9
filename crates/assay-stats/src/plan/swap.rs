//! Whether a unit or its slot is to blame: it changes places with a good one.

use super::fault::Fault;
use crate::days::{Day, Run};
use crate::decide::refusal::{at_least, positive};
use crate::interval::{LEVEL, student_t};
use crate::variation::RunVariance;

/// An effect counts from this ratio on.
const LEAST_EFFECT: f64 = 1.15;

/// Sessions of two units in two slots, one in each at least, with the repeats of each: rates, or other positive values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swap<'a> {
    /// The suspect in its own slot.
    pub suspect_home: &'a [Vec<f64>],
    /// The suspect in the slot of the other one.
    pub suspect_away: &'a [Vec<f64>],
    /// The other unit in the suspect's slot.
    pub other_away: &'a [Vec<f64>],
    /// The other unit in its own slot.
    pub other_home: &'a [Vec<f64>],
}

/// A difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Suspect over other unit, or suspect's slot over the other slot.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// It is significant and more than 15 %.
    pub real: bool,
}

/// The effects of unit and slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Culprit {
    /// Suspect against the other unit.
    pub unit: Effect,
    /// Suspect's slot against the other slot.
    pub slot: Effect,
    /// Degrees of freedom between sessions behind both; 0 where there is one in each place.
    pub degrees: u32,
}

/// Separates unit from slot: each effect is half the difference of sums of two cells of mean logarithms (2 by 2
/// crossover).
///
/// Sessions differ by more than their repeats, so the error is that of sessions, with the prior of days
/// ([`RunVariance`]). Where each place has one session, an effect also has to exceed the third contrast of the four
/// cells, which contains only error, by t with its single degree of freedom.
///
/// # Errors
/// Fewer than two repeats in a place, a session without any, values that are not positive and finite.
pub fn swap(cells: &Swap<'_>) -> Result<Culprit, Fault> {
    let all = [cells.suspect_home, cells.suspect_away, cells.other_away, cells.other_home];
    let (mut means, mut weights) = ([0.0; 4], 0.0);
    for (mean, sessions) in means.iter_mut().zip(all) {
        at_least("repeats in each place", 2, sessions.iter().map(Vec::len).sum())?;
        for session in sessions {
            at_least("repeats of a session", 1, session.len())?;
            for value in session {
                *mean += positive("a repeat", *value)?.ln() / (session.len() * sessions.len()) as f64;
            }
        }
        weights += 0.25 / sessions.len() as f64;
    }
    // Units were moved between two sessions in a place, even on one day: each session counts separately.
    let alone = |session| Day { name: None, runs: vec![Run::undated(session)] };
    let days = RunVariance::of_days(all.map(|sessions| sessions.iter().map(|session| alone(session)).collect()));
    let [home, away, other_away, other_home] = means;
    let idle = ((home + other_home) - (away + other_away)) / 2.0;
    let alone = if days.measured() == 0 { student_t(LEVEL, 1).unwrap_or(f64::INFINITY) * idle.abs() } else { 0.0 };
    let half = days.half(LEVEL, weights).unwrap_or(f64::INFINITY).max(alone);
    let effect = |log: f64| Effect {
        ratio: log.exp(),
        interval: ((log - half).exp(), (log + half).exp()),
        real: log.abs() > half && log.abs() > LEAST_EFFECT.ln(),
    };
    Ok(Culprit {
        unit: effect(((home + away) - (other_away + other_home)) / 2.0),
        slot: effect(((home + other_away) - (away + other_home)) / 2.0),
        degrees: days.measured(),
    })
}
