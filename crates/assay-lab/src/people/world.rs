//! The truth about models, units, hosts and days, and the result of a run of a unit.
//!
//! A figure is the product of the effects of its model, its unit, its computer, the common day, the unit's day, the run
//! and the repeat; their logarithms are normal. The documents state the sizes: units of a model vary by 3 to 25 %, days
//! by 2 to 3 % and up to 5 % (statistics.md), computers by 20 to 200 % at small blocks (compare.md).

use std::collections::BTreeMap;

use crate::Dice;

/// Figures of a run: random reads, sequential reads, sequential writes as acknowledged and as durable, random writes.
pub const LOADS: usize = 5;
/// Random reads of 4 KiB, the decisive load.
pub(super) const RANDOM_READ: usize = 0;
/// Sequential reads of 1 MiB.
pub(super) const READ: usize = 1;
/// Sequential writes of 1 MiB, at the acknowledged rate.
pub(super) const WRITE: usize = 2;
/// The same, including the final sync.
pub(super) const DURABLE: usize = 3;
/// Random writes of 4 KiB.
pub(super) const RANDOM_WRITE: usize = 4;
/// The title of each figure in the program; the durable rate is under that of the write.
pub const LOAD_TITLES: [&str; LOADS] = [
    "random read 4 KiB",
    "sequential read 1 MiB, QD8",
    "sequential write 1 MiB, QD8",
    "sequential write 1 MiB, QD8",
    "random write 4 KiB",
];
/// The thresholds of class A1: operations and bytes per second. Speeds are drawn around these, so that classes are
/// uncertain.
const A1: [f64; LOADS] = [1500.0, 20e6, 12e6, 10e6, 500.0];

/// A model with the mean of its units, as logarithms.
#[derive(Debug, Clone)]
pub struct Model {
    /// The name that users give it.
    pub name: String,
    /// Mean logarithm of each figure over all sold units.
    pub mean: [f64; LOADS],
    /// Standard deviation of the logarithms of its units.
    pub unit_sd: f64,
}

/// A unit with its figures over many days on the first computer, as logarithms.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Index of its model.
    pub model: usize,
    /// Serial number.
    pub serial: String,
    /// Mean logarithm of each figure over many days.
    pub mean: [f64; LOADS],
    /// Whether it was made unlike the others on purpose.
    pub odd: bool,
}

/// A computer.
#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) board: String,
    pub(super) effect: [f64; LOADS],
}

/// Variation that does not come from the unit: standard deviations of logarithms, unless stated otherwise.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    /// Days of a unit.
    pub(super) day: f64,
    /// The effect of a day common to all measurements on a computer.
    pub(super) common_day: f64,
    pub(super) run: f64,
    pub(super) repeat: f64,
    /// Change over the repeats of a run, and the loss of the first repeat of the first run of a day: logarithms.
    pub(super) drift: f64,
    pub(super) cold: f64,
    /// Autocorrelation of repeats, and of days of a unit.
    pub(super) repeat_memory: f64,
    pub(super) day_memory: f64,
}

/// One run.
#[derive(Debug, Clone)]
pub(super) struct WorldRun {
    pub(super) host: usize,
    /// Seconds since 1970.
    pub(super) began: i64,
    /// The true figures of the unit in this run, without the repeats: logarithms.
    pub(super) truth: [f64; LOADS],
    /// Figures of each repeat: operations or bytes per second.
    pub(super) repeats: Vec<[f64; LOADS]>,
}

/// Monday, 2 March 2026, midnight UTC, in seconds since 1970.
const MONDAY: i64 = 1_772_409_600;

/// The truth about a store.
#[derive(Debug)]
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) models: Vec<Model>,
    pub(super) units: Vec<Unit>,
    pub(super) hosts: Vec<Host>,
    pub(super) noise: Noise,
    pub(super) repeats: usize,
    base: [f64; LOADS],
    days_of_all: BTreeMap<(usize, i64), [f64; LOADS]>,
    days_of_units: BTreeMap<(usize, usize, i64), [f64; LOADS]>,
}

