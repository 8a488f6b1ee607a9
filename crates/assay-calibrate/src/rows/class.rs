//! `assay advise class`: the classes that a card certainly meets, and those that it certainly misses.

use assay_core::units::counted;
use assay_lab::fleet::{Design, Fleet, Load};

use super::names::percent;
use super::truths::one_unit;
use crate::decisions::{class_a1, stored};
use crate::found::Found;
use crate::row::{Bound, ERROR, Row};

pub(super) fn rows() -> Vec<Row> {
    let row =
        |what: &str, factors: [f64; 3], day: f64, records: u32, bound: Bound, judge: fn(Option<bool>) -> Found| {
            let of = counted(records as usize, "record");
            let name = format!("class A1, {what}, {of}, day sd {}", percent(day));
            let truth = one_unit(Load::class_a1(factors), day);
            Row::new(name, bound, move |seed| {
                let fleet = Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(records), seed };
                Ok(judge(class_a1(&stored(&fleet)?)?))
            })
        };
    // At the threshold the class is met, but only luck makes the answer certain.
    let met = |day, records| {
        row("all three at their thresholds", [1.0; 3], day, records, ERROR, |said| match said {
            Some(false) => Found::Wrong,
            Some(true) => Found::Right,
            None => Found::Undecided,
        })
    };
    let lucky = |day, records| {
        row("only reads at their threshold", [1.5, 1.0, 1.5], day, records, ERROR, |said| match said {
            Some(true) => Found::Wrong,
            Some(false) | None => Found::Undecided,
        })
    };
    let says = |what, factor: f64, records, judge| row(what, [factor; 3], 0.03, records, Bound::Right(0.9), judge);
    let fast = |records| {
        let met: fn(Option<bool>) -> Found = |said| said.map_or(Found::Undecided, Found::of);
        says("all three half as fast again", 1.5, records, met)
    };
    let slow = |records| {
        let missed: fn(Option<bool>) -> Found = |said| said.map_or(Found::Undecided, |met| Found::of(!met));
        says("all three at 0.6", 0.6, records, missed)
    };
    vec![
        met(0.0, 1).short(),
        met(0.03, 1).short(),
        met(0.03, 3),
        met(0.03, 6),
        lucky(0.0, 1),
        lucky(0.03, 1),
        lucky(0.03, 3),
        lucky(0.03, 6),
        fast(1).short(),
        fast(3),
        slow(1),
        slow(3),
    ]
}
