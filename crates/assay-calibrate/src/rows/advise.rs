//! `assay advise`: classes, a medium in each node or a volume, purchases, and caches.

use assay_core::observation::Observation;
use assay_core::units::counted;
use assay_core::workload::{Op, Pattern};
use assay_lab::Dice;
use assay_lab::fleet::{Design, Fleet, Load, Repeats, Truth, Units};

use crate::decisions::{Cached, LocalOrNas, buy, cache, class_a1, nas, stored};
use crate::found::{Failure, RowResult};
use crate::row::{Bound, CalibrationRow, ERROR, equal, one_unit, percent};

pub(super) fn class_rows() -> Vec<CalibrationRow> {
    let row =
        |what: &str, factors: [f64; 3], day: f64, records: u32, bound: Bound, judge: fn(Option<bool>) -> RowResult| {
            let of = counted(records as usize, "record");
            let name = format!("class A1, {what}, {of}, day sd {}", percent(day));
            let truth = one_unit(Load::class_a1(factors), day);
            CalibrationRow::new(name, bound, move |seed| {
                let fleet = Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(records), seed };
                Ok(judge(class_a1(&stored(&fleet)?)?))
            })
        };
    // At the threshold the class is met, but only luck makes the answer certain.
    let met = |day, records| {
        row("all three at their thresholds", [1.0; 3], day, records, ERROR, |said| match said {
            Some(false) => RowResult::Wrong,
            Some(true) => RowResult::Right,
            None => RowResult::Undecided,
        })
    };
    let lucky = |day, records| {
        row("only reads at their threshold", [1.5, 1.0, 1.5], day, records, ERROR, |said| match said {
            Some(true) => RowResult::Wrong,
            Some(false) | None => RowResult::Undecided,
        })
    };
    let says = |what, factor: f64, records, judge| row(what, [factor; 3], 0.03, records, Bound::Right(0.9), judge);
    let fast = |records| {
        let met: fn(Option<bool>) -> RowResult = |said| said.map_or(RowResult::Undecided, RowResult::from_right);
        says("all three half as fast again", 1.5, records, met)
    };
    let slow = |records| {
        let missed: fn(Option<bool>) -> RowResult =
            |said| said.map_or(RowResult::Undecided, |met| RowResult::from_right(!met));
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

// `assay advise nas`: a medium in each node, or a share of a volume.

/// Share of a node of 1 Gbit/s over 28 nodes, in bytes per second of payload (TCP over Ethernet with time stamps).
const SHARE: f64 = 125e6 * 1448.0 / 1538.0 / 28.0;
/// Local has to be faster by this.
const MARGIN: f64 = 1.1;
/// What the volume gives to one client, in bytes per second: less than its wire.
const VOLUME: f64 = 70e6;

fn stream(rate: f64) -> Load {
    Load { iops: rate / f64::from(1 << 20), ..Load::sequential_read() }
}

pub(super) fn nas_rows() -> Vec<CalibrationRow> {
    let local = move |records: u32, day: f64| {
        let of = counted(records as usize, "record");
        let name = format!("nas, one unit at the limit, {of}, day sd {}", percent(day));
        let truth = one_unit(vec![stream(SHARE * MARGIN)], day);
        CalibrationRow::new(name, ERROR, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(records), seed };
            Ok(match nas(&stored(&fleet)?, &[])? {
                LocalOrNas::Local => RowResult::Wrong,
                LocalOrNas::Nas => RowResult::Right,
                LocalOrNas::Undecided => RowResult::Undecided,
            })
        })
    };
    let (card, volume) = (one_unit(vec![stream(VOLUME / 28.0 * MARGIN)], 0.01), one_unit(vec![stream(VOLUME)], 0.03));
    let fast = one_unit(vec![stream(SHARE * 2.0)], 0.03);
    let slow = one_unit(vec![Load { iops: 800.0, ..Load::random_read() }], 0.01);
    vec![
        local(1, 0.0),
        local(1, 0.03).short(),
        local(3, 0.03),
        local(6, 0.03),
        CalibrationRow::new("nas, at the limit of a volume that was measured once, day sd 3 %", ERROR, move |seed| {
            let of = |truth: &Truth, days: u32, seed: u64| {
                stored(&Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(days), seed })
            };
            let mut measured = of(&volume, 1, seed ^ 1)?;
            measured.iter_mut().for_each(|r| drop(r.labels.insert("model".to_owned(), "Volume".to_owned())));
            Ok(match nas(&of(&card, 6, seed)?, &measured)? {
                LocalOrNas::Local => RowResult::Wrong,
                LocalOrNas::Nas => RowResult::Right,
                LocalOrNas::Undecided => RowResult::Undecided,
            })
        }),
        // Disks do some 130 of these in a second, for all nodes together.
        CalibrationRow::new(
            "nas, random reads of 4 KiB against a wire alone are not for the NAS",
            ERROR,
            move |seed| {
                let fleet = Fleet { truth: slow.clone(), design: Design::units(&[1]).on_days(3), seed };
                Ok(match nas(&stored(&fleet)?, &[])? {
                    LocalOrNas::Nas => RowResult::Wrong,
                    LocalOrNas::Local => RowResult::Right,
                    LocalOrNas::Undecided => RowResult::Undecided,
                })
            },
        ),
        CalibrationRow::new(
            "nas, one unit at twice the share, 3 records, day sd 3 %",
            Bound::Right(0.9),
            move |seed| {
                let fleet = Fleet { truth: fast.clone(), design: Design::units(&[1]).on_days(3), seed };
                Ok(match nas(&stored(&fleet)?, &[])? {
                    LocalOrNas::Local => RowResult::Right,
                    LocalOrNas::Nas => RowResult::Wrong,
                    LocalOrNas::Undecided => RowResult::Undecided,
                })
            },
        ),
    ]
}

