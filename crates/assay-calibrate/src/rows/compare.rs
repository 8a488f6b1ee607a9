//! `assay compare`: two runs, two units, two models, two hosts; and commands against each other.

use std::collections::BTreeSet;

use assay_analysis::rank::RankOptions;
use assay_core::observation::Observation;
use assay_core::units::counted;
use assay_lab::Dice;
use assay_lab::fleet::{Design, Fleet, Part, Repeats, TrueRun, Truth, Units};

use crate::decisions::{
    Compared, Ended, Word, buy, compare, compare_models, compare_orders, compare_runs, orders, race, rank, stored,
};
use crate::found::{Failure, RowResult, above, above_zero, run_mean, unit_means};
use crate::row::{Bound, COVERAGE, COVERAGE_ASSUMED, CalibrationRow, ERROR, equal, percent};

/// Who stands in the second group.
type Second = fn(&TrueRun) -> bool;

/// Two groups of a fleet that is drawn by a seed.
fn groups(truth: &Truth, design: &Design, second: Second, seed: u64) -> Result<Compared, Failure> {
    let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
    let whose: Vec<bool> = design.0.iter().map(second).collect();
    let records = stored(&fleet)?;
    let of = |wanted: bool| -> Vec<Observation> {
        records.iter().zip(&whose).filter(|(_, is)| **is == wanted).map(|(record, _)| record.clone()).collect()
    };
    compare(&of(false), &of(true))
}

/// Nothing differs: to say that it does is wrong.
pub(super) fn equals(said: &Compared) -> RowResult {
    match said.word {
        Word::Same => RowResult::Right,
        Word::CannotTell => RowResult::Undecided,
        Word::Better | Word::Worse => RowResult::Wrong,
    }
}

pub(super) fn null(name: String, truth: Truth, design: Design, second: Second) -> CalibrationRow {
    CalibrationRow::new(name, ERROR, move |seed| Ok(equals(&groups(&truth, &design, second, seed)?)))
}

/// Equal models, distinguished by their units.
fn null_models(name: String, units: Units, run: f64, design: Design) -> CalibrationRow {
    let truth = equal(2, units, run);
    CalibrationRow::new(name, ERROR, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
        Ok(equals(&compare_models(&stored(&fleet)?)?))
    })
}

pub(super) fn rows() -> Vec<CalibrationRow> {
    [runs(), models(), hosts(), power(), coverage()].into_iter().flatten().collect()
}

/// One unit, or two that are equal.
fn runs() -> Vec<CalibrationRow> {
    let card = || Design::units(&[1]);
    let two = |day: f64| {
        let name = format!("compare two runs of one card, day sd {}", percent(day));
        null(name, equal(1, Units::Normal(0.1), day), card().on_days(2), |run| run.day == 1)
    };
    let cards = |first: u32, second: u32| {
        let runs = counted(first as usize, "run");
        let name = format!("compare two equal cards, {runs} and {second}, day sd 3 %");
        let design = Design::units(&[1]).on_days(first);
        let other = Design::units(&[2]).on_days(second).0.into_iter().filter(|run| run.unit == 1);
        let design = design.and(Design(other.collect()));
        null(name, equal(1, Units::Normal(0.0), 0.03), design, |run| run.unit == 1)
    };
    let narrow = || {
        let name = "compare two equal cards, --confidence 3 %, no day".to_owned();
        let design = Design::units(&[2]).with_repeats(Repeats::Until(0.03, 3, 10));
        let mut truth = equal(1, Units::Normal(0.0), 0.0);
        truth.spread.repeat = 0.03;
        null(name, truth, design, |run| run.unit == 1)
    };
    let same = |day: f64, days: u32| {
        let runs = counted(days as usize, "run");
        let name = format!("compare says same at 1.03, {runs} each, day sd {}", percent(day));
        let truth = equal(1, Units::Normal(0.0), day).with_off(Part::Unit(0, 1), 1.03);
        let design = Design::units(&[2]).on_days(days);
        CalibrationRow::new(name, Bound::Wrong(0.04), move |seed| {
            let said = groups(&truth, &design, |run| run.unit == 1, seed)?;
            Ok(match said.word {
                Word::Same | Word::Worse => RowResult::Wrong,
                Word::Better => RowResult::Right,
                Word::CannotTell => RowResult::Undecided,
            })
        })
    };
    vec![
        two(0.0).short(),
        two(0.01),
        two(0.03).short(),
        two(0.05),
        cards(1, 1),
        cards(3, 3).short(),
        cards(3, 1).short(),
        cards(5, 1),
        cards(6, 6),
        narrow(),
        as_they_were(0.0).times(4),
        as_they_were(0.6),
        until_narrow(),
        dependent(),
        same(0.0, 1),
        same(0.02, 1),
        same(0.02, 3),
    ]
}

