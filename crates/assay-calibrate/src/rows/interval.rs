//! Intervals: of a record today, of a unit over many days, of another unit; and several runs in one afternoon.

use assay_core::units::counted;
use assay_lab::fleet::{Design, Fleet, Load, Repeats, TrueRun, Truth, Units};

use super::compare::null;
use crate::decisions::{LocalOrNas, another_day, another_unit, class_a1, nas, stored, today};
use crate::found::RowResult;
use crate::row::{Bound, COVERAGE, COVERAGE_ASSUMED, CalibrationRow, ERROR, equal, one_unit, percent};

fn holds(interval: Option<(f64, f64)>, truth: f64) -> RowResult {
    interval.map_or(RowResult::Undecided, |(low, high)| RowResult::from_right(low <= truth && truth <= high))
}

pub(super) fn rows() -> Vec<CalibrationRow> {
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
fn record(repeats: usize, autocorrelation: f64) -> CalibrationRow {
    let name = format!("interval of a record, today, {repeats} repeats, autocorrelation {autocorrelation}");
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.autocorrelation = autocorrelation;
    this_day(name, COVERAGE, truth, Repeats::Fixed(repeats))
}

/// Repeats that end when their interval is narrow. The interval holds for any look that ends them.
fn until_narrow() -> CalibrationRow {
    let name = "interval of a record, today, --confidence 3 %, repeat sd 3 %".to_owned();
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.repeat = 0.03;
    this_day(name, COVERAGE_ASSUMED, truth, Repeats::Until(0.03, 3, 10))
}

fn this_day(name: String, bound: Bound, truth: Truth, repeats: Repeats) -> CalibrationRow {
    CalibrationRow::new(name, bound, move |seed| {
        let design = Design::units(&[1]).with_repeats(repeats);
        let fleet = Fleet { truth: truth.clone(), design, seed };
        Ok(holds(today(&stored(&fleet)?[0])?, fleet.run(&fleet.design.0[0], 0)))
    })
}

/// The interval of a unit from its runs. Where few were measured, the prior of days is used beside them.
fn days(runs: u32, day: f64) -> CalibrationRow {
    let by = counted(runs as usize, "run");
    let name = format!("interval of a unit over many days, by {by}, day sd {}", percent(day));
    many_days(name, equal(1, Units::Normal(0.1), day), runs)
}

/// What decisions about a unit take, of repeats that are like the ones before them.
fn dependent() -> CalibrationRow {
    let name = "interval of a unit over many days, by 1 run, day sd 3 %, autocorrelation 0.8".to_owned();
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.autocorrelation = 0.8;
    many_days(name, truth, 1)
}

fn many_days(name: String, truth: Truth, runs: u32) -> CalibrationRow {
    CalibrationRow::new(name, COVERAGE_ASSUMED, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(runs), seed };
        Ok(holds(another_day(&stored(&fleet)?)?, fleet.unit(0, 0, 0)))
    })
}

/// What units say of the next one; of fewer than three, how they differ is assumed.
fn unit(units: usize, deviation: f64) -> CalibrationRow {
    let by = counted(units, "unit");
    let name = format!("interval of another unit, by {by}, unit sd {}", percent(deviation));
    let truth = equal(1, Units::Normal(deviation), 0.02);
    let bound = if units < 3 { COVERAGE_ASSUMED } else { COVERAGE };
    CalibrationRow::new(name, bound, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: Design::units(&[units]), seed };
        let next = TrueRun { unit: units, ..fleet.design.0[0] };
        Ok(holds(another_unit(&stored(&fleet)?)?, fleet.run(&next, 0)))
    })
}

// A common way of measuring: several runs in one afternoon. The day of a unit counts, not its runs.

/// A unit with a host of its own has days of its own, and runs of a day vary by 1 %.
fn rows_by_days(truth: Truth, day: f64) -> Truth {
    let mut truth = truth;
    (truth.spread.day, truth.spread.run) = (day, 0.01);
    truth
}

/// `runs` runs on each of `days` days of a unit.
fn runs(unit: usize, days: u32, runs: u32) -> Design {
    let one = Design::units(&[unit + 1]).0.into_iter().filter(|run| run.unit == unit);
    let one = Design(one.collect()).changed(|_, run| run.host = unit);
    (0..runs).fold(Design::default(), |all, _| all.and(one.clone())).on_days(days)
}