// One value of one unit, which may be as far off as units of its model are.

/// A unit of a model whose units deviate by `units`, days by 3 % and repeats by 1 %.
fn any_unit(loads: Vec<Load>, units: f64) -> Truth {
    let mut truth = equal(1, Units::Normal(units), 0.03);
    truth.loads = loads;
    truth
}

/// The records of one unit with one value of each load.
fn one_value(truth: &Truth, seed: u64) -> Result<Vec<Observation>, Failure> {
    let design = Design::units(&[1]).with_repeats(Repeats::Fixed(1));
    stored(&Fleet { truth: truth.clone(), design, seed })
}

pub(super) fn nas_single_rows() -> Vec<CalibrationRow> {
    let row = |what: &str, times: f64, units: f64, bound: Bound, judge: fn(LocalOrNas) -> RowResult| {
        let name = format!("nas, one value of one unit, {what}, unit sd {}", percent(units));
        let truth = any_unit(vec![stream(SHARE * times)], units);
        CalibrationRow::new(name, bound, move |seed| Ok(judge(nas(&one_value(&truth, seed)?, &[])?)))
    };
    let local_is_wrong = |said| match said {
        LocalOrNas::Local => RowResult::Wrong,
        LocalOrNas::Nas => RowResult::Right,
        LocalOrNas::Undecided => RowResult::Undecided,
    };
    let nas_is_wrong = |said| match said {
        LocalOrNas::Local => RowResult::Right,
        LocalOrNas::Nas => RowResult::Wrong,
        LocalOrNas::Undecided => RowResult::Undecided,
    };
    let mut rows = Vec::new();
    for units in [0.05, 0.15, 0.20] {
        rows.push(row("the model at the limit is not local", MARGIN, units, ERROR, local_is_wrong));
        rows.push(row("the model at the limit is not for the NAS", MARGIN, units, ERROR, nas_is_wrong));
    }
    rows.push(row("a model at twice the share is local", 2.0, 0.10, Bound::Right(0.9), nas_is_wrong));
    rows.push(row("a model at twice the share is local", 2.0, 0.15, Bound::Right(0.9), nas_is_wrong));
    rows.push(row("a model at half the share is for the NAS", 0.5, 0.15, Bound::Right(0.9), local_is_wrong));
    rows
}

// `assay advise buy`: the loss from the recommended purchase.

/// Four models of one price that differ by 5 %.
fn four(units: usize, seed: u64) -> Fleet {
    let mut dice = Dice::new(seed);
    let mut truth = equal(4, Units::Normal(0.1), 0.02).with_price("12USD");
    truth.models.iter_mut().for_each(|model| model.ratio = (0.05 * dice.normal()).exp());
    Fleet { truth, design: Design::units(&[units; 4]), seed }
}

/// The loss of a model against the best, in logarithms.
fn loss(truth: &Truth, name: &str) -> f64 {
    let best = truth.models.iter().map(|model| model.ratio).fold(f64::MIN, f64::max);
    truth.models.iter().find(|model| model.name == name).map_or(f64::NAN, |model| (best / model.ratio).ln())
}

