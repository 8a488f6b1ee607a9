//! Times and places of measurements: an afternoon, a model a day, every evening, working days; a computer for each
//! model, several that share units, one unit on all of them.

use super::store::{Mark, Naming, Pair, Plot};
use super::world::World;

/// Adds one model with `units` units. In seven of ten stores all units are truly equal.
fn one_model(world: &mut World, units: usize) -> Vec<usize> {
    let sd = if world.dice.chance(0.7) { 0.0 } else { 0.03 + 0.12 * world.dice.unit() };
    let model = world.model(0.0, sd);
    (0..units).map(|_| world.unit(model)).collect()
}

/// A typical variation of the units of a model.
pub(super) fn unit_sd(world: &mut World) -> f64 {
    [0.03, 0.05, 0.1, 0.15][world.dice.below(4) as usize]
}

/// Two units with five runs each in one afternoon, one unit after the other or alternating.
pub(super) fn afternoon_of_two_units(plot: &mut Plot) {
    let units = one_model(&mut plot.world, 2);
    let in_turns = plot.world.dice.chance(0.5);
    let mut runs = Vec::new();
    for run in 0..10 {
        let unit = units[if in_turns { run % 2 } else { run / 5 }];
        runs.push(plot.record(unit, 0, 0, 13.0 + 0.2 * run as f64));
    }
    plot.compare_units(units[0], units[1]);
    plot.compare_runs(&runs[0], &runs[1]);
}

/// Two to five models of two to four units, five runs each, all in one afternoon.
pub(super) fn afternoon_of_models(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(4) as usize;
    let each = 2 + plot.world.dice.below(3) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(count, each, sd);
    let mut hour = 12.0;
    for unit in models.iter().flatten() {
        for _ in 0..5 {
            plot.record(*unit, 0, 0, hour);
            hour += 0.05;
        }
    }
    plot.compare_units(models[0][0], models[0][1]);
}

/// A user west of Greenwich measures two units in an evening that ends after midnight UTC.
pub(super) fn across_midnight(plot: &mut Plot) {
    let units = one_model(&mut plot.world, 2);
    let evenings = 1 + plot.world.dice.below(3) as i64;
    for evening in 0..evenings {
        for run in 0..6 {
            for unit in &units {
                plot.record(*unit, 0, evening, 22.6 + 0.5 * f64::from(run));
            }
        }
    }
    plot.compare_units(units[0], units[1]);
}

/// All cards of the first model on Monday, of the second on Tuesday, and so on.
pub(super) fn model_a_day(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(3) as usize;
    let each = 2 + plot.world.dice.below(5) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(count, each, sd);
    let runs = 1 + plot.world.dice.below(3) as usize;
    for (day, units) in models.iter().enumerate() {
        for (place, unit) in units.iter().enumerate() {
            for run in 0..runs {
                plot.record(*unit, 0, day as i64, 9.0 + 0.5 * place as f64 + 0.1 * run as f64);
            }
        }
    }
    plot.compare_units(models[0][0], models[0][1]);
}

/// Each unit on its own day, in the order of purchase.
pub(super) fn unit_a_day(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(2) as usize;
    let each = 2 + plot.world.dice.below(4) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(count, each, sd);
    let runs = 1 + plot.world.dice.below(4) as usize;
    let mut day = 0;
    for place in 0..each {
        for units in &models {
            for run in 0..runs {
                plot.record(units[place], 0, day, 18.0 + 0.2 * run as f64);
            }
            day += 1;
        }
    }
    plot.compare_units(models[0][0], models[0][1]);
}

/// Two units of a model with one run a day for one to nine days, both each day or alternating.
pub(super) fn one_run_a_day(plot: &mut Plot) {
    let units = one_model(&mut plot.world, 2);
    let days = 1 + plot.world.dice.below(9) as i64;
    let in_turns = plot.world.dice.chance(0.4);
    for day in 0..days {
        for (place, unit) in units.iter().enumerate() {
            let day = if in_turns { 2 * day + place as i64 } else { day };
            plot.record(*unit, 0, day, 19.0 + place as f64);
        }
    }
    plot.compare_units(units[0], units[1]);
}

