//! `assay advise buy`: the loss from the recommended purchase.

use assay_core::units::counted;
use assay_lab::Dice;
use assay_lab::fleet::{Design, Fleet, Truth, Units};

use super::truths::equal;
use crate::decisions::{buy, stored};
use crate::found::Found;
use crate::row::{Bound, ERROR, Row};

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

pub(super) fn rows() -> Vec<Row> {
    let enough = |units: usize| {
        let units_each = counted(units, "unit");
        let name = format!("buy among 4 models of {units_each} each, what is lost where more testing cannot pay");
        Row::new(name, Bound::Mean(0.01), move |seed| {
            let fleet = four(units, seed);
            let said = buy(&stored(&fleet)?)?;
            Ok(match said.model.filter(|_| said.tested_enough) {
                Some(model) => Found::Number(loss(&fleet.truth, &model)),
                None => Found::Aside,
            })
        })
    };
    let certain = |units: usize| {
        let units_each = counted(units, "unit");
        let name = format!("buy among 4 models of {units_each} each, what is certain is within 3 % of the best");
        Row::new(name, ERROR, move |seed| {
            let fleet = four(units, seed);
            let said = buy(&stored(&fleet)?)?;
            Ok(match said.certain.iter().all(|model| loss(&fleet.truth, model) <= 1.03f64.ln()) {
                _ if said.certain.is_empty() => Found::Undecided,
                within => Found::of(within),
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
        Row::new("buy does not pay 100 times the price for 6 % more speed", ERROR, move |seed| {
            let fleet = Fleet { truth: dear.clone(), design: Design::units(&[4, 4]), seed };
            let said = buy(&stored(&fleet)?)?;
            Ok(said.model.map_or(Found::Undecided, |model| Found::of(model == dear.models[0].name)))
        }),
    ]
}
