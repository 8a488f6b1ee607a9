//! `assay rank`: units that deviate in fleets of 28 cards.

use assay_analysis::rank::{RankOptions, RankReport};
use assay_lab::fleet::{Design, Fleet, Load, Part, Truth, Units};

use crate::decisions::{Named, groups, odd, odd_under_any_load, rank, stored};
use crate::found::{Failure, RowResult};
use crate::row::{Bound, CalibrationRow, ERROR, equal, percent};

/// Each card in a slot of its own, as in a cluster.
fn cluster(of_each: &[usize]) -> Design {
    Design::units(of_each).changed(|at, run| run.slot = Some(at))
}

fn report(truth: &Truth, of_each: &[usize], seed: u64) -> Result<RankReport, Failure> {
    let fleet = Fleet { truth: truth.clone(), design: cluster(of_each), seed };
    rank(&stored(&fleet)?, &RankOptions::default())
}

pub(super) fn rows() -> Vec<CalibrationRow> {
    [clean(), named()].into_iter().flatten().collect()
}

/// No unit is odd.
fn clean() -> Vec<CalibrationRow> {
    let row = |models: usize, units: usize, deviation: f64| {
        let name = format!("odd units, none in {models} × {units} cards, unit sd {}", percent(deviation));
        let truth = equal(models, Units::Normal(deviation), 0.02);
        CalibrationRow::new(name, ERROR, move |seed| {
            let said = odd(&report(&truth, &vec![units; models], seed)?);
            Ok(if said.is_empty() { RowResult::Undecided } else { RowResult::Wrong })
        })
    };
    let eight = |models: usize, units: usize, how: &str, said: fn(&RankReport) -> Vec<Named>| {
        let name = format!("odd units, none in {models} × {units} cards, 8 loads, {how}");
        let mut truth = equal(models, Units::Normal(0.05), 0.02);
        truth.loads = Load::eight();
        truth.spread.common = 0.5;
        CalibrationRow::new(name, ERROR, move |seed| {
            let said = said(&report(&truth, &vec![units; models], seed)?);
            Ok(if said.is_empty() { RowResult::Undecided } else { RowResult::Wrong })
        })
    };
    let erratic = |models: usize, units: usize, deviation: f64| {
        let name = format!("odd units, none named in {models} × {units} cards, one model with {}", percent(deviation));
        let truth = equal(models, Units::Normal(0.03), 0.01).with_units(0, Units::Normal(deviation));
        CalibrationRow::new(name, ERROR, move |seed| {
            let said = odd(&report(&truth, &vec![units; models], seed)?);
            Ok(if said.iter().all(|(_, unit)| unit.is_none()) { RowResult::Undecided } else { RowResult::Wrong })
        })
    };
    let heavy = |models: usize, units: usize, of: Units, how: &str| {
        let name = format!("odd units, none named in {models} × {units} cards, {how}");
        let truth = equal(models, of, 0.02);
        CalibrationRow::new(name, ERROR, move |seed| {
            let said = odd(&report(&truth, &vec![units; models], seed)?);
            Ok(if said.iter().all(|(_, unit)| unit.is_none()) { RowResult::Undecided } else { RowResult::Wrong })
        })
    };
    vec![
        erratic(4, 3, 0.25),
        erratic(2, 5, 0.15),
        heavy(4, 3, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        heavy(3, 4, Units::Kinds { share: 0.3, ratio: 0.7, deviation: 0.03 }, "two kinds of units"),
        heavy(5, 5, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        heavy(1, 5, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        heavy(1, 8, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        heavy(1, 12, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        heavy(2, 14, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        heavy(1, 28, Units::Heavy(0.05), "heavy tails of sd 5 %"),
        heavy(1, 28, Units::Heavy(0.1), "heavy tails of sd 10 %"),
        row(2, 14, 0.05),
        row(4, 7, 0.05).short(),
        row(7, 4, 0.1),
        row(1, 28, 0.03),
        row(1, 28, 0.05),
        row(1, 28, 0.1),
        eight(4, 7, "as shown", odd),
        eight(4, 7, "each load by itself", odd_under_any_load),
        eight(1, 28, "as shown", odd),
        eight(1, 28, "each load by itself", odd_under_any_load),
    ]
}

/// 2.5 % over all loads, and two standard errors of 1,000 fleets.
const GROUPS_ERROR: Bound = Bound::Wrong(0.035);

/// Cards of one model that form two groups, and cards that do not.
pub(super) fn group_rows() -> Vec<CalibrationRow> {
    let none = |cards: usize, how: &str, of: Units, loads: Vec<Load>| {
        let name = format!("two groups, none in {cards} cards, {how}");
        let mut truth = equal(1, of, 0.02);
        truth.loads = loads;
        truth.spread.common = 0.5;
        CalibrationRow::new(name, GROUPS_ERROR, move |seed| {
            let said = groups(&report(&truth, &[cards], seed)?);
            Ok(if said.is_empty() { RowResult::Undecided } else { RowResult::Wrong })
        })
    };
    let two = |cards: usize, lower: usize, ratio: f64, deviation: f64, least: f64| {
        let name = format!("two groups, {lower} of {cards} cards at ×{ratio}, unit sd {}", percent(deviation));
        let slow = |truth: Truth, at| truth.with_off(Part::Unit(0, at), ratio);
        let truth = (0..lower).fold(equal(1, Units::Normal(deviation), 0.02), slow);
        let mut expected: Vec<String> = (1..=lower).map(|unit| unit.to_string()).collect();
        expected.sort();
        CalibrationRow::new(name, Bound::Right(least), move |seed| {
            let mut said = groups(&report(&truth, &[cards], seed)?);
            said.iter_mut().for_each(|low| low.sort());
            Ok(match said.first() {
                None => RowResult::Undecided,
                Some(low) => RowResult::from_right(*low == expected),
            })
        })
    };
    let one = || vec![Load::random_read()];
    let mut rows = Vec::new();
    for cards in [6, 8, 14, 28] {
        rows.push(none(cards, "unit sd 3 %", Units::Normal(0.03), one()));
        rows.push(none(cards, "unit sd 15 %", Units::Normal(0.15), one()));
        rows.push(none(cards, "heavy tails of sd 15 %", Units::Heavy(0.15), one()));
    }
    rows.push(none(14, "unit sd 15 %, 8 loads", Units::Normal(0.15), Load::eight()));
    rows.push(none(28, "heavy tails of sd 15 %, 8 loads", Units::Heavy(0.15), Load::eight()));
    rows.extend([
        two(6, 3, 0.5, 0.03, 0.95),
        two(8, 4, 0.75, 0.03, 0.6),
        two(8, 4, 0.5, 0.03, 0.95),
        two(14, 5, 0.75, 0.03, 0.8),
        two(14, 7, 0.75, 0.05, 0.15),
        two(14, 7, 0.5, 0.05, 0.95),
        two(28, 14, 0.75, 0.03, 0.85),
        two(28, 14, 0.75, 0.05, 0.15),
        two(28, 14, 0.6, 0.05, 0.95),
    ]);
    rows
}

/// The place of the slow card.
const SLOW: usize = 16;

/// One card of 28 of one model is slow.
fn named() -> Vec<CalibrationRow> {
    let truth =
        |ratio: f64, deviation: f64| equal(1, Units::Normal(deviation), 0.02).with_off(Part::Unit(0, SLOW), ratio);
    let is_slow = |(_, unit): &Named| unit.as_ref().is_some_and(|unit| *unit == (SLOW + 1).to_string());
    let row = |ratio: f64, deviation: f64, least: f64| {
        let name = format!("odd units, one of 28 at ×{ratio}, unit sd {}", percent(deviation));
        let truth = truth(ratio, deviation);
        CalibrationRow::new(name, Bound::Right(least), move |seed| {
            let said = odd(&report(&truth, &[28], seed)?);
            Ok(match said.iter().any(is_slow) {
                true => RowResult::Right,
                false if said.is_empty() => RowResult::Undecided,
                false => RowResult::Wrong,
            })
        })
    };
    // Named, or told that heavy tails may be why.
    let told = |ratio: f64, deviation: f64, least: f64| {
        let name = format!("odd units, one of 28 at ×{ratio} named or told to differ, unit sd {}", percent(deviation));
        let truth = truth(ratio, deviation);
        CalibrationRow::new(name, Bound::Right(least), move |seed| {
            let said = report(&truth, &[28], seed)?.primary.odd;
            Ok(if said.iter().any(|odd| odd.unit.is_some() || odd.heavy_tails) {
                RowResult::Right
            } else {
                RowResult::Undecided
            })
        })
    };
    let others = |ratio: f64, deviation: f64| {
        let name = format!("odd units, none beside one of 28 at ×{ratio}, unit sd {}", percent(deviation));
        let truth = truth(ratio, deviation);
        CalibrationRow::new(name, ERROR, move |seed| {
            let said = odd(&report(&truth, &[28], seed)?);
            Ok(if said.iter().all(is_slow) { RowResult::Right } else { RowResult::Wrong })
        })
    };
    let two = |units: usize, bad: usize| {
        let name = format!("odd units, {bad} of {units} at half speed, all of them, unit sd 3 %");
        let truth =
            (0..bad).fold(equal(1, Units::Normal(0.03), 0.02), |truth, at| truth.with_off(Part::Unit(0, at), 0.5));
        CalibrationRow::new(name, Bound::Right(0.8), move |seed| {
            let said = odd(&report(&truth, &[units], seed)?);
            let is_bad = |(_, unit): &Named| {
                unit.as_ref().and_then(|unit| unit.parse().ok()).is_some_and(|unit: usize| unit <= bad)
            };
            Ok(match said.iter().filter(|named| is_bad(named)).count() == bad {
                true => RowResult::Right,
                false if said.is_empty() => RowResult::Undecided,
                false => RowResult::Wrong,
            })
        })
    };
    vec![
        two(6, 2),
        two(8, 2),
        two(12, 2),
        two(12, 4),
        told(0.8, 0.03, 0.95),
        told(0.8, 0.05, 0.65),
        row(0.8, 0.03, 0.2),
        row(0.7, 0.03, 0.8),
        row(0.6, 0.03, 0.99).short(),
        row(0.6, 0.05, 0.8),
        row(0.5, 0.05, 0.98),
        row(0.28, 0.1, 0.99).short(),
        others(0.8, 0.03),
        others(0.28, 0.1),
    ]
}