/// Decisions about units rest on runs, however much their repeats depend on each other.
fn dependent() -> CalibrationRow {
    let name = "compare two equal cards, 3 runs and 3, day sd 3 %, autocorrelation 0.8".to_owned();
    let mut truth = equal(1, Units::Normal(0.0), 0.03);
    truth.spread.autocorrelation = 0.8;
    null(name, truth, Design::units(&[2]).on_days(3), |run| run.unit == 1)
}

/// Two runs by themselves, with autocorrelated repeats.
fn as_they_were(autocorrelation: f64) -> CalibrationRow {
    let name = format!("compare --runs covers the ratio of two runs, autocorrelation {autocorrelation}");
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.autocorrelation = autocorrelation;
    ratio_of_runs(name, COVERAGE, truth, Design::units(&[1]).on_days(2))
}

/// Two runs by themselves, with repeats that end when their interval is narrow. The interval holds whichever look ends
/// the repeats, so it covers more where all looks end alike.
fn until_narrow() -> CalibrationRow {
    let name = "compare --runs covers the ratio of two runs, --confidence 3 %, repeat sd 3 %".to_owned();
    let mut truth = equal(1, Units::Normal(0.1), 0.03);
    truth.spread.repeat = 0.03;
    let design = Design::units(&[1]).on_days(2).with_repeats(Repeats::Until(0.03, 3, 10));
    ratio_of_runs(name, COVERAGE_ASSUMED, truth, design)
}

/// A difference that day is one.
fn ratio_of_runs(name: String, bound: Bound, truth: Truth, design: Design) -> CalibrationRow {
    CalibrationRow::new(name, bound, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
        let records = stored(&fleet)?;
        let [first, second] = [0, 1].map(|at| fleet.run(&fleet.design.0[at], 0));
        let interval = compare_runs(&records[0], &records[1])?.interval;
        let holds = |(low, high): (f64, f64)| RowResult::from_right(low <= second / first && second / first <= high);
        Ok(interval.map_or(RowResult::Undecided, holds))
    })
}

fn models() -> Vec<CalibrationRow> {
    let row = |of_each: [usize; 2], deviation: f64| {
        let [first, second] = of_each;
        let units = counted(first, "unit");
        let name = format!("compare equal models, {units} and {second}, unit sd {}", percent(deviation));
        null_models(name, Units::Normal(deviation), 0.02, Design::units(&of_each))
    };
    vec![
        row([1, 1], 0.03),
        row([1, 1], 0.1).short(),
        row([5, 1], 0.1),
        row([3, 3], 0.1).short(),
        row([2, 6], 0.1),
        row([4, 3], 0.1),
        row([2, 2], 0.25),
        null_models(
            "compare equal models, 3 units and 3, heavy tails".to_owned(),
            Units::Heavy(0.1),
            0.02,
            Design::units(&[3, 3]),
        ),
        null_models(
            "compare equal models, 3 units and 3, two kinds of units".to_owned(),
            KINDS,
            0.02,
            Design::units(&[3, 3]),
        ),
        unequal([5, 2]),
        unequal([3, 3]),
    ]
}

/// Half of the units are 30 % slower.
pub(super) const KINDS: Units = Units::Kinds { share: 0.5, ratio: 0.7, deviation: 0.03 };