pub(super) fn buy_rows() -> Vec<CalibrationRow> {
    let enough = |units: usize| {
        let units_each = counted(units, "unit");
        let name = format!("buy among 4 models of {units_each} each, what is lost where more testing cannot pay");
        CalibrationRow::new(name, Bound::Mean(0.01), move |seed| {
            let fleet = four(units, seed);
            let said = buy(&stored(&fleet)?)?;
            Ok(match said.model.filter(|_| said.tested_enough) {
                Some(model) => RowResult::Number(loss(&fleet.truth, &model)),
                None => RowResult::Aside,
            })
        })
    };
    let certain = |units: usize| {
        let units_each = counted(units, "unit");
        let name = format!("buy among 4 models of {units_each} each, what is certain is within 3 % of the best");
        CalibrationRow::new(name, ERROR, move |seed| {
            let fleet = four(units, seed);
            let said = buy(&stored(&fleet)?)?;
            Ok(match said.certain.iter().all(|model| loss(&fleet.truth, model) <= 1.03f64.ln()) {
                _ if said.certain.is_empty() => RowResult::Undecided,
                within => RowResult::from_right(within),
            })
        })
    };
    let mut dear = equal(2, Units::Normal(0.01), 0.01).with_price("5USD").with_ratio(1, 1.06);
    dear.models[1].price = Some("500USD".to_owned());
    vec![
        enough(1),
        enough(3),
        enough(6),
        certain(1).short(),
        certain(3).short(),
        certain(6),
        CalibrationRow::new("buy does not pay 100 times the price for 6 % more speed", ERROR, move |seed| {
            let fleet = Fleet { truth: dear.clone(), design: Design::units(&[4, 4]), seed };
            let said = buy(&stored(&fleet)?)?;
            Ok(said.model.map_or(RowResult::Undecided, |model| RowResult::from_right(model == dear.models[0].name)))
        }),
    ]
}

// `assay advise cache`: at the limits of a good and of a harmful cache.

pub(super) fn cache_rows() -> Vec<CalibrationRow> {
    // Half of the reads hit: they take 0.5 + 0.5 / r of the time, so 1.2 times as fast is r = 1.5.
    let row = |what: &str, ratio: f64, bound: Bound, judge: fn(Cached) -> RowResult| {
        let name = format!("cache, {what}, one record each, day sd 3 %");
        let volume = one_unit(vec![Load { iops: 130.0, ..Load::random_read() }], 0.03);
        let feed = Load::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 20.0);
        let medium = one_unit(vec![Load { iops: 130.0 * ratio, ..Load::random_read() }, feed], 0.03);
        CalibrationRow::new(name, bound, move |seed| {
            let of = |truth: &Truth, seed| stored(&Fleet { truth: truth.clone(), design: Design::units(&[1]), seed });
            let mut slow = of(&volume, seed ^ 1)?;
            slow.iter_mut().for_each(|r| drop(r.labels.insert("model".to_owned(), "Volume".to_owned())));
            Ok(judge(cache(&of(&medium, seed)?, &slow)?))
        })
    };
    vec![
        row("reads 1.2 times as fast are not surely good", 1.5, ERROR, |said| match said {
            Cached::Good | Cached::Harmful => RowResult::Wrong,
            Cached::Undecided => RowResult::Undecided,
        }),
        row("reads as fast as without are not surely slower", 1.0, ERROR, |said| match said {
            Cached::Good | Cached::Harmful => RowResult::Wrong,
            Cached::Undecided => RowResult::Undecided,
        }),
        row("reads 1.67 times as fast are good", 5.0, Bound::Right(0.9), |said| match said {
            Cached::Good => RowResult::Right,
            Cached::Harmful => RowResult::Wrong,
            Cached::Undecided => RowResult::Undecided,
        }),
    ]
}

/// One value each: the units of stick and disk are as far off as units of their models are.
pub(super) fn cache_single_rows() -> Vec<CalibrationRow> {
    let row = |what: &str, ratio: f64, units: f64, bound: Bound, right: Cached| {
        let name = format!("cache, one value of each, {what}, unit sd {}", percent(units));
        let feed = Load::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 20.0);
        let volume = any_unit(vec![Load { iops: 130.0, ..Load::random_read() }], units);
        let medium = any_unit(vec![Load { iops: 130.0 * ratio, ..Load::random_read() }, feed], units);
        CalibrationRow::new(name, bound, move |seed| {
            let mut slow = one_value(&volume, seed ^ 1)?;
            slow.iter_mut().for_each(|r| drop(r.labels.insert("model".to_owned(), "Volume".to_owned())));
            Ok(match cache(&one_value(&medium, seed)?, &slow)? {
                Cached::Undecided => RowResult::Undecided,
                said => RowResult::from_right(said == right),
            })
        })
    };
    let mut rows = Vec::new();
    for units in [0.05, 0.15, 0.20] {
        rows.push(row("reads 1.2 times as fast are not surely good", 1.5, units, ERROR, Cached::Undecided));
        rows.push(row("reads as fast as without are not surely slower", 1.0, units, ERROR, Cached::Undecided));
    }
    rows.push(row("reads 1.67 times as fast are good", 5.0, 0.10, Bound::Right(0.9), Cached::Good));
    rows.push(row("reads 1.67 times as fast are good", 5.0, 0.15, Bound::Right(0.9), Cached::Good));
    rows.push(row("reads 0.57 times as fast are harmful", 0.4, 0.15, Bound::Right(0.8), Cached::Harmful));
    rows
}
