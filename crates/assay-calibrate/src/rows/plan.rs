//! `assay plan`: races and swap tests, and what would change an answer.

use assay_analysis::plan::SwapPlace;
use assay_analysis::rank::RankOptions;
use assay_analysis::{Needed, Values};
use assay_core::observation::Observation;
use assay_core::units::counted;
use assay_lab::Dice;
use assay_lab::fleet::{Design, Fleet, Part, TrueRun, Truth, Units};

use crate::decisions::{Ended, Raced, Word, blamed, compare_within, needed_to_name, odd, orders, race, rank, stored};
use crate::found::{Failure, RowResult};
use crate::row::{Bound, COVERAGE, CalibrationRow, ERROR, equal, percent};

/// Models in a race.
const MODELS: usize = 8;
/// Deviation of the models.
const MODEL_DEVIATION: f64 = 0.25;
/// Units of each model in a fixed design that finds a model within 3 % of the best as often: 56 in all.
const FIXED: usize = 7;
/// Two models within this ratio are as good as each other.
const CLOSE: f64 = 1.03;

pub(super) fn rows() -> Vec<CalibrationRow> {
    [races(), swaps()].into_iter().flatten().collect()
}

/// A race that was run to its end.
struct Finished {
    fleet: Fleet,
    last: Raced,
    units: usize,
}

impl Finished {
    fn new(unit_deviation: f64, seed: u64) -> Result<Self, Failure> {
        let mut dice = Dice::new(seed);
        let mut truth: Truth = equal(MODELS, Units::Normal(unit_deviation), 0.02);
        truth.models.iter_mut().for_each(|m| m.ratio = (MODEL_DEVIATION * dice.normal()).exp());
        let mut fleet = Fleet { truth, design: Design::units(&[2; MODELS]), seed };
        let mut of_each = [2; MODELS];
        let mut dropped = Vec::new();
        loop {
            let step = race(&stored(&fleet)?, &dropped, seed)?;
            if step.ended.is_some() {
                return Ok(Self { fleet, last: step, units: of_each.iter().sum() });
            }
            dropped.extend(step.dropped);
            for (name, units) in &step.orders {
                let model = index(&fleet.truth, name)?;
                let more = Design::units(&[of_each[model] + units]).0.into_iter().skip(of_each[model]);
                fleet.design.0.extend(more.map(|run| TrueRun { model, ..run }));
                of_each[model] += units;
            }
        }
    }

    /// The loss of a model against the best, in logarithms.
    fn loss(&self, model: &str) -> Result<f64, Failure> {
        let best = self.fleet.truth.models.iter().map(|m| m.ratio).fold(f64::MIN, f64::max);
        Ok((best / self.fleet.truth.models[index(&self.fleet.truth, model)?].ratio).ln())
    }
}

fn good(race: &Finished, model: &str) -> Result<RowResult, Failure> {
    Ok(RowResult::from_right(race.loss(model)? <= CLOSE.ln()))
}

fn index(truth: &Truth, model: &str) -> Result<usize, Failure> {
    truth.models.iter().position(|m| m.name == model).ok_or_else(|| format!("no model {model}").into())
}

fn races() -> Vec<CalibrationRow> {
    let row = |what: &str, bound: Bound, judge: fn(&Finished, u64) -> Result<RowResult, Failure>| {
        CalibrationRow::new(format!("race of 8 models, unit sd 10 %, {what}"), bound, move |seed| {
            judge(&Finished::new(0.1, seed)?, seed)
        })
    };
    let interval = |deviation: f64| {
        let name = format!("race of 8 models, interval of the leader, unit sd {}", percent(deviation));
        CalibrationRow::new(name, COVERAGE, move |seed| {
            let race = Finished::new(deviation, seed)?;
            let Some(leader) = &race.last.leader else { return Ok(RowResult::Undecided) };
            let level = race.fleet.model(index(&race.fleet.truth, leader)?, 0);
            let interval = race.last.interval;
            Ok(interval
                .map_or(RowResult::Undecided, |(low, high)| RowResult::from_right(low <= level && level <= high)))
        })
    };
    vec![
        row("what it says to buy is within 3 % of the best", ERROR, |race, _| match &race.last.ended {
            Some(Ended::Buy(model)) => good(race, model),
            _ => Ok(RowResult::Undecided),
        }),
        row("its leader is within 3 % of the best", Bound::Right(0.95), |race, _| match &race.last.leader {
            Some(model) => good(race, model),
            None => Ok(RowResult::Undecided),
        }),
        row("units measured of those of a fixed design", Bound::Mean(0.6), |race, _| {
            Ok(RowResult::Number(race.units as f64 / (FIXED * MODELS) as f64))
        }),
        row("any one of a tie loses at most what is said", ERROR, |race, seed| match member(race, seed) {
            Some((model, loss)) => Ok(RowResult::from_right(race.loss(model)? <= -(1.0 - loss).ln())),
            None => Ok(RowResult::Aside),
        }),
        row("what any one of a tie loses", Bound::Mean(0.03), |race, seed| match member(race, seed) {
            Some((model, _)) => Ok(RowResult::Number(race.loss(model)?)),
            None => Ok(RowResult::Aside),
        }),
        interval(0.1),
        interval(0.15),
        interval(0.25),
    ]
}