/// Models over one to three weeks: only working days, some left out, with one or more units on each.
pub(super) fn working_days(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(3) as usize;
    let each = 1 + plot.world.dice.below(4) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(count, each, sd);
    let all: Vec<usize> = models.iter().flatten().copied().collect();
    let weeks = 1 + plot.world.dice.below(3) as i64;
    let mut seen = vec![0; plot.world.units.len()];
    for day in (0..7 * weeks).filter(|day| day % 7 < 5) {
        if plot.world.dice.chance(0.3) {
            continue;
        }
        for _ in 0..1 + plot.world.dice.below(4) {
            let unit = all[plot.world.dice.below(all.len() as u64) as usize];
            let hour = 8.0 + 8.0 * plot.world.dice.unit();
            seen[unit] += 1;
            plot.record(unit, 0, day, hour);
        }
    }
    for unit in all.iter().copied().filter(|unit| seen[*unit] == 0) {
        plot.record(unit, 0, 7 * weeks, 9.0);
    }
    if let [first, second, ..] = models[0][..] {
        plot.compare_units(first, second);
    }
}

/// Two units over days that each resemble the day before. The documents (compare.md) say that such units are distinguished
/// falsely, so intervals and verdicts on them are counted and not held against the program.
pub(super) fn days_alike(plot: &mut Plot) {
    let units = one_model(&mut plot.world, 2);
    plot.world.noise.day_memory = 0.5 + 0.3 * plot.world.dice.unit();
    let days = 2 + plot.world.dice.below(6) as i64;
    for day in 0..days {
        for unit in &units {
            plot.record(*unit, 0, day, 20.0);
        }
    }
    plot.judged.figures = false;
    plot.compare_units(units[0], units[1]);
}

/// Deviation between computers: 20 to 200 % at small blocks (docs/compare.md).
const HOST_SD: f64 = 0.4;

/// Each model on its own computer, on its own days or on common ones; nothing connects them.
pub(super) fn model_a_computer(plot: &mut Plot) {
    apart(plot, false);
}

/// The same, but one unit of the first model was measured on all computers.
pub(super) fn bridged(plot: &mut Plot) {
    apart(plot, true);
}

fn apart(plot: &mut Plot, is_bridged: bool) {
    let count = 2 + plot.world.dice.below(2) as usize;
    let each = 1 + plot.world.dice.below(5) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(count, each, sd);
    for _ in 1..count {
        let sd = if plot.world.dice.chance(0.3) { 0.05 } else { HOST_SD };
        plot.world.host(sd);
    }
    let runs = 1 + plot.world.dice.below(3) as usize;
    let another_day = i64::from(plot.world.dice.chance(0.5));
    for (host, units) in models.iter().enumerate() {
        for (place, unit) in units.iter().enumerate() {
            for run in 0..runs {
                let hour = 9.0 + 0.4 * place as f64 + 0.1 * run as f64;
                plot.record(*unit, host, another_day * host as i64, hour);
            }
        }
    }
    if is_bridged {
        for host in 1..count {
            plot.record(models[0][0], host, another_day * host as i64, 17.0);
        }
    }
    plot.judged.figures = false;
    plot.judged.ratios = false;
    plot.compare_units(models[0][0], models[1][0]);
    if !is_bridged {
        plot.apart = true;
        plot.pair_is_apart();
    }
}