impl World {
    /// A world with one computer and no unit; the noise is drawn within the limits of the documents.
    pub(super) fn new(mut dice: Dice) -> Self {
        let mut base: [f64; LOADS] = std::array::from_fn(|load| A1[load].ln() + 0.15 * dice.normal());
        // A write is acknowledged before it is durable.
        base[WRITE] = base[DURABLE] + 0.02 + (base[WRITE] - A1[WRITE].ln()).abs();
        let noise = Noise {
            day: 0.005 + 0.035 * dice.unit(),
            common_day: 0.03 * dice.unit(),
            run: 0.01 * dice.unit(),
            repeat: 0.003 + 0.017 * dice.unit(),
            drift: 0.0,
            cold: 0.0,
            repeat_memory: 0.0,
            day_memory: 0.0,
        };
        let repeats = [1, 3, 3, 5][dice.below(4) as usize];
        let mut world = Self {
            dice,
            models: Vec::new(),
            units: Vec::new(),
            hosts: Vec::new(),
            noise,
            repeats,
            base,
            days_of_all: BTreeMap::new(),
            days_of_units: BTreeMap::new(),
        };
        world.host(0.0);
        world
    }

    /// Adds a computer whose figures deviate by `sd` from those of the first.
    pub(super) fn host(&mut self, sd: f64) -> usize {
        let effect = spread(&mut self.dice, sd);
        let number = self.hosts.len();
        self.hosts.push(Host {
            name: ["pi", "desk", "laptop", "server"][number % 4].to_owned() + &number.to_string(),
            board: ["Raspberry Pi 4", "ASUS B550", "ThinkPad T14", "Supermicro X11"][number % 4].to_owned(),
            effect,
        });
        number
    }

    /// Adds a model whose mean deviates by the logarithm `off` from the base, in all figures.
    pub(super) fn model(&mut self, off: f64, unit_sd: f64) -> usize {
        const NAMES: [&str; 8] =
            ["Ultra A1", "EVO Plus", "Canvas Go", "Elements", "High Endurance", "Pro Max", "Basic 10", "Turbo"];
        let number = self.models.len();
        let mean = self.base.map(|base| base + off);
        self.models.push(Model { name: NAMES[number % NAMES.len()].to_owned(), mean, unit_sd });
        number
    }

    /// Adds a unit to a model.
    pub(super) fn unit(&mut self, model: usize) -> usize {
        let deviation = spread(&mut self.dice, self.models[model].unit_sd);
        let mean = std::array::from_fn(|load| self.models[model].mean[load] + deviation[load]);
        let serial = format!("0x{:08x}", self.dice.below(1 << 32));
        self.units.push(Unit { model, serial, mean, odd: false });
        self.units.len() - 1
    }

    /// Adds models with `units` units each. In seven of ten worlds the models are equal. Returns the units of each.
    pub(super) fn models(&mut self, models: usize, units: usize, unit_sd: f64) -> Vec<Vec<usize>> {
        let apart = if self.dice.chance(0.7) { 0.0 } else { 0.05 + 0.45 * self.dice.unit() };
        (0..models)
            .map(|_| {
                let off = apart * self.dice.normal();
                let model = self.model(off, unit_sd);
                (0..units).map(|_| self.unit(model)).collect()
            })
            .collect()
    }

    /// The result of a run of a unit on a computer, `day` days after the first Monday, at an hour of that day.
    pub(super) fn run(&mut self, unit: usize, host: usize, day: i64, hour: f64) -> WorldRun {
        let began = MONDAY + day * 86_400 + (hour * 3600.0) as i64;
        // Effects of a day follow the user's day: a run after midnight belongs to the evening before.
        let first_of_day = !self.days_of_units.contains_key(&(unit, host, day));
        let of_all = self.day_of_all(host, day);
        let of_unit = self.day_of_unit(unit, host, day);
        let run = spread(&mut self.dice, self.noise.run);
        let mut before = spread(&mut self.dice, self.noise.repeat);
        let (mean, at) = (self.units[unit].mean, self.hosts[host].effect);
        let truth: [f64; LOADS] =
            std::array::from_fn(|load| mean[load] + at[load] + of_all[load] + of_unit[load] + run[load]);
        let repeats = (0..self.repeats)
            .map(|repeat| {
                let memory = self.noise.repeat_memory;
                if repeat > 0 {
                    let fresh = spread(&mut self.dice, self.noise.repeat * (1.0 - memory * memory).sqrt());
                    before = std::array::from_fn(|load| memory * before[load] + fresh[load]);
                }
                let share = (repeat as f64 + 0.5) / self.repeats as f64 - 0.5;
                let cold = if repeat == 0 && first_of_day { self.noise.cold } else { 0.0 };
                std::array::from_fn(|load| (truth[load] + before[load] + self.noise.drift * share - cold).exp())
            })
            .collect();
        WorldRun { host, began, truth, repeats }
    }

