//! Results that users take from elsewhere, and the names that they give: the best of five runs from a forum, single
//! figures, logs without a model, whole MB/s; labels against serial numbers, and the same run twice.

use super::paper::{Mark, Naming};
use super::schedules::unit_sd;
use super::store::Plot;

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
