//! Odd nodes: the units that the ranking finds odd, by node.

use std::collections::BTreeMap;

use assay_core::record::Record;
pub use assay_stats::rank::ODD_ALPHA;
use serde::Serialize;

use super::run::Run;
use crate::compare::{Group, Request, under};
use crate::identity::identity;
use crate::rank::{LoadRanking, RankOptions, RankReport, Unresolved, rank};

/// The number of nodes that get an interval: those that deviate most. Longer lists are not read.
const MOST_INTERVALS: usize = 20;

/// The odd nodes of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddNodes {
    /// Nodes that a test names.
    pub odd: Vec<OddNode>,
    /// Nodes that a test would name, but that have to be measured again: they were measured once, on a disturbed host.
    pub again: Vec<OddNode>,
    /// Models whose units differ although no unit can be named, with the load and the largest ratio.
    pub disagree: Vec<(String, String, f64)>,
    /// Units that were tested, under the load with the largest number.
    pub tested: usize,
    /// The probability that a node is named although all are equal, over all loads.
    pub alpha: f64,
    /// Why nothing could be tested; null where it could.
    pub refusal: Option<String>,
}

/// A node that differs from the others of its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddNode {
    /// Its number.
    pub node: usize,
    /// The model.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Under which loads, the furthest first.
    pub at: Vec<OddAt>,
}

/// An odd node under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddAt {
    /// Title of the load.
    pub title: String,
    /// The unit over the mean of the others.
    pub ratio: f64,
    /// Lower end of its interval, from the variance between the other nodes; null where none was computed.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
}

/// Odd nodes of a run, by the rule of the ranking.
pub(super) fn odd(run: &Run, ranked: Result<&RankReport, String>) -> OddNodes {
    let nothing = OddNodes {
        odd: Vec::new(),
        again: Vec::new(),
        disagree: Vec::new(),
        tested: 0,
        alpha: ODD_ALPHA,
        refusal: None,
    };
    let report = match ranked {
        Ok(report) => report,
        Err(refusal) => return OddNodes { refusal: Some(refusal), ..nothing },
    };
    let owners = owners(run);
    let mut found = nothing;
    let mut heavy_tails: Vec<(&str, &str)> = Vec::new();
    for ranking in std::iter::once(&report.primary).chain(&report.exploratory) {
        found.tested = found.tested.max(ranking.odd_tested);
        for one in &ranking.odd {
            let Some(unit) = &one.unit else {
                if one.heavy_tails {
                    heavy_tails.push((&one.model, &ranking.title));
                }
                found.disagree.push((one.model.clone(), ranking.title.clone(), one.ratio));
                continue;
            };
            let nodes = owners.get(&(one.model.clone(), unit.clone())).map_or(&[][..], Vec::as_slice);
            let into = if one.again { &mut found.again } else { &mut found.odd };
            nodes.iter().for_each(|node| add(into, *node, one, unit, ranking));
        }
    }
    // A node that is odd under another load is why its model's units differ under this one.
    let odd: Vec<&str> = found.odd.iter().map(|odd| odd.model.as_str()).collect();
    found.disagree.retain(|(model, title, _)| {
        !(heavy_tails.contains(&(model.as_str(), title.as_str())) && odd.contains(&model.as_str()))
    });
    for all in [&mut found.odd, &mut found.again] {
        all.iter_mut().for_each(|odd| odd.at.sort_by(|a, b| furthest(b).total_cmp(&furthest(a))));
        all.sort_by(|a, b| furthest(&b.at[0]).total_cmp(&furthest(&a.at[0])));
    }
    intervals(run, report, &mut found);
    found
}

fn add(all: &mut Vec<OddNode>, node: usize, one: &Unresolved, unit: &str, ranking: &LoadRanking) {
    let at = OddAt { title: ranking.title.clone(), ratio: one.ratio, low: None, high: None };
    match all.iter_mut().find(|odd| odd.node == node) {
        Some(known) => known.at.push(at),
        None => all.push(OddNode { node, model: one.model.clone(), unit: unit.to_owned(), at: vec![at] }),
    }
}

fn furthest(at: &OddAt) -> f64 {
    at.ratio.ln().abs()
}

/// The nodes of each unit: one, unless two name the same.
pub(super) fn owners(run: &Run) -> BTreeMap<(String, String), Vec<usize>> {
    let mut owners: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (node, record) in run.records() {
        let of = identity(record);
        owners.entry((of.model, of.unit)).or_default().push(node);
    }
    owners
}

/// The interval of each ratio, as the comparison of a unit with others of its model has it.
fn intervals(run: &Run, report: &RankReport, found: &mut OddNodes) {
    let loads: BTreeMap<&str, &LoadRanking> =
        std::iter::once(&report.primary).chain(&report.exploratory).map(|r| (r.title.as_str(), r)).collect();
    // Odd nodes do not show how the others vary.
    let named: Vec<usize> = found.odd.iter().map(|odd| odd.node).collect();
    for odd in found.odd.iter_mut().take(MOST_INTERVALS) {
        let of_model = |(node, record): &(usize, &Record)| !named.contains(node) && identity(record).model == odd.model;
        let others: Vec<&Record> = run.records().filter(of_model).map(|(_, record)| record).collect();
        let own: Vec<&Record> = run.records().filter(|(node, _)| *node == odd.node).map(|(_, record)| record).collect();
        let groups = [Group { name: String::new(), records: others }, Group { name: String::new(), records: own }];
        for at in &mut odd.at {
            let Some(ranking) = loads.get(at.title.as_str()) else { continue };
            let request = Request { quantity: Some(ranking.quantity), ..Request::default() };
            let Some(compared) = under(&groups, ranking.load.clone(), &request) else { continue };
            if let Some(pair) = compared.pairs.first() {
                (at.low, at.high) = (pair.low, pair.high);
            }
        }
    }
}

/// The ranking of the records of a run.
pub(super) fn ranked(records: &[&Record]) -> Result<RankReport, String> {
    rank(records, &RankOptions::default()).map_err(|error| error.to_string())
}
