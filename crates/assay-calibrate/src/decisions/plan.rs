//! `assay plan race` and `assay plan swap`.

use assay_analysis::plan::{self, NextAction, Place, RaceOptions, SwapOptions};
use assay_analysis::{Load, deciding_quantity};
use assay_core::record::Record;

use crate::found::Failure;

/// A step of a race.
#[derive(Debug, Clone, PartialEq)]
pub struct Raced {
    /// The models to measure, with the number of new units of each; empty when the race is over.
    pub orders: Vec<(String, usize)>,
    /// Models that this step drops.
    pub dropped: Vec<String>,
    /// How it ended.
    pub ended: Option<Ended>,
    /// The leader.
    pub leader: Option<String>,
    /// The interval of its figure.
    pub interval: Option<(f64, f64)>,
}

/// How a race ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// Buy this one: it is within 3 % of the best.
    Buy(String),
    /// Any of these: each loses at most this share against the best, with 95 % probability.
    Tied(Vec<String>, f64),
    /// Undecided.
    Other,
}

/// `assay plan race --dropped …`.
///
/// # Errors
/// Records of no model.
pub fn race(records: &[Record], dropped: &[String], seed: u64) -> Result<Raced, Failure> {
    let load = load(records)?;
    let options = RaceOptions { threshold: 0.95, cap: 12, left: None, slots: 1, dropped: dropped.to_vec(), seed };
    let step = plan::race(records, &load, deciding_quantity(records, &load).quantity, &options)?;
    let (mut orders, mut ended) = (Vec::new(), None);
    match &step.action {
        NextAction::Measure { orders: all } => orders.extend(all.iter().map(|o| (o.model.clone(), o.units as usize))),
        NextAction::Buy { model } | NextAction::OnlyOneLeft { model } => ended = Some(Ended::Buy(model.clone())),
        NextAction::PracticallyTied { models, loss } => ended = Some(Ended::Tied(models.clone(), *loss)),
        NextAction::Exhausted { .. } | NextAction::CeilingTie { .. } | NextAction::NothingFit => {
            ended = Some(Ended::Other);
        }
    }
    let first = step.chances.iter().find(|chance| Some(&chance.model) == step.leader.as_ref());
    Ok(Raced {
        orders,
        interval: first.and_then(|chance| chance.interval),
        dropped: step.newly_dropped,
        ended,
        leader: step.leader,
    })
}

/// `assay plan swap`: whether the unit or the slot is blamed; `None` where it takes more to tell.
///
/// # Errors
/// Records of other units or slots.
pub fn blamed(records: &[Record], suspect: Place, other: Place) -> Result<Option<(bool, bool)>, Failure> {
    let load = load(records)?;
    let options = SwapOptions { suspect, other };
    let found = plan::swap_test(records, Some((&load, deciding_quantity(records, &load).quantity)), &options)?;
    Ok(found.unit.zip(found.slot).map(|(unit, slot)| (unit.real, slot.real)))
}

fn load(records: &[Record]) -> Result<Load, Failure> {
    let all = assay_analysis::by_model(records);
    Ok(assay_analysis::deciding_load(&all, None, None)?)
}
