//! The same nodes at once and one after the other: what they lose by each other.

use assay_core::estimate::Estimate;
use assay_core::record::Record;
use serde::Serialize;

use super::run::Run;
use super::sums::{sum_of_separate, together};
use crate::admission::admit;
use crate::at_once::factor;
use crate::compare::{Group, Pair, Question, Request, under};
use crate::deciding_quantity::deciding_quantity;
use crate::identity::{identity, suite};
use crate::load::Load;
use crate::quantity::Quantity;

/// A run against one in which fewer nodes measured at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Against {
    /// The other run, which is the reference.
    pub run: String,
    /// Its mode.
    pub mode: Option<String>,
    /// Nodes that measured at a time at most, there.
    pub at_a_time: u32,
    /// Nodes at a time at most, in the run that is reported.
    pub own_at_a_time: u32,
    /// Numbers of the nodes that are compared, each with itself.
    pub nodes: Vec<usize>,
    /// Numbers of nodes that have another unit there; they are not compared.
    pub moved: Vec<usize>,
    /// Numbers of nodes without a record there.
    pub missing: Vec<usize>,
    /// Why there is no comparison; null where there is one.
    pub refusal: Option<String>,
    /// By load.
    pub loads: Vec<Loss>,
}

/// A load in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Its title.
    pub title: String,
    /// The figure.
    pub quantity: Quantity,
    /// All nodes at once against the reference, each unit with itself: the mean change of a node.
    pub pair: Pair,
    /// Node by node.
    pub nodes: Vec<NodeLoss>,
    /// The sums; null where not all of the nodes measured at the same time.
    pub sum: Option<Sum>,
}

/// What a node lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeLoss {
    /// Its number.
    pub node: usize,
    /// Its unit in this run against the same unit in the reference.
    pub pair: Pair,
}

/// What the compared nodes moved in sum.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sum {
    /// At the same time, in bytes per second.
    pub together: Estimate,
    /// In the reference, each by itself, in bytes per second.
    pub apart: Estimate,
    /// The first by the second, by how repeats differ.
    pub ratio: Option<Estimate>,
}

/// The newest run of the same units and suite in which fewer nodes measured at a time. `others` begins with the newest.
pub(super) fn reference<'a>(run: &Run, others: &'a [Run]) -> Option<&'a Run> {
    let fewer = |other: &&Run| {
        matches!(other.mode.as_deref(), Some("alone" | "staggered")) && other.most_at_a_time() < run.most_at_a_time()
    };
    others.iter().filter(fewer).find(|other| paired(run, other).0.len() > 1)
}

/// Places of a node here and there.
type Places = (usize, usize);

/// Nodes of both runs with the same unit and suite, those whose unit is another one, and those that are not there.
fn paired(run: &Run, other: &Run) -> (Vec<Places>, Vec<usize>, Vec<usize>) {
    let (mut same, mut moved, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let there: std::collections::BTreeMap<&str, (usize, &Record)> =
        other.records().map(|(at, record)| (other.nodes[at].name.as_str(), (at, record))).collect();
    for (at, record) in run.records() {
        let of = |record: &Record| {
            let of = identity(record);
            (of.model, of.unit, of.slot)
        };
        match there.get(run.nodes[at].name.as_str()) {
            None => missing.push(at),
            Some((_, other)) if suite(other) != suite(record) => missing.push(at),
            Some((_, other)) if of(other) != of(record) => moved.push(at),
            Some((there, _)) => same.push((at, *there)),
        }
    }
    (same, moved, missing)
}

/// A run against a reference.
pub(super) fn against(run: &Run, other: &Run, loads: &[Load]) -> Against {
    let (same, moved, missing) = paired(run, other);
    let refusal = match same.len() {
        0 | 1 if !moved.is_empty() => Some(match moved.len() {
            1 => "1 node has another unit or slot there".to_owned(),
            n => format!("{n} nodes have another unit or slot there"),
        }),
        0 | 1 => Some("it has not two of these nodes with the same units and the same suite".to_owned()),
        _ => None,
    };
    let losses =
        if refusal.is_some() { Vec::new() } else { loads.iter().filter_map(|l| loss(run, other, &same, l)).collect() };
    Against {
        run: other.name.clone(),
        mode: other.mode.clone(),
        at_a_time: other.most_at_a_time(),
        own_at_a_time: run.most_at_a_time(),
        nodes: same.iter().map(|(here, _)| *here).collect(),
        moved,
        missing,
        refusal,
        loads: losses,
    }
}

fn loss(run: &Run, other: &Run, same: &[Places], load: &Load) -> Option<Loss> {
    let records = run.records().chain(other.records()).map(|(_, record)| record);
    let quantity = deciding_quantity(records, load).quantity;
    // A unit that has no figure on one side has none to be paired with.
    let both: Vec<(Places, &Record, &Record)> = same
        .iter()
        .filter_map(|places| {
            let (here, there) = (run.nodes[places.0].record.as_ref()?, other.nodes[places.1].record.as_ref()?);
            let known = |record: &Record| admit(record, load, quantity).0.is_some();
            (known(here) && known(there)).then_some((*places, here, there))
        })
        .collect();
    let pair = |here: Vec<&Record>, there: Vec<&Record>| {
        let group = |records| Group { name: String::new(), records };
        under(&[group(there), group(here)], load.clone(), &Request::default())?.pairs.first().copied()
    };
    let all = pair(both.iter().map(|b| b.1).collect(), both.iter().map(|b| b.2).collect())?;
    if all.question != Question::SameUnits {
        return None;
    }
    let nodes = both
        .iter()
        .filter_map(|((node, _), here, there)| Some(NodeLoss { node: *node, pair: pair(vec![*here], vec![*there])? }));
    let nodes: Vec<NodeLoss> = nodes.collect();
    let sum = || {
        let here = |node: usize| both.iter().any(|((at, _), ..)| *at == node);
        let there = |node: usize| both.iter().any(|((_, at), ..)| *at == node);
        let together = together(run, load, here).ok().filter(|found| found.nodes == both.len())?.bytes_per_second;
        let apart = sum_of_separate(other, load, there)?;
        Some(Sum { ratio: factor(&together, &apart), together, apart })
    };
    Some(Loss { title: load.title(), quantity, pair: all, nodes, sum: sum() })
}
