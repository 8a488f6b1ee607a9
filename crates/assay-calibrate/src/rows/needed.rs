//! What would change an answer: the number that is named finds the difference that is named, with the chance that is named.

use assay_analysis::rank::RankOptions;
use assay_analysis::{Needed, Values};
use assay_core::record::Record;
use assay_lab::fleet::{Design, Fleet, Part, Run, Truth, Units};

use super::truths::equal;
use crate::decisions::{Word, compare_within, needed_to_name, odd, orders, rank, stored};
use crate::found::{Failure, Found};
use crate::row::{Bound, Row};

/// 80 % less two standard errors of 1,000 fleets.
const POWER: Bound = Bound::Right(0.775);
/// Least differences that matter here: of models, and of units.
const MODELS: f64 = 0.2;
const CARDS: f64 = 0.05;

pub(super) fn rows() -> Vec<Row> {
    vec![models(), days(), ranked(), named()]
}

fn groups(records: &[Record], design: &Design, second: fn(&Run) -> bool) -> [Vec<Record>; 2] {
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
) -> Row {
    Row::new(name, POWER, move |seed| {
        let Some(needed) = ask(seed)? else { return Ok(Found::Aside) };
        if needed.of != of {
            return Err(format!("not asked for: {needed:?}").into());
        }
        Ok(if finds(needed, !seed)? { Found::Right } else { Found::Undecided })
    })
}

fn models() -> Row {
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
        move |seed| Ok(compared(&first, 4, MODELS, seed)?.needed),
        move |needed, seed| {
            let truth = truth.clone().with_ratio(1, needed.ratio);
            Ok(compared(&truth, needed.number as usize, 0.0, seed)?.word == Word::Better)
        },
    )
}

fn days() -> Row {
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

fn ranked() -> Row {
    let truth = equal(3, Units::Normal(0.1), 0.02);
    let report = |truth: &Truth, units: usize, delta: f64, seed: u64| {
        let records = stored(&Fleet { truth: truth.clone(), design: Design::units(&[units; 3]), seed })?;
        rank(&records, &RankOptions { delta, ..RankOptions::default() })
    };
    let first = truth.clone();
    pilot(
        "needed: units that rank names after 4 of each of 3 models find the difference",
        Values::Units,
        move |seed| Ok(report(&first, 4, MODELS, seed)?.primary.needed),
        move |needed, seed| {
            // The middle one lies between the two.
            let truth = truth.clone().with_ratio(0, needed.ratio).with_ratio(1, needed.ratio.sqrt());
            let pair = (truth.models[0].name.clone(), truth.models[2].name.clone());
            Ok(orders(&report(&truth, needed.number as usize, 0.0, seed)?).contains(&pair))
        },
    )
}

/// Two units of a model disagree, and six of another say how units vary.
fn named() -> Row {
    const OFF: f64 = 0.5;
    let truth = equal(2, Units::Normal(0.05), 0.02);
    let report = |truth: &Truth, units: usize, seed: u64| {
        let records = stored(&Fleet { truth: truth.clone(), design: Design::units(&[units, 6]), seed })?;
        rank(&records, &RankOptions::default())
    };
    Row::new("needed: units that rank names where two disagree name the odd one", POWER, move |seed| {
        let odd_one = |ratio: f64| truth.clone().with_off(Part::Unit(0, 0), ratio);
        let Some((ratio, units)) = needed_to_name(&report(&odd_one(OFF), 2, seed)?) else { return Ok(Found::Aside) };
        let second = odd_one(1.0 / ratio);
        let said = odd(&report(&second, units as usize, !seed)?);
        let is_first =
            |(model, unit): &(String, Option<String>)| *model == second.models[0].name && unit.as_deref() == Some("1");
        Ok(if said.iter().any(is_first) { Found::Right } else { Found::Undecided })
    })
}