/// Several computers that each measured units of all models, every unit on one of them.
pub(super) fn shared(plot: &mut Plot) {
    let count = 2 + plot.world.dice.below(2) as usize;
    let sd = unit_sd(&mut plot.world);
    let each = 2 * (1 + plot.world.dice.below(3) as usize);
    let models = plot.world.models(count, each, sd);
    let sd = if plot.world.dice.chance(0.5) { 0.1 } else { HOST_SD };
    plot.world.host(sd);
    for units in &models {
        for (place, unit) in units.iter().enumerate() {
            plot.record(*unit, place % 2, place as i64 / 2, 10.0);
        }
    }
    plot.judged.figures = false;
    plot.judged.odd = false;
    plot.judged.ratios = false;
    plot.compare_units(models[0][0], models[0][1]);
    plot.pair_is_apart();
}

/// Cards measured on one computer and then on another one, which is equal or slower: `compare` of the hosts.
pub(super) fn same_units(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(5) as usize;
    let sd = unit_sd(&mut plot.world);
    let units = plot.world.models(1, each, sd).remove(0);
    let sd = if plot.world.dice.chance(0.6) { 0.0 } else { 0.3 };
    plot.world.host(sd);
    for host in 0..2 {
        let site = ["home", "work"][host];
        for (place, unit) in units.iter().enumerate() {
            let run = plot.world.run(*unit, host, host as i64, 9.0 + 0.3 * place as f64);
            let mut naming = plot.naming(*unit);
            naming.labels.push(("site".to_owned(), site.to_owned()));
            plot.keep(&run, &naming);
        }
    }
    let truth = plot.world.hosts[1].effect;
    plot.judged.figures = false;
    plot.judged.odd = false;
    plot.pairs.push(Pair {
        first: "site=home".to_owned(),
        second: "site=work".to_owned(),
        truth,
        runs: false,
        apart: false,
    });
}

// Results that users take from elsewhere, and the names that they give: the best of five runs from a forum, single
// figures, logs without a model, whole MB/s; labels against serial numbers, and the same run twice.

/// On a desktop repeats vary more, so that the best of five is above the mean.
const DESKTOP: f64 = 0.05;

/// The text of a tool for a unit, labelled with model and unit; the best of `mark.best_of` runs.
fn mark(plot: &mut Plot, unit: usize, day: i64, mark: Mark) {
    let before = (plot.world.repeats, plot.world.noise.repeat);
    (plot.world.repeats, plot.world.noise.repeat) = (mark.best_of, DESKTOP);
    // Each text has its own minute, since equal texts would be one record.
    let run = plot.world.run(unit, 0, day, 18.0 + 0.1 * unit as f64);
    (plot.world.repeats, plot.world.noise.repeat) = before;
    let model = plot.world.models[plot.world.units[unit].model].name.clone();
    let naming = plot.naming(unit);
    let of_label = naming.labels.into_iter().find(|(key, _)| key == "unit").map(|(_, value)| value);
    let name = of_label.or(naming.serial).unwrap_or_default();
    plot.mark(&run, mark, &[("model", &model), ("unit", &name)]);
}

/// The first model by runs of assay, the others by the best of five from a forum.
pub(super) fn best_beside_runs(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(5) as usize;
    let sd = [0.005, 0.01, 0.03, 0.1][plot.world.dice.below(4) as usize];
    let count = 2 + plot.world.dice.below(2) as usize;
    let models = plot.world.models(count, each, sd);
    let days = 1 + plot.world.dice.below(4) as i64;
    for (number, units) in models.iter().enumerate() {
        for unit in units {
            for day in 0..days {
                if number == 0 {
                    plot.record(*unit, 0, day, 20.0);
                } else {
                    mark(plot, *unit, day, Mark { best_of: 5, whole: false });
                }
            }
        }
    }
    // The best of five is above the mean, so no interval of a figure contains the mean of a medium.
    plot.judged.figures = false;
    plot.judged.ratios = false;
    plot.compare_units(models[0][0], models[1][0]);
}

/// All figures are the best of five, so they are comparable with each other.
pub(super) fn best_of_all(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(4) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    for unit in models.iter().flatten() {
        for day in 0..2 {
            mark(plot, *unit, day, Mark { best_of: 5, whole: false });
        }
    }
    plot.judged.figures = false;
    plot.compare_units(models[0][0], models[0][1]);
}

