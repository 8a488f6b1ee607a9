//! Stores as users make them: a second generator, written from the documents and the help texts alone.
//!
//! It shares nothing with [`crate::fleet`], and was written without knowledge of the program's decisions. So a wrong
//! assumption of the first generator shows here. A [`Store`] has files to import, questions, and the truth:
//!
//! - `world`: models, units, hosts and days with their true speeds, and the result of a run of a unit.
//! - `paper`: a run as a record of assay, or as a text copied from CrystalDiskMark.
//! - `store`: the files, names and questions of one store.
//! - `schedules`, `imports`, `behaviour`: functions that fill stores of a kind, one subject each.
//! - `kinds`: the kinds, and the store of a seed.
//!
//! All speeds are logarithms until they are written; all times are UTC.

mod schedules;
mod store;
mod world;

pub use store::{Drawn, File, Pair, Store};
pub use world::{LOAD_TITLES, LOADS, Model, Unit};

use self::schedules::unit_sd;
use self::store::Plot;
use self::world::{DURABLE, WRITE};

// The kinds of stores, the store of a seed, and the behaviour of media in it.

/// The name of a kind, and the function that fills an empty store.
type Kind = (&'static str, fn(&mut Plot));

/// The kinds of stores, each with its function.
const TOLD: [Kind; 24] = [
    ("five runs of an afternoon, units", schedules::afternoon_of_two_units),
    ("five runs of an afternoon, models", schedules::afternoon_of_models),
    ("an evening across midnight", schedules::across_midnight),
    ("a model a day", schedules::model_a_day),
    ("a unit a day", schedules::unit_a_day),
    ("one run a day", schedules::one_run_a_day),
    ("working days with gaps", schedules::working_days),
    ("days alike, autocorrelated", schedules::days_alike),
    ("a model a computer", schedules::model_a_computer),
    ("a model a computer, one unit on both", schedules::bridged),
    ("shared computers", schedules::shared),
    ("the same units at two computers", schedules::same_units),
    ("best of five beside runs", schedules::best_beside_runs),
    ("best of five, all", schedules::best_of_all),
    ("single figures", schedules::single_figures),
    ("no model named", schedules::nameless),
    ("whole MB/s", schedules::whole),
    ("labels against serial numbers", schedules::labels_and_serials),
    ("copies", schedules::copies),
    ("drift and warm-up", drift),
    ("erratic models", erratic),
    ("odd units", odd),
    ("writes that order differently", writes),
    ("all at once", all_at_once),
];

/// Number of kinds of stores. The kind of a seed is its remainder by this number: seed 0 is of the first kind.
pub const KINDS: u64 = TOLD.len() as u64;

/// The store of a seed.
#[must_use]
pub fn draw(seed: u64) -> Store {
    let (kind, tell) = TOLD[(seed % KINDS) as usize];
    let mut plot = Plot::new(seed);
    tell(&mut plot);
    plot.close(kind)
}

// Behaviour of media: drift, a cold start, erratic models, odd units, write rates that order models differently.

/// Repeats that drift or are correlated, and a slow first one.
fn drift(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(4) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    plot.world.repeats = 3;
    match plot.world.dice.below(3) {
        0 => plot.world.noise.drift = -0.1,
        1 => plot.world.noise.cold = 0.1,
        _ => plot.world.noise.repeat_memory = 0.7,
    }
    let days = 1 + plot.world.dice.below(3) as i64;
    for day in 0..days {
        for (place, unit) in models.iter().flatten().enumerate() {
            for run in 0..2 {
                plot.record(*unit, 0, day, 9.0 + 0.3 * place as f64 + 0.1 * f64::from(run));
            }
        }
    }
    // A cold start is an effect of such days, below the speed of the unit.
    plot.judged.figures = plot.world.noise.cold == 0.0;
    plot.compare_units(models[0][0], models[0][1]);
}

/// One model of two to five varies far more than the others.
fn erratic(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(4) as usize;
    let each = 2 + plot.world.dice.below(5) as usize;
    let models = plot.world.models(count, each, 0.03);
    let wild = 0.12 + 0.15 * plot.world.dice.unit();
    let which = plot.world.dice.below(count as u64) as usize;
    plot.world.models[which].unit_sd = wild;
    for unit in &models[which] {
        let fresh = plot.world.unit(which);
        plot.world.units[*unit].mean = plot.world.units[fresh].mean;
        plot.world.units.pop();
    }
    for (place, unit) in models.iter().flatten().enumerate() {
        plot.record(*unit, 0, place as i64 % 3, 14.0 + 0.1 * place as f64);
    }
    if let [first, second, ..] = models[which][..] {
        plot.compare_units(first, second);
    }
}

/// One to three models with six to thirteen units each; up to two units of the first model are bad.
fn odd(plot: &mut Plot) {
    let count = 1 + plot.world.dice.below(3) as usize;
    let each = 6 + plot.world.dice.below(8) as usize;
    let sd = [0.02, 0.03, 0.05][plot.world.dice.below(3) as usize];
    let models = plot.world.models(count, each, sd);
    let bad = plot.world.dice.below(3) as usize;
    for unit in models[0].iter().take(bad) {
        let loss = 0.25 + 0.75 * plot.world.dice.unit();
        let unit = &mut plot.world.units[*unit];
        unit.odd = true;
        unit.mean = unit.mean.map(|mean| mean - loss);
    }
    for (place, unit) in models.iter().flatten().enumerate() {
        plot.record(*unit, 0, place as i64 % 2, 8.0 + 0.1 * place as f64);
    }
    // A bad unit is not drawn like the others of its model, so figures of models are not those of sold units.
    plot.judged.figures = bad == 0;
    plot.judged.ratios = bad == 0;
    if let [.., first, second] = models[0][..] {
        plot.compare_units(first, second);
    }
}

/// Models where one acknowledges writes faster and the other makes them durable earlier.
fn writes(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(5) as usize;
    let sd = [0.03, 0.05, 0.1][plot.world.dice.below(3) as usize];
    let models = plot.world.models(2, each, sd);
    let sooner = 0.1 + 0.4 * plot.world.dice.unit();
    let later = if plot.world.dice.chance(0.5) { 0.0 } else { 0.1 + 0.5 * plot.world.dice.unit() };
    let shift = |mean: &mut [f64; 5]| {
        mean[WRITE] += sooner;
        mean[DURABLE] -= later;
    };
    shift(&mut plot.world.models[1].mean);
    for unit in &models[1] {
        shift(&mut plot.world.units[*unit].mean);
    }
    for (place, unit) in models.iter().flatten().enumerate() {
        plot.record(*unit, 0, 0, 8.0 + 0.1 * place as f64);
    }
    plot.compare_units(models[0][0], models[1][0]);
}

/// A combination: an erratic model, gaps, several runs a day, drift.
fn all_at_once(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(4) as usize;
    let sd = unit_sd(&mut plot.world);
    let models: Vec<Vec<usize>> = (0..count)
        .map(|_| {
            let each = 1 + plot.world.dice.below(6) as usize;
            let model = plot.world.model(0.0, sd);
            (0..each).map(|_| plot.world.unit(model)).collect()
        })
        .collect();
    plot.world.noise.drift = if plot.world.dice.chance(0.5) { -0.08 } else { 0.0 };
    for unit in models.iter().flatten() {
        let days = 1 + plot.world.dice.below(3);
        for _ in 0..days {
            let day = plot.world.dice.below(10) as i64;
            for run in 0..1 + plot.world.dice.below(3) {
                plot.record(*unit, 0, day, 8.0 + 0.3 * run as f64);
            }
        }
    }
    if let [first, second, ..] = models[0][..] {
        plot.compare_units(first, second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_store_again() {
        for seed in 0..2 * KINDS {
            let (one, two) = (draw(seed), draw(seed));
            assert!(!one.files.is_empty() && !one.models.is_empty(), "{}", one.kind);
            assert!(one.files.iter().zip(&two.files).all(|(one, two)| one.text == two.text), "{}", one.kind);
        }
    }

    #[test]
    fn other_rounds_of_a_kind_are_other_stores() {
        let (one, two) = (draw(1), draw(1 + KINDS));
        assert_eq!(one.kind, two.kind);
        assert_ne!(one.files[0].text, two.files[0].text);
    }
}
