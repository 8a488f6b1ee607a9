//! What people call their media: labels against serial numbers, and the same run twice.

use super::paper::Naming;
use super::schedules::unit_sd;
use super::store::Plot;

/// A unit has two names, two units have one, or serial numbers change with the reader.
pub(super) fn labels_and_serials(plot: &mut Plot) {
    let each = 2 + plot.world.dice.below(3) as usize;
    let sd = unit_sd(&mut plot.world);
    let models = plot.world.models(2, each, sd);
    let trouble = plot.world.dice.below(4);
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
                // Somebody counts the cards of each shop from 1: two cards share a name, their serial numbers tell.
                1 => (Some(serial), label(format!("{}", number % each / 2))),
                // The label on the first day only.
                2 => (Some(serial), if day == 0 { label(number.to_string()) } else { label(String::new()) }),
                // A reader that tells a serial number of its own, the same for all cards.
                _ => (Some("000000000820".to_owned()), label(number.to_string())),
            };
            let labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect();
            plot.keep(&run, &Naming { product: Some(model.clone()), serial, labels });
        }
    }
    plot.judged.figures = false;
}

/// Files that were imported twice, under their own or another name, and copies with other labels.
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