/// One figure of each unit, of one run.
pub(super) fn single_figures(plot: &mut Plot) {
    let each = 1 + plot.world.dice.below(5) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(3, each, sd);
    for (number, unit) in models.iter().flatten().enumerate() {
        let day = if plot.world.dice.chance(0.5) { 0 } else { number as i64 };
        mark(plot, *unit, day, Mark { best_of: 1, whole: false });
    }
    plot.judged.figures = false;
    plot.compare_units(models[0][0], models[1][0]);
}

/// Logs that name neither model nor unit, beside records that do.
pub(super) fn nameless(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(3) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    for unit in models.iter().flatten() {
        plot.record(*unit, 0, 0, 11.0);
    }
    for unit in &models[1] {
        for day in 0..2 {
            let run = plot.world.run(*unit, 0, 1 + day, 18.0 + 0.1 * *unit as f64);
            plot.mark(&run, Mark { best_of: 3, whole: false }, &[]);
        }
    }
    plot.judged.figures = false;
    plot.compare_units(models[0][0], models[0][1]);
}

/// Figures that a user rounded to whole MB/s before posting them: slow cards at small blocks become equal, or far
/// apart.
pub(super) fn whole(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(4) as usize;
    let sd = [0.01, 0.03, 0.1][plot.world.dice.below(3) as usize];
    let models = plot.world.models(2, each, sd);
    for unit in models.iter().flatten() {
        for day in 0..1 + plot.world.dice.below(3) as i64 {
            mark(plot, *unit, day, Mark { best_of: 1, whole: true });
        }
    }
    plot.judged.figures = false;
    plot.judged.ratios = false;
    plot.judged.odd = false;
    plot.compare_units(models[0][0], models[0][1]);
}

/// Kinds of errors in names.
const TROUBLES: [&str; 4] = [
    "one card by two labels",
    "two cards by one label",
    "labels on the first day only",
    "a serial number of the reader",
];

/// A unit has two names, two units share one, or serial numbers change with the reader.
pub(super) fn labels_and_serials(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(3) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    let trouble = plot.world.dice.below(4);
    plot.kind = Some(TROUBLES[trouble as usize]);
    for (number, unit) in models.iter().flatten().copied().enumerate() {
        for day in 0..2i64 {
            let run = plot.world.run(unit, 0, day, 9.0 + number as f64 * 0.3);
            let (model, serial) = {
                let unit = &plot.world.units[unit];
                (plot.world.models[unit.model].name.clone(), unit.serial.clone())
            };
            let label = |name: String| vec![("model".to_owned(), model.clone()), ("unit".to_owned(), name)];
            let (serial, labels) = match trouble {
                // The label of the first day was misread on the second: one card under two names.
                0 => (Some(serial), label(format!("{}{number}", if day == 0 { "card" } else { "c" }))),
                // A user counts the cards of each shop from 1: two cards share a name, and their serial numbers differ.
                1 => (Some(serial), label(format!("{}", number % each / 2))),
                // The label on the first day only.
                2 => (Some(serial), if day == 0 { label(number.to_string()) } else { label(String::new()) }),
                // The reader reports its own serial number, the same for all cards.
                _ => (Some("000000000820".to_owned()), label(number.to_string())),
            };
            let labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect();
            plot.keep(&run, &Naming { product: Some(model.clone()), serial, labels });
        }
    }
    plot.judged.figures = false;
}

/// Files imported twice, under the same or another name, and copies with other labels.
pub(super) fn copies(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(3) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    for unit in models.iter().flatten() {
        plot.record(*unit, 0, 0, 15.0);
        for _ in 0..plot.world.dice.below(4) {
            plot.copy_last();
        }
    }
    plot.compare_units(models[0][0], models[0][1]);
}
