//! Whether a unit or its slot is to blame: it changes places with a good one.

use super::fault::{Fault, at_least, positive};
use crate::interval::{LEVEL, student_t};

/// An effect counts from this ratio on.
const LEAST_EFFECT: f64 = 1.15;

/// Repeats of two units in two slots, at least two in each: rates, or other positive values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swap<'a> {
    /// The suspect in its own slot.
    pub suspect_home: &'a [f64],
    /// The suspect in the slot of the other one.
    pub suspect_away: &'a [f64],
    /// The other unit in the suspect's slot.
    pub other_away: &'a [f64],
    /// The other unit in its own slot.
    pub other_home: &'a [f64],
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

/// What is to blame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Culprit {
    /// Suspect against the other unit.
    pub unit: Effect,
    /// Suspect's slot against the other slot.
    pub slot: Effect,
    /// Degrees of freedom behind both.
    pub degrees: u32,
}

/// Separates unit from slot: each effect is half the difference of sums of two cells of mean
/// logarithms, with the variance of repeats within cells (2 by 2 crossing).
///
/// # Errors
/// Fewer than two repeats in a cell, values that are not positive and finite.
pub fn swap(cells: &Swap<'_>) -> Result<Culprit, Fault> {
    let (mut means, mut squares, mut variance, mut degrees) = ([0.0; 4], 0.0, 0.0, 0u32);
    let all = [cells.suspect_home, cells.suspect_away, cells.other_away, cells.other_home];
    for (mean, values) in means.iter_mut().zip(all) {
        at_least("repeats in each place", 2, values.len())?;
        for value in values {
            *mean += positive("a repeat", *value)?.ln() / values.len() as f64;
        }
        squares += values.iter().map(|v| (v.ln() - *mean).powi(2)).sum::<f64>();
        variance += 0.25 / values.len() as f64;
        degrees = degrees.saturating_add(u32::try_from(values.len() - 1).unwrap_or(u32::MAX));
    }
    let error = (squares / f64::from(degrees) * variance).sqrt();
    let t = student_t(LEVEL, degrees).ok_or(Fault::TooFew { what: "repeats", least: 2, given: 0 })?;
    let effect = |log: f64| Effect {
        ratio: log.exp(),
        interval: ((log - t * error).exp(), (log + t * error).exp()),
        real: log.abs() > t * error && log.abs() > LEAST_EFFECT.ln(),
    };
    let [home, away, other_away, other_home] = means;
    Ok(Culprit {
        unit: effect(((home + away) - (other_away + other_home)) / 2.0),
        slot: effect(((home + other_away) - (away + other_home)) / 2.0),
        degrees,
    })
}
