//! Whether slots differ, and whether values change along a session.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::notice::FitError;
use super::observation::Observation;
use super::table::Table;
use crate::random::Generator;

/// Effects below this ratio do not matter.
const MATTERS: f64 = 1.03;
/// Permutations of the slot labels: the smallest p-value is 1 of 1000.
const PERMUTATIONS: u32 = 999;
/// A slot stands out where the slots differ at this level.
const LARGEST_P: f64 = 0.01;
/// A slope is estimated where at least this many degrees of freedom are left: it costs one of them.
const LEAST_DEGREES: usize = 3;
/// What sweeps out to less than this share of its squares has no slope of its own.
const OWN: f64 = 1e-9;
/// Accuracy of effects under permutation, far below any difference that matters.
const ROUGH: f64 = 1e-7;
/// Rounds for that.
const ROUNDS: usize = 500;

/// Change of the logarithm along the order of measurement. It has been taken out of the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderEffect {
    /// Change per step of the order.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// The last value over the first one, by the slope.
    pub ratio: f64,
    /// The interval excludes no change, and the ratio is beyond 3 %: heat, or a cache.
    pub matters: bool,
}

impl OrderEffect {
    /// The slope beside all other effects, and the values without it.
    pub(super) fn estimate(table: &Table, degrees: usize) -> Option<(Self, Vec<f64>)> {
        let order = table.order.as_ref().filter(|_| degrees >= LEAST_DEGREES)?;
        let mean = order.iter().sum::<f64>() / order.len() as f64;
        let along: Vec<f64> = order.iter().map(|o| o - mean).collect();
        let scale = along.iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
        if scale <= 0.0 || !scale.is_finite() {
            return None;
        }
        // Regression on what the other effects leave of the order is regression beside them (Frisch
        // and Waugh 1933).
        let own = table.design.sweep(&along.iter().map(|a| a / scale).collect::<Vec<_>>());
        let squares = own.squares() * scale * scale;
        if squares <= OWN * along.iter().map(|a| a * a).sum::<f64>() {
            return None;
        }
        let slope = own.residuals.iter().zip(&table.y).map(|(r, y)| r * y).sum::<f64>() * scale / squares;
        let adjusted: Vec<f64> = table.y.iter().zip(&along).map(|(y, a)| y - slope * a).collect();
        let rest = table.design.sweep(&adjusted).squares();
        let left = (degrees - 1) as f64;
        let half = StudentsT::new(0.0, 1.0, left).ok()?.inverse_cdf(0.975) * (rest / left / squares).sqrt();
        let (first, last) = along.iter().fold((f64::MAX, f64::MIN), |(low, high), a| (low.min(*a), high.max(*a)));
        let total = slope * (last - first);
        let (low, high) = (slope - half, slope + half);
        let matters = (low > 0.0 || high < 0.0) && total.abs() > MATTERS.ln();
        Some((Self { slope, low, high, ratio: total.exp(), matters }, adjusted))
    }
}

/// A slot that should be left out or repaired; the units have been adjusted for it already.
#[derive(Debug, Clone, PartialEq)]
pub struct OutstandingSlot {
    /// Its name.
    pub slot: String,
    /// Its values over those of the slots it can be compared with.
    pub ratio: f64,
}

/// Whether slots differ at all, and which stand out.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotCheck {
    /// Share of permutations of the slots, within waves, that explain as much.
    pub p_value: f64,
    /// Slots more than 3 % off; empty where slots do not differ at the level of 1 %.
    pub outstanding: Vec<OutstandingSlot>,
}

/// Tests slots by permuting them within waves, 999 times. `None` where the effects of slots and units cannot be
/// separated.
///
/// # Errors
/// As for [`super::fit`].
pub fn slot_check(observations: &[Observation<'_>], seed: u64) -> Result<Option<SlotCheck>, FitError> {
    let mut table = Table::new(observations)?;
    let degrees = table.degrees();
    if !table.slotted || degrees == 0 {
        return Ok(None);
    }
    if let Some((_, adjusted)) = OrderEffect::estimate(&table, degrees) {
        table.y = adjusted;
    }
    let seen = table.design.sweep(&table.y);
    // Sums of squares fall and rise with F, as units, waves and slots keep their numbers.
    let left = table.design.sweep_until(&table.y, ROUGH, ROUNDS).squares();
    let mut groups: Vec<Vec<usize>> = vec![(0..table.y.len()).collect()];
    if let Some(waves) = table.design.factors.get(1) {
        groups =
            (0..waves.levels()).map(|wave| (0..table.y.len()).filter(|&at| waves.of[at] == wave).collect()).collect();
    }
    let mut random = Generator::new(seed);
    let mut shuffled = table.design.clone();
    let mut as_good = 0u32;
    for _ in 0..PERMUTATIONS {
        for group in &groups {
            // Fisher and Yates. The share is below 1, but its product may be rounded up.
            for last in (1..group.len()).rev() {
                let other = (random.uniform() * (last + 1) as f64) as usize;
                shuffled.factors[0].of.swap(group[last], group[other.min(last)]);
            }
        }
        let slots = &table.design.factors[0];
        let factor = super::sweep::Factor::new(
            std::mem::take(&mut shuffled.factors[0].of),
            slots.levels(),
            &table.design.unit,
            table.design.units,
        );
        shuffled.factors[0] = factor;
        as_good += u32::from(shuffled.sweep_until(&table.y, ROUGH, ROUNDS).squares() <= left);
    }
    let p_value = f64::from(as_good + 1) / f64::from(PERMUTATIONS + 1);
    let far = |h: &f64| p_value < LARGEST_P && h.abs() > MATTERS.ln();
    let outstanding = table
        .slots
        .iter()
        .zip(&seen.factors[0])
        .filter(|(_, h)| far(h))
        .map(|(slot, h)| OutstandingSlot { slot: slot.clone(), ratio: h.exp() })
        .collect();
    Ok(Some(SlotCheck { p_value, outstanding }))
}
