//! Randomised cyclic Latin rectangle: each unit meets a new slot in each round.
//!
//! Units are cut into waves of as many as there are slots; in each round every position moves on
//! by one step for all, so that no two units meet (John and Williams, "Cyclic and Computer
//! Generated Designs", 1995). The first step has no divisor in common with the number of slots,
//! which ties all units together.

use super::design::{Meeting, Mode, Plan};
use super::fault::Fault;
use crate::decide::refusal::at_least;
use crate::random::Generator;

/// Plans that are drawn; the one is kept in which models crowd slots least.
const DRAWS: usize = 200;

/// A plan for units of the given models. The same arguments give the same plan on every platform.
///
/// # Errors
/// No unit, slot or round; more rounds than slots where units move; no plan among 200 that tells
/// units from slots.
pub fn plan(models: &[usize], slots: usize, rounds: usize, mode: Mode, seed: u64) -> Result<Plan, Fault> {
    at_least("units", 1, models.len())?;
    at_least("slots", 1, slots)?;
    at_least("rounds", 1, rounds)?;
    if mode == Mode::Move && rounds > slots {
        return Err(Fault::MoreRoundsThanSlots { rounds, slots });
    }
    let mut generator = Generator::new(seed);
    let mut best: Option<(usize, Plan)> = None;
    let mut fault = Fault::NotConnected;
    for _ in 0..DRAWS {
        let drawn = draw(models, slots, rounds, mode, &mut generator);
        if let Err(found) = drawn.check() {
            fault = found;
            continue;
        }
        let crowding = drawn.crowding();
        if best.as_ref().is_none_or(|(least, _)| crowding < *least) {
            best = Some((crowding, drawn));
        }
    }
    best.map(|(_, plan)| plan).ok_or(fault)
}

fn draw(models: &[usize], slots: usize, rounds: usize, mode: Mode, generator: &mut Generator) -> Plan {
    let order = interleaved(models, generator);
    let waves = models.len().div_ceil(slots);
    let mut names: Vec<usize> = (0..slots).collect();
    generator.shuffle(&mut names);
    let steps = if mode == Mode::Move { steps(slots, rounds, generator) } else { vec![0; rounds] };
    let mut meetings = Vec::with_capacity(models.len() * rounds);
    for (round, step) in steps.iter().enumerate() {
        for (position, unit) in order.iter().enumerate() {
            let wave = (position / slots + round) % waves;
            meetings.push(Meeting { round, wave, slot: names[(position % slots + step) % slots], unit: *unit });
        }
    }
    meetings.sort_unstable();
    Plan { mode, models: models.to_vec(), slots, rounds, waves, meetings }
}

/// Units in an order that spreads models: again and again one random unit of each model that has
/// some left, the models in random order.
fn interleaved(models: &[usize], generator: &mut Generator) -> Vec<usize> {
    let mut names = models.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut groups: Vec<Vec<usize>> =
        names.iter().map(|name| (0..models.len()).filter(|unit| models[*unit] == *name).collect()).collect();
    groups.iter_mut().for_each(|group| generator.shuffle(group));
    let mut order = Vec::with_capacity(models.len());
    while order.len() < models.len() {
        generator.shuffle(&mut groups);
        order.extend(groups.iter_mut().filter_map(Vec::pop));
    }
    order
}

/// How far positions move on in each round, all different: 0, then one without common divisor.
fn steps(slots: usize, rounds: usize, generator: &mut Generator) -> Vec<usize> {
    let mut rest: Vec<usize> = (1..slots).collect();
    generator.shuffle(&mut rest);
    if let Some(first) = rest.iter().position(|step| divisor(*step, slots) == 1) {
        rest.swap(0, first);
    }
    std::iter::once(0).chain(rest).take(rounds).collect()
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}
