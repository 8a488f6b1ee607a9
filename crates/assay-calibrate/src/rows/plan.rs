//! `assay plan`: races and swap tests.

use assay_analysis::plan::Place;
use assay_core::units::counted;
use assay_lab::Dice;
use assay_lab::fleet::{Design, Fleet, Part, Run, Truth, Units};

use super::names::percent;
use super::truths::equal;
use crate::decisions::{Ended, Raced, blamed, race, stored};
use crate::found::{Failure, Found};
use crate::row::{Bound, COVERAGE, ERROR, Row};

/// Models in a race.
const MODELS: usize = 8;
/// Deviation of the models.
const MODEL_DEVIATION: f64 = 0.25;
/// Units of each model in a fixed design that finds a model within 3 % of the best as often: 56 in all.
const FIXED: usize = 7;
/// Two models within this ratio are as good as each other.
const CLOSE: f64 = 1.03;

pub(super) fn rows() -> Vec<Row> {
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
                fleet.design.0.extend(more.map(|run| Run { model, ..run }));
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

fn good(race: &Finished, model: &str) -> Result<Found, Failure> {
    Ok(Found::of(race.loss(model)? <= CLOSE.ln()))
}

fn index(truth: &Truth, model: &str) -> Result<usize, Failure> {
    truth.models.iter().position(|m| m.name == model).ok_or_else(|| format!("no model {model}").into())
}

fn races() -> Vec<Row> {
    let row = |what: &str, bound: Bound, judge: fn(&Finished, u64) -> Result<Found, Failure>| {
        Row::new(format!("race of 8 models, unit sd 10 %, {what}"), bound, move |seed| {
            judge(&Finished::new(0.1, seed)?, seed)
        })
    };
    let interval = |deviation: f64| {
        let name = format!("race of 8 models, interval of the leader, unit sd {}", percent(deviation));
        Row::new(name, COVERAGE, move |seed| {
            let race = Finished::new(deviation, seed)?;
            let Some(leader) = &race.last.leader else { return Ok(Found::Undecided) };
            let level = race.fleet.model(index(&race.fleet.truth, leader)?, 0);
            let interval = race.last.interval;
            Ok(interval.map_or(Found::Undecided, |(low, high)| Found::of(low <= level && level <= high)))
        })
    };
    vec![
        row("what it says to buy is within 3 % of the best", ERROR, |race, _| match &race.last.ended {
            Some(Ended::Buy(model)) => good(race, model),
            _ => Ok(Found::Undecided),
        }),
        row("its leader is within 3 % of the best", Bound::Right(0.95), |race, _| match &race.last.leader {
            Some(model) => good(race, model),
            None => Ok(Found::Undecided),
        }),
        row("units measured of those of a fixed design", Bound::Mean(0.6), |race, _| {
            Ok(Found::Number(race.units as f64 / (FIXED * MODELS) as f64))
        }),
        row("any one of a tie loses at most what is said", ERROR, |race, seed| match member(race, seed) {
            Some((model, loss)) => Ok(Found::of(race.loss(model)? <= -(1.0 - loss).ln())),
            None => Ok(Found::Aside),
        }),
        row("what any one of a tie loses", Bound::Mean(0.03), |race, seed| match member(race, seed) {
            Some((model, _)) => Ok(Found::Number(race.loss(model)?)),
            None => Ok(Found::Aside),
        }),
        interval(0.1),
        interval(0.15),
        interval(0.25),
    ]
}

/// The cheapest of a tie is any of it: prices say nothing of speed.
fn member(race: &Finished, seed: u64) -> Option<(&str, f64)> {
    let Some(Ended::Tied(models, loss)) = &race.last.ended else { return None };
    let at = Dice::new(seed ^ 1).below(models.len() as u64);
    models.get(usize::try_from(at).ok()?).map(|model| (model.as_str(), *loss))
}

/// Two units of a model in two slots, and changed round.
fn swaps() -> Vec<Row> {
    let test = |truth: &Truth, sessions: u32, seed: u64| {
        let home = Design::units(&[2]).changed(|_, run| run.slot = Some(run.unit));
        let away = Design::units(&[2]).changed(|_, run| (run.slot, run.day) = (Some(1 - run.unit), 100));
        let design = home.on_days(sessions).and(away.on_days(sessions));
        let records = stored(&Fleet { truth: truth.clone(), design, seed })?;
        let place = |number: usize| Place {
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
        Row::new(name, ERROR, move |seed| {
            Ok(match test(&truth, sessions, seed)? {
                Some((true, _) | (_, true)) => Found::Wrong,
                Some((false, false)) | None => Found::Undecided,
            })
        })
    };
    let off = move |sessions: u32, part: Part, what: &str| {
        let name = format!("swap test, the {what} is at ×0.5, {sessions} sessions in each place, sd 3 %");
        let truth = equal(1, Units::Normal(0.03), 0.03).with_off(part, 0.5);
        Row::new(name, Bound::Right(0.9), move |seed| {
            let unit = matches!(part, Part::Unit(..));
            Ok(match test(&truth, sessions, seed)? {
                Some((true, false)) => Found::of(unit),
                Some((false, true)) => Found::of(!unit),
                Some((true, true)) => Found::Wrong,
                Some((false, false)) | None => Found::Undecided,
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
