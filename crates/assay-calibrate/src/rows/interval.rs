//! Intervals: of a record today, of a unit over many days, of another unit.

use assay_core::units::counted;
use assay_lab::fleet::{Design, Fleet, Repeats, Run, Truth, Units};

use super::names::percent;
use super::truths::equal;
use crate::decisions::{another_day, another_unit, stored, today};
use crate::found::Found;
use crate::row::{Bound, COVERAGE, COVERAGE_ASSUMED, Row};

fn holds(interval: Option<(f64, f64)>, truth: f64) -> Found {
    interval.map_or(Found::Undecided, |(low, high)| Found::of(low <= truth && truth <= high))
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        record(3, 0.0).short(),
        record(3, 0.3),
        record(3, 0.6),
        record(3, 0.8),
        record(10, 0.6),
        until_narrow(),
        days(1, 0.01),
        days(1, 0.03).short(),
        days(1, 0.05),
        days(3, 0.03).short(),
        days(3, 0.05),
        days(6, 0.03),
        dependent(),
        unit(1, 0.1),
        unit(2, 0.1),
        unit(3, 0.1).short(),
        unit(6, 0.1),
        unit(6, 0.03),
    ]
}

/// What a run says of that day.
fn record(repeats: usize, autocorrelation: f64) -> Row {
    let name = format!("interval of a record, today, {repeats} repeats, autocorrelation {autocorrelation}");
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.autocorrelation = autocorrelation;
    this_day(name, COVERAGE, truth, Repeats::Fixed(repeats))
}

/// Repeats that end when their interval is narrow. The interval holds for any look that ends them.
fn until_narrow() -> Row {
    let name = "interval of a record, today, --confidence 3 %, repeat sd 3 %".to_owned();
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.repeat = 0.03;
    this_day(name, COVERAGE_ASSUMED, truth, Repeats::Until(0.03, 3, 10))
}

fn this_day(name: String, bound: Bound, truth: Truth, repeats: Repeats) -> Row {
    Row::new(name, bound, move |seed| {
        let design = Design::units(&[1]).with_repeats(repeats);
        let fleet = Fleet { truth: truth.clone(), design, seed };
        Ok(holds(today(&stored(&fleet)?[0])?, fleet.run(&fleet.design.0[0], 0)))
    })
}

/// The interval of a unit from its runs. Where few were measured, the prior of days is used beside them.
fn days(runs: u32, day: f64) -> Row {
    let by = counted(runs as usize, "run");
    let name = format!("interval of a unit over many days, by {by}, day sd {}", percent(day));
    many_days(name, equal(1, Units::Normal(0.1), day), runs)
}

/// What decisions about a unit take, of repeats that are like the ones before them.
fn dependent() -> Row {
    let name = "interval of a unit over many days, by 1 run, day sd 3 %, autocorrelation 0.8".to_owned();
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.autocorrelation = 0.8;
    many_days(name, truth, 1)
}

fn many_days(name: String, truth: Truth, runs: u32) -> Row {
    Row::new(name, COVERAGE_ASSUMED, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(runs), seed };
        Ok(holds(another_day(&stored(&fleet)?)?, fleet.unit(0, 0, 0)))
    })
}

/// What units say of the next one; of fewer than three, how they differ is assumed.
fn unit(units: usize, deviation: f64) -> Row {
    let by = counted(units, "unit");
    let name = format!("interval of another unit, by {by}, unit sd {}", percent(deviation));
    let truth = equal(1, Units::Normal(deviation), 0.02);
    let bound = if units < 3 { COVERAGE_ASSUMED } else { COVERAGE };
    Row::new(name, bound, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: Design::units(&[units]), seed };
        let next = Run { unit: units, ..fleet.design.0[0] };
        Ok(holds(another_unit(&stored(&fleet)?)?, fleet.run(&next, 0)))
    })
}