/// The second model is erratic.
fn unequal(of_each: [usize; 2]) -> CalibrationRow {
    let [first, second] = of_each;
    let truth = equal(2, Units::Normal(0.03), 0.02).with_units(1, Units::Normal(0.12));
    let design = Design::units(&of_each);
    let name = format!("compare equal models, {first} units and {second} of an erratic one");
    CalibrationRow::new(name, ERROR, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
        Ok(equals(&compare_models(&stored(&fleet)?)?))
    })
}

/// The same five cards at two hosts, each card on a day of its own.
fn hosts() -> Vec<CalibrationRow> {
    let both = |cards: usize| {
        let design = Design::units(&[cards]).changed(|at, run| run.day = at as u32);
        design.clone().and(design.changed(|_, run| run.host = 1))
    };
    let truth = || equal(1, Units::Normal(0.1), 0.02);
    let slower = || truth().with_off(Part::Host(1), 0.95);
    let apart = |cards: usize| {
        let name = format!("compare two hosts 5 % apart, the same {cards} cards, run sd 2 %");
        let (slower, both) = (slower(), both(cards));
        CalibrationRow::new(name, Bound::Right(0.9), move |seed| {
            let said = groups(&slower, &both, |run| run.host == 1, seed)?;
            Ok(match said.word {
                Word::Worse => RowResult::Right,
                Word::Better => RowResult::Wrong,
                Word::Same | Word::CannotTell => RowResult::Undecided,
            })
        })
    };
    let name = "compare power, two hosts 5 % apart, the same 5 cards, run sd 2 %";
    let (slower, five) = (slower(), both(5));
    vec![
        null("compare two equal hosts, the same 5 cards".to_owned(), truth(), both(5), |run| run.host == 1),
        one_sitting(),
        apart(5),
        apart(6),
        CalibrationRow::new(name, Bound::Power(0.9), move |seed| {
            let fleet = Fleet { truth: slower.clone(), design: five.clone(), seed };
            let records = stored(&fleet)?;
            let (here, there) = records.split_at(5);
            let differences: Vec<f64> = here.iter().zip(there).map(|(a, b)| run_mean(a) - run_mean(b)).collect();
            let found = compare(here, there)?.word == Word::Worse;
            Ok(RowResult::Power { found, exact: above_zero(&differences)? })
        }),
    ]
}

/// All cards at each host in one sitting. Days vary by 2 %, and a day affects all cards.
fn one_sitting() -> CalibrationRow {
    let name = "compare two equal hosts, the same 5 cards in one sitting each, day sd 2 %".to_owned();
    let mut truth = equal(1, Units::Normal(0.1), 0.01);
    truth.spread.day = 0.02;
    let design = Design::units(&[5]);
    null(name, truth, design.clone().and(design.changed(|_, run| run.host = 1)), |run| run.host == 1)
}

/// The share of differences that are found, relative to the exact test. The ratios are such that the exact test finds
/// about three quarters.
fn power() -> Vec<CalibrationRow> {
    let row = |units: usize, ratio: f64| {
        let name = format!("compare power, models ×{ratio} apart, {units} units each, unit sd 10 %");
        let truth = equal(2, Units::Normal(0.1), 0.02).with_ratio(1, ratio);
        let design = Design::units(&[units, units]);
        CalibrationRow::new(name, Bound::Power(0.9), move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
            let records = stored(&fleet)?;
            let [first, second] = [0, 1].map(|at| unit_means(&records, &truth.models[at].name));
            let found = compare_models(&records)?.word == Word::Better;
            Ok(RowResult::Power { found, exact: above(&second, &first)? })
        })
    };
    vec![row(3, 1.35), row(6, 1.2)]
}