pub(super) fn one_day_rows() -> Vec<CalibrationRow> {
    [cards(), unlike(), class(), local()].into_iter().flatten().collect()
}

/// Two equal cards.
fn cards() -> Vec<CalibrationRow> {
    let row = |(first, second): ((u32, u32), (u32, u32)), day: f64| {
        let of = |(days, runs): (u32, u32)| {
            let (days, runs) = (counted(days as usize, "day"), counted(runs as usize, "run"));
            format!("{days} of {runs}")
        };
        let name = format!("compare two equal cards, {} and {}, day sd {}", of(first), of(second), percent(day));
        let design = runs(0, first.0, first.1).and(runs(1, second.0, second.1));
        null(name, rows_by_days(equal(1, Units::Normal(0.0), 0.0), day), design, |run: &TrueRun| run.unit == 1)
    };
    vec![
        row(((1, 5), (1, 5)), 0.03).short(),
        row(((1, 10), (1, 10)), 0.03),
        row(((2, 5), (2, 5)), 0.03),
        row(((3, 3), (3, 3)), 0.03),
        row(((3, 10), (3, 10)), 0.03),
        row(((1, 6), (1, 2)), 0.03),
        row(((5, 10), (1, 10)), 0.03),
        row(((1, 5), (1, 5)), 0.05),
    ]
}

/// Two cards whose days differ by 5 and by half a percent: the first is measured on few days.
fn unlike() -> Vec<CalibrationRow> {
    let row = |first: u32, second: u32| {
        let name = format!("compare two equal cards, {first} unsteady and {second} steady days");
        let truth = equal(1, Units::Normal(0.0), 0.005);
        CalibrationRow::new(name, ERROR, move |seed| {
            let steady = runs(1, second, 1);
            let fleet = |truth: &Truth, design: Design, seed| stored(&Fleet { truth: truth.clone(), design, seed });
            let mut unsteady = truth.clone();
            unsteady.spread.run = 0.05;
            let (a, b) = (fleet(&unsteady, runs(0, first, 1), seed)?, fleet(&truth, steady, seed ^ 1)?);
            Ok(super::compare::equals(&crate::decisions::compare(&a, &b)?))
        })
    };
    vec![row(1, 5), row(2, 6), row(3, 6), row(6, 3)]
}

/// At its thresholds a class is neither met for sure nor missed.
fn class() -> Vec<CalibrationRow> {
    let row = |what: &str, factors: [f64; 3], met: bool, records: u32| {
        let said = if met { "met" } else { "missed" };
        let of = counted(records as usize, "run");
        let name = format!("class A1, {what}, {of} of one day, {said}, day sd 3 %");
        let truth = rows_by_days(one_unit(Load::class_a1(factors), 0.0), 0.03);
        CalibrationRow::new(name, ERROR, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: runs(0, 1, records), seed };
            Ok(match class_a1(&stored(&fleet)?)? {
                Some(said) if said == met => RowResult::Wrong,
                _ => RowResult::Undecided,
            })
        })
    };
    let reads = "only reads at their threshold";
    vec![
        row("all three at their thresholds", [1.0; 3], true, 5),
        row("all three at their thresholds", [1.0; 3], false, 10),
        row(reads, [1.5, 1.0, 1.5], true, 10).short(),
        row(reads, [1.5, 1.0, 1.5], false, 10),
    ]
}

/// At the limit, a probability is far from sure.
fn local() -> Vec<CalibrationRow> {
    let row = |records: u32| {
        let name = format!("nas, one unit at the limit, {records} runs of one day, day sd 3 %");
        let share = 125e6 * 1448.0 / 1538.0 / 28.0 * 1.1;
        let load = Load { iops: share / f64::from(1 << 20), ..Load::sequential_read() };
        let truth = rows_by_days(one_unit(vec![load], 0.0), 0.03);
        CalibrationRow::new(name, ERROR, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: runs(0, 1, records), seed };
            Ok(match nas(&stored(&fleet)?, &[])? {
                LocalOrNas::Local => RowResult::Wrong,
                LocalOrNas::Nas => RowResult::Right,
                LocalOrNas::Undecided => RowResult::Undecided,
            })
        })
    };
    vec![row(5), row(10)]
}