    /// The common effect of the measured days of a model on its units, and the mean number of days of a unit (at least 1).
    pub(super) fn days_of(&self, model: usize) -> ([f64; LOADS], f64) {
        let (mut sum, mut units, mut days) = ([0.0; LOADS], 0.0, 0.0);
        for unit in (0..self.units.len()).filter(|unit| self.units[*unit].model == model) {
            let of_unit: Vec<[f64; LOADS]> = self
                .days_of_units
                .keys()
                .filter(|key| key.0 == unit)
                .filter_map(|(_, host, day)| self.days_of_all.get(&(*host, *day)).copied())
                .collect();
            if of_unit.is_empty() {
                continue;
            }
            units += 1.0;
            days += of_unit.len() as f64;
            for day in &of_unit {
                (0..LOADS).for_each(|load| sum[load] += day[load] / of_unit.len() as f64);
            }
        }
        (sum.map(|sum| sum / f64::max(units, 1.0)), f64::max(days / f64::max(units, 1.0), 1.0))
    }

    fn day_of_all(&mut self, host: usize, day: i64) -> [f64; LOADS] {
        let (dice, sd) = (&mut self.dice, self.noise.common_day);
        *self.days_of_all.entry((host, day)).or_insert_with(|| spread(dice, sd))
    }

    fn day_of_unit(&mut self, unit: usize, host: usize, day: i64) -> [f64; LOADS] {
        if let Some(known) = self.days_of_units.get(&(unit, host, day)) {
            return *known;
        }
        let last = self.days_of_units.range((unit, host, i64::MIN)..(unit, host, day)).next_back();
        let last = last.map(|((_, _, then), effect)| (day - then, *effect));
        let effect = match last {
            Some((gap, last)) if self.noise.day_memory > 0.0 => {
                let memory = self.noise.day_memory.powi(gap as i32);
                let fresh = spread(&mut self.dice, self.noise.day * (1.0 - memory * memory).sqrt());
                std::array::from_fn(|load| memory * last[load] + fresh[load])
            }
            _ => spread(&mut self.dice, self.noise.day),
        };
        self.days_of_units.insert((unit, host, day), effect);
        effect
    }
}

/// An effect on all figures. Half of its variance is common to them; both rates of a write share all of it.
pub(super) fn spread(dice: &mut Dice, sd: f64) -> [f64; LOADS] {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let common = half * dice.normal();
    let mut effect = std::array::from_fn(|_| sd * (common + half * dice.normal()));
    effect[DURABLE] = effect[WRITE];
    effect
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_about_what_is_true() {
        let mut world = World::new(Dice::new(4));
        let units = world.models(1, 1, 0.1);
        let unit = units[0][0];
        let logs: Vec<f64> = (0..400).map(|day| world.run(unit, 0, day, 12.0).repeats[0][RANDOM_READ].ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        assert!((mean - world.units[unit].mean[RANDOM_READ]).abs() < 0.02);
    }

    #[test]
    fn a_day_is_the_same_for_all_of_its_runs() {
        let mut world = World::new(Dice::new(5));
        let unit = world.models(1, 1, 0.1)[0][0];
        (world.noise.run, world.noise.repeat) = (0.0, 0.0);
        let figures: Vec<f64> = (0..3).map(|hour| world.run(unit, 0, 2, f64::from(hour)).repeats[0][READ]).collect();
        assert!(figures.iter().all(|figure| (figure / figures[0] - 1.0).abs() < 1e-12));
        assert!((world.run(unit, 0, 3, 1.0).repeats[0][READ] / figures[0] - 1.0).abs() > 1e-6);
    }
}