/// The interval of a ratio holds the true one.
fn coverage() -> Vec<CalibrationRow> {
    let holds = |interval: Option<(f64, f64)>, truth: f64| match interval {
        Some((low, high)) => RowResult::from_right(low <= truth && truth <= high),
        None => RowResult::Undecided,
    };
    let cards = move |days: u32, day: f64| {
        let runs = counted(days as usize, "run");
        let name = format!("compare covers the ratio of two cards, {runs} each, day sd {}", percent(day));
        let truth = equal(1, Units::Normal(0.1), day);
        let design = Design::units(&[2]).on_days(days);
        let bound = if days == 1 { COVERAGE_ASSUMED } else { COVERAGE };
        CalibrationRow::new(name, bound, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
            let true_ratio = fleet.unit(0, 1, 0) / fleet.unit(0, 0, 0);
            let said = groups(&truth, &design, |run| run.unit == 1, seed)?;
            Ok(holds(said.interval, true_ratio))
        })
    };
    let models = move |of_each: [usize; 2]| {
        let [first, second] = of_each;
        let name = format!("compare covers the ratio of two models, {first} units and {second}");
        let truth = equal(2, Units::Normal(0.1), 0.02);
        let design = Design::units(&of_each);
        CalibrationRow::new(name, COVERAGE, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
            Ok(holds(compare_models(&stored(&fleet)?)?.interval, 1.0))
        })
    };
    vec![
        cards(1, 0.0),
        cards(1, 0.01),
        cards(1, 0.03),
        cards(1, 0.05),
        cards(3, 0.03).short(),
        cards(6, 0.03),
        models([3, 3]),
        models([6, 6]),
    ]
}

// Commands against each other: what one decides, no other denies.

/// Two to four models of one to five units, each on one to three days.
fn fleet(seed: u64) -> Fleet {
    let mut dice = Dice::new(seed);
    let mut pick = |most: u64| 1 + usize::try_from(dice.below(most)).unwrap_or(0);
    let models = 1 + pick(3);
    let design: Vec<usize> = (0..models).map(|_| pick(5)).collect();
    let days = u32::try_from(pick(3)).unwrap_or(1);
    let mut truth = equal(models, Units::Normal(0.05), 0.02).with_price("12USD");
    truth.models.iter_mut().for_each(|model| model.ratio = (0.15 * dice.normal()).exp());
    Fleet { truth, design: Design::units(&design).on_days(days), seed }
}

type Orders = BTreeSet<(String, String)>;

fn both(records: &[Observation]) -> Result<(Orders, Orders), Failure> {
    let ranked = orders(&rank(records, &RankOptions::default())?).into_iter().collect();
    Ok((ranked, compare_orders(records)?.into_iter().collect()))
}

pub(super) fn voice_rows() -> Vec<CalibrationRow> {
    vec![
        CalibrationRow::new(
            "one voice: rank and compare order the same models of several units",
            Bound::Wrong(0.0),
            |seed| {
                let fleet = fleet(seed);
                let (ranked, mut compared) = both(&stored(&fleet)?)?;
                // Of one unit the ranking says nothing; the comparison assumes how units of its model differ.
                let units = |model: &str| -> BTreeSet<usize> {
                    fleet
                        .design
                        .0
                        .iter()
                        .filter(|run| fleet.truth.models[run.model].name == model)
                        .map(|r| r.unit)
                        .collect()
                };
                compared.retain(|(a, b)| units(a).len() > 1 && units(b).len() > 1);
                Ok(RowResult::from_right(ranked == compared))
            },
        ),
        CalibrationRow::new(
            "one voice: rank and compare never order two models opposite ways",
            Bound::Wrong(0.0),
            |seed| {
                let (ranked, compared) = both(&stored(&fleet(seed))?)?;
                Ok(RowResult::from_right(ranked.iter().all(|(a, b)| !compared.contains(&(b.clone(), a.clone())))))
            },
        ),
        CalibrationRow::new(
            "one voice: no race and no purchase takes a model that another beats",
            Bound::Wrong(0.0),
            |seed| {
                let records = stored(&fleet(seed))?;
                let (ranked, compared) = both(&records)?;
                let beaten = |model: &str| ranked.iter().chain(&compared).any(|(_, worse)| worse == model);
                let bought = buy(&records)?.model.is_some_and(|model| beaten(&model));
                let raced = match race(&records, &[], seed)?.ended {
                    Some(Ended::Buy(model)) => beaten(&model),
                    Some(Ended::Tied(models, _)) => models.iter().any(|model| beaten(model)),
                    Some(Ended::Other) | None => false,
                };
                Ok(RowResult::from_right(!bought && !raced))
            },
        ),
    ]
}