/// The cheapest of a tie is any of it: prices say nothing about speed.
fn member(race: &Finished, seed: u64) -> Option<(&str, f64)> {
    let Some(Ended::Tied(models, loss)) = &race.last.ended else { return None };
    let at = Dice::new(seed ^ 1).below(models.len() as u64);
    models.get(usize::try_from(at).ok()?).map(|model| (model.as_str(), *loss))
}

/// Two units of a model in two slots, and changed round.
fn swaps() -> Vec<CalibrationRow> {
    let test = |truth: &Truth, sessions: u32, seed: u64| {
        let home = Design::units(&[2]).changed(|_, run| run.slot = Some(run.unit));
        let away = Design::units(&[2]).changed(|_, run| (run.slot, run.day) = (Some(1 - run.unit), 100));
        let design = home.on_days(sessions).and(away.on_days(sessions));
        let records = stored(&Fleet { truth: truth.clone(), design, seed })?;
        let place = |number: usize| SwapPlace {
            model: truth.models[0].name.clone(),
            unit: number.to_string(),
            slot: number.to_string(),
        };
        blamed(&records, place(1), place(2))
    };
    let none = move |sessions: u32, day: f64| {
        let each = counted(sessions as usize, "session");
        let name = format!("swap test, nothing is off, {each} in each place, sd {}", percent(day));
        let truth = equal(1, Units::Normal(0.0), day);
        CalibrationRow::new(name, ERROR, move |seed| {
            Ok(match test(&truth, sessions, seed)? {
                Some((true, _) | (_, true)) => RowResult::Wrong,
                Some((false, false)) | None => RowResult::Undecided,
            })
        })
    };
    let off = move |sessions: u32, part: Part, what: &str| {
        let name = format!("swap test, the {what} is at ×0.5, {sessions} sessions in each place, sd 3 %");
        let truth = equal(1, Units::Normal(0.03), 0.03).with_off(part, 0.5);
        CalibrationRow::new(name, Bound::Right(0.9), move |seed| {
            let unit = matches!(part, Part::Unit(..));
            Ok(match test(&truth, sessions, seed)? {
                Some((true, false)) => RowResult::from_right(unit),
                Some((false, true)) => RowResult::from_right(!unit),
                Some((true, true)) => RowResult::Wrong,
                Some((false, false)) | None => RowResult::Undecided,
            })
        })
    };
    vec![
        none(1, 0.03),
        none(1, 0.1).short(),
        none(1, 0.2),
        none(3, 0.1),
        off(3, Part::Unit(0, 0), "unit").short(),
        off(3, Part::Slot(0, 0), "slot"),
    ]
}

// What would change an answer: the number that is named finds the difference that is named, with the chance that is named.

/// 80 % less two standard errors of 1,000 fleets.
const POWER: Bound = Bound::Right(0.775);
/// Least differences that matter here: of models, and of units.
const NEEDED_MODELS: f64 = 0.2;
const CARDS: f64 = 0.05;

pub(super) fn needed_rows() -> Vec<CalibrationRow> {
    vec![needed_models(), days(), ranked(), named()]
}

fn groups(records: &[Observation], design: &Design, second: fn(&TrueRun) -> bool) -> [Vec<Observation>; 2] {
    [false, true].map(|wanted| {
        let those = records.iter().zip(&design.0).filter(|(_, run)| second(run) == wanted);
        those.map(|(record, _)| record.clone()).collect()
    })
}

