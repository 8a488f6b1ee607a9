//! What people take from elsewhere: the best of five runs in a forum, single figures, logs without a model, whole MB/s.

use super::paper::Mark;
use super::schedules::unit_sd;
use super::store::Plot;

/// Repeats vary more on a desktop, so that the best of five is above the mean.
const DESKTOP: f64 = 0.05;

/// The text of a unit with the labels of its model and itself; of so many runs the best.
fn mark(plot: &mut Plot, unit: usize, day: i64, mark: Mark) {
    let before = (plot.world.repeats, plot.world.noise.repeat);
    (plot.world.repeats, plot.world.noise.repeat) = (mark.best_of, DESKTOP);
    let run = plot.world.run(unit, 0, day, 20.0);
    (plot.world.repeats, plot.world.noise.repeat) = before;
    let model = plot.world.models[plot.world.units[unit].model].name.clone();
    let naming = plot.naming(unit);
    let of_label = naming.labels.into_iter().find(|(key, _)| key == "unit").map(|(_, value)| value);
    let name = of_label.or(naming.serial).unwrap_or_default();
    plot.mark(&run, mark, &[("model", &model), ("unit", &name)]);
}

/// The first model by runs of assay, the others as the best of five that somebody posted.
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
    // The best of five is above the mean, so no interval of a figure holds what a medium does on average.
    plot.judged.figures = false;
    plot.judged.ratios = false;
    plot.compare_units(models[0][0], models[1][0]);
}

/// All figures are the best of five, so that they compare with each other.
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

/// Logs that name neither model nor unit beside records that do.
pub(super) fn nameless(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(3) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    for unit in models.iter().flatten() {
        plot.record(*unit, 0, 0, 11.0);
    }
    for unit in &models[1] {
        for day in 0..2 {
            let run = plot.world.run(*unit, 0, 1 + day, 20.0);
            plot.mark(&run, Mark { best_of: 3, whole: false }, &[]);
        }
    }
    plot.judged.figures = false;
    plot.compare_units(models[0][0], models[0][1]);
}

/// Somebody rounded all figures to whole MB/s before they posted them: slow cards at small blocks become equal, or far
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
