//! Truths that many rows start from, and shares in the names of rows.

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

// Shares and numbers in the names of rows.

/// A share as people read it: `3 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}
