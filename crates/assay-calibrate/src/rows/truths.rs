//! Truths that many rows start from.

use assay_lab::fleet::{Load, Spread, Truth, Units};

/// Repeats vary by 1 %, and runs of a unit by `run`.
pub(super) fn spread(run: f64) -> Spread {
    Spread { run, repeat: 0.01, ..Spread::default() }
}

/// Equal models under random reads of 4 KiB.
pub(super) fn equal(models: usize, units: Units, run: f64) -> Truth {
    Truth::equal(Load::random_read(), models, units, spread(run))
}

/// One unit, where only random variation is unknown.
pub(super) fn one_unit(loads: Vec<Load>, day: f64) -> Truth {
    let mut truth = equal(1, Units::Normal(0.0), day);
    truth.loads = loads;
    truth.spread.common = 0.5;
    truth
}
