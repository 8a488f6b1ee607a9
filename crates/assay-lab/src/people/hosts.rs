//! Where people measure: a computer a model, several computers that share units, one unit on all of them.

use super::schedules::unit_sd;
use super::store::{Pair, Plot};

/// How far computers lie from each other: 20 to 200 % at small blocks (docs/compare.md).
const HOST_SD: f64 = 0.4;

/// Each model in a computer of its own, on days of its own or of all; nothing connects them.
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
}

/// Several computers, each of which measured units of all models, every unit in one of them.
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
    plot.compare_units(models[0][0], models[0][1]);
}

/// Cards that were measured at one computer and then at another, which is equal or slower: `compare` of the hosts.
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
    plot.pairs.push(Pair { first: "site=home".to_owned(), second: "site=work".to_owned(), truth });
}
