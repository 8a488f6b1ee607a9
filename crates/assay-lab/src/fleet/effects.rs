//! The random effects of a fleet. Each depends only on the seed and on the part that has it. So a fleet stays the same
//! if it is measured again, or if more units are bought.

use super::design::Run;
use super::truth::{Model, Part, Truth, Units};
use assay_engine::mix;

use crate::dice::Dice;

/// The part that has an effect.
#[derive(Debug, Clone, Copy)]
enum Of {
    Unit = 1,
    Host,
    Slot,
    Day,
    Run,
    Repeats,
}

/// Loads are numbered from 1; 0 is the part common to all loads.
const ALL_LOADS: u64 = 0;

/// The effects of a fleet, as logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effects<'a> {
    pub(super) truth: &'a Truth,
    pub(super) seed: u64,
}

impl Effects<'_> {
    fn dice(&self, of: Of, key: [u64; 5]) -> Dice {
        let seed = key.iter().fold(mix(self.seed ^ ((of as u64) << 56)), |seed, part| mix(seed ^ part));
        Dice::new(seed)
    }

    /// An effect that is partly the same under all loads.
    fn correlated(&self, of: Of, [a, b, c]: [u64; 3], load: usize, draw: impl Fn(&mut Dice) -> f64) -> f64 {
        let common = self.truth.spread.common;
        let mut value = 0.0;
        if common > 0.0 {
            value += common.sqrt() * draw(&mut self.dice(of, [a, b, c, ALL_LOADS, 0]));
        }
        if common < 1.0 {
            value += (1.0 - common).sqrt() * draw(&mut self.dice(of, [a, b, c, load as u64 + 1, 0]));
        }
        value
    }

    /// The level of a model under a load.
    pub(super) fn model(&self, model: usize, load: usize) -> f64 {
        (self.truth.loads[load].iops * self.truth.models[model].ratio).ln()
    }

    /// The effect of a unit, relative to its model, under a load.
    pub(super) fn unit(&self, model: usize, unit: usize, load: usize) -> f64 {
        let Model { units, .. } = self.truth.models[model];
        let key = [model as u64, unit as u64, 0];
        let normal = |deviation: f64| deviation * self.correlated(Of::Unit, key, load, Dice::normal);
        let own = match units {
            Units::Normal(deviation) => normal(deviation),
            Units::Heavy(deviation) => deviation * self.correlated(Of::Unit, key, load, heavy),
            Units::Kinds { share, ratio, deviation } => {
                let second = self.dice(Of::Unit, [model as u64, unit as u64, 0, ALL_LOADS, 1]).chance(share);
                normal(deviation) + if second { ratio.ln() } else { 0.0 }
            }
        };
        own + self.off(Part::Unit(model, unit))
    }

    /// The effect of a run, relative to its unit: host, slot, day, and the unit's own effect on that day. `attempt`
    /// tells several runs of a unit on one day apart.
    pub(super) fn run(&self, run: &Run, attempt: usize, load: usize) -> f64 {
        let spread = self.truth.spread;
        let plain = |deviation: f64, of, key| {
            if deviation > 0.0 { deviation * self.dice(of, key).normal() } else { 0.0 }
        };
        let host = plain(spread.host, Of::Host, [run.host as u64, 0, 0, 0, 0]) + self.off(Part::Host(run.host));
        let slot = run.slot.map_or(0.0, |slot| {
            plain(spread.slot, Of::Slot, [run.host as u64, slot as u64, 0, 0, 0]) + self.off(Part::Slot(run.host, slot))
        });
        let day = plain(spread.day, Of::Day, [run.host as u64, run.day.into(), 0, 0, 0]) + self.off(Part::Day(run.day));
        let whose = [run.model as u64, run.unit as u64, measuring(run, attempt)];
        let own = if spread.run > 0.0 { spread.run * self.correlated(Of::Run, whose, load, Dice::normal) } else { 0.0 };
        host + slot + day + own
    }

    fn off(&self, part: Part) -> f64 {
        self.truth.off.iter().filter(|(of, _)| *of == part).map(|(_, ratio)| ratio.ln()).sum()
    }

    /// The repeats of a run under a load, without end. Each depends on the one before it.
    pub(super) fn repeats(&self, run: &Run, attempt: usize, load: usize) -> impl Iterator<Item = f64> + use<> {
        let whose = [run.model as u64, run.unit as u64, measuring(run, attempt), load as u64, 0];
        let mut dice = self.dice(Of::Repeats, whose);
        let (deviation, phi) = (self.truth.spread.repeat, self.truth.spread.autocorrelation);
        let mut last: Option<f64> = None;
        std::iter::repeat_with(move || {
            let new = dice.normal();
            let value = last.map_or(new, |last| phi * last + (1.0 - phi * phi).sqrt() * new);
            last = Some(value);
            deviation * value
        })
    }
}

/// Number of a measurement of a unit, from host, day and attempt; it has 64 bits on every processor.
fn measuring(run: &Run, attempt: usize) -> u64 {
    (run.host as u64) << 32 | u64::from(run.day) << 16 | attempt as u64
}

/// Student's t with three degrees of freedom, divided by its deviation.
fn heavy(dice: &mut Dice) -> f64 {
    let squares: f64 = (0..3).map(|_| dice.normal().powi(2)).sum();
    dice.normal() / squares.sqrt()
}