/// A first fleet of equal ones says how many find what; of the second the difference is true.
fn pilot(
    name: &str,
    of: Values,
    ask: impl Fn(u64) -> Result<Option<Needed>, Failure> + Send + Sync + 'static,
    finds: impl Fn(Needed, u64) -> Result<bool, Failure> + Send + Sync + 'static,
) -> CalibrationRow {
    CalibrationRow::new(name, POWER, move |seed| {
        let Some(needed) = ask(seed)? else { return Ok(RowResult::Aside) };
        if needed.of != of {
            return Err(format!("not asked for: {needed:?}").into());
        }
        Ok(if finds(needed, !seed)? { RowResult::Right } else { RowResult::Undecided })
    })
}

fn needed_models() -> CalibrationRow {
    let truth = equal(2, Units::Normal(0.1), 0.02);
    let compared = |truth: &Truth, units: usize, margin: f64, seed: u64| {
        let design = Design::units(&[units, units]);
        let records = stored(&Fleet { truth: truth.clone(), design: design.clone(), seed })?;
        let [first, second] = groups(&records, &design, |run| run.model == 1);
        compare_within(&first, &second, margin)
    };
    let first = truth.clone();
    pilot(
        "needed: units that compare names after 4 and 4 find the difference",
        Values::Units,
        move |seed| Ok(compared(&first, 4, NEEDED_MODELS, seed)?.needed),
        move |needed, seed| {
            let truth = truth.clone().with_ratio(1, needed.ratio);
            Ok(compared(&truth, needed.number as usize, 0.0, seed)?.word == Word::Better)
        },
    )
}

fn days() -> CalibrationRow {
    let truth = equal(1, Units::Normal(0.0), 0.03);
    let compared = |truth: &Truth, runs: u32, margin: f64, seed: u64| {
        let design = Design::units(&[2]).on_days(runs);
        let records = stored(&Fleet { truth: truth.clone(), design: design.clone(), seed })?;
        let [first, second] = groups(&records, &design, |run| run.unit == 1);
        compare_within(&first, &second, margin)
    };
    let first = truth.clone();
    pilot(
        "needed: runs that compare names after 3 and 3 find the difference, day sd 3 %",
        Values::Runs,
        move |seed| Ok(compared(&first, 3, CARDS, seed)?.needed),
        move |needed, seed| {
            let truth = truth.clone().with_off(Part::Unit(0, 1), needed.ratio);
            Ok(compared(&truth, needed.number, 0.0, seed)?.word == Word::Better)
        },
    )
}

fn ranked() -> CalibrationRow {
    let truth = equal(3, Units::Normal(0.1), 0.02);
    let report = |truth: &Truth, units: usize, delta: f64, seed: u64| {
        let records = stored(&Fleet { truth: truth.clone(), design: Design::units(&[units; 3]), seed })?;
        rank(&records, &RankOptions { delta, ..RankOptions::default() })
    };
    let first = truth.clone();
    pilot(
        "needed: units that rank names after 4 of each of 3 models find the difference",
        Values::Units,
        move |seed| Ok(report(&first, 4, NEEDED_MODELS, seed)?.primary.needed),
        move |needed, seed| {
            // The middle one lies between the two.
            let truth = truth.clone().with_ratio(0, needed.ratio).with_ratio(1, needed.ratio.sqrt());
            let pair = (truth.models[0].name.clone(), truth.models[2].name.clone());
            Ok(orders(&report(&truth, needed.number as usize, 0.0, seed)?).contains(&pair))
        },
    )
}

/// Two units of a model disagree, and six of another say how units vary.
fn named() -> CalibrationRow {
    const OFF: f64 = 0.5;
    let truth = equal(2, Units::Normal(0.05), 0.02);
    let report = |truth: &Truth, units: usize, seed: u64| {
        let records = stored(&Fleet { truth: truth.clone(), design: Design::units(&[units, 6]), seed })?;
        rank(&records, &RankOptions::default())
    };
    CalibrationRow::new("needed: units that rank names where two disagree name the odd one", POWER, move |seed| {
        let odd_one = |ratio: f64| truth.clone().with_off(Part::Unit(0, 0), ratio);
        let Some((ratio, units)) = needed_to_name(&report(&odd_one(OFF), 2, seed)?) else {
            return Ok(RowResult::Aside);
        };
        let second = odd_one(1.0 / ratio);
        let said = odd(&report(&second, units as usize, !seed)?);
        let is_first =
            |(model, unit): &(String, Option<String>)| *model == second.models[0].name && unit.as_deref() == Some("1");
        Ok(if said.iter().any(is_first) { RowResult::Right } else { RowResult::Undecided })
    })
}
