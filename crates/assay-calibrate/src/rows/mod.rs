//! The rows of the table, a file for each command.

mod buy;
mod cache;
mod ceiling;
mod class;
mod compare;
mod confounded;
mod interval;
mod missed;
mod nas;
mod needed;
mod odd;
mod plan;
mod rank;
mod voice;

use assay_lab::fleet::{Load, Spread, Truth, Units};

use crate::row::Row;

pub use missed::MISSED;
pub(crate) use missed::missed;

/// All of them.
#[must_use]
pub fn all() -> Vec<Row> {
    let each = [
        compare::rows(),
        interval::rows(),
        rank::rows(),
        confounded::rows(),
        ceiling::rows(),
        odd::rows(),
        plan::rows(),
        class::rows(),
        nas::rows(),
        buy::rows(),
        cache::rows(),
        voice::rows(),
        needed::rows(),
    ];
    each.into_iter().flatten().collect()
}

/// Repeats vary by 1 %, runs of a unit by as much as is said.
fn spread(run: f64) -> Spread {
    Spread { run, repeat: 0.01, ..Spread::default() }
}

/// Equal models under random reads of 4 KiB.
fn equal(models: usize, units: Units, run: f64) -> Truth {
    Truth::equal(Load::random_read(), models, units, spread(run))
}

/// One unit, of which all is known but chance.
fn one_unit(loads: Vec<Load>, day: f64) -> Truth {
    let mut truth = equal(1, Units::Normal(0.0), day);
    truth.loads = loads;
    truth.spread.common = 0.5;
    truth
}

/// A share as people read it: `3 %`.
fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

/// So many of something: `1 run`, `3 runs`.
fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}
