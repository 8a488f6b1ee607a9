//! The nodes of a run with their records, as input of the report; and findings that are noted beside figures that count.

use std::borrow::Cow;
use std::collections::BTreeMap;

use assay_core::finding::{Cause, Finding, Severity, Warning};
use assay_core::observation::Observation;
use serde::Serialize;

use crate::exclusion::{Achieved, NoResult, Reason, excluded_whole, result_of, why_invalid};
use crate::identity::{names_unit, node_of};

/// A node of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its outcome, as text.
    pub outcome: String,
    /// Whether it is complete.
    pub complete: bool,
    /// Its record; `None` where it has none. Text is as media and users gave it.
    pub record: Option<Observation>,
}

/// A run on many nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetRun {
    /// Identity of the run.
    pub name: String,
    /// `simultaneous`, `staggered` or `alone`; none where nothing says it.
    pub mode: Option<String>,
    /// How many measured at a time at most; none where nothing says it.
    pub at_a_time: Option<u32>,
    /// Whether it is still running.
    pub running: bool,
    /// Nodes, each once.
    pub nodes: Vec<Node>,
    /// Nodes that other records name, and whose own records are missing.
    pub absent: usize,
    /// Records of earlier attempts, which are left out.
    pub repeated: usize,
    /// Records that name no unit, for which the node stands.
    pub unnamed: usize,
}

impl FleetRun {
    /// A run by its records alone, as a collection without a ledger leaves them.
    #[must_use]
    pub fn of_records(name: &str, records: Vec<Observation>) -> Self {
        let part = records.iter().find_map(|record| record.cluster.as_deref());
        let most = records.iter().filter_map(|record| record.cluster.as_deref()).map(|part| part.nodes).max();
        let mut run = Self {
            name: name.to_owned(),
            mode: part.map(|part| part.mode.clone()),
            at_a_time: part.map(|part| part.at_a_time),
            running: false,
            nodes: Vec::new(),
            absent: 0,
            repeated: 0,
            unnamed: 0,
        };
        run.take(records);
        let most = usize::try_from(most.unwrap_or(0)).unwrap_or(usize::MAX);
        run.absent = most.saturating_sub(run.nodes.len());
        run
    }

    /// The same without the records of these nodes; of one with a small test area, without its writes, which the buffers of the
    /// medium may have answered.
    #[must_use]
    pub(super) fn without(&self, nodes: &[(usize, Reason)]) -> Cow<'_, Self> {
        if nodes.is_empty() {
            return Cow::Borrowed(self);
        }
        let reads_alone = |record: &Observation| {
            let mut record = record.clone();
            record.measurements.retain(|measurement| !measurement.workload.writes());
            record
        };
        let node = |(at, node): (usize, &Node)| match nodes.iter().find(|(apart, _)| *apart == at) {
            Some((_, reason)) => {
                let record = node.record.as_ref().filter(|_| is_small(reason)).map(reads_alone);
                Node { name: node.name.clone(), outcome: node.outcome.clone(), complete: node.complete, record }
            }
            None => node.clone(),
        };
        Cow::Owned(Self {
            name: self.name.clone(),
            mode: self.mode.clone(),
            nodes: self.nodes.iter().enumerate().map(node).collect(),
            ..*self
        })
    }

    /// Gives each node its record, and nodes that are not known a row. Of several of a node the last attempt counts.
    pub fn take(&mut self, records: Vec<Observation>) {
        let mut last: BTreeMap<String, Observation> = BTreeMap::new();
        let order = |record: &Observation| {
            let attempt = record.cluster.as_ref().map_or(0, |part| part.attempt);
            (record.outcome == assay_core::outcome::Outcome::Completed, attempt, record.created.clone())
        };
        for record in records {
            let name = node(&record);
            match last.get(&name) {
                Some(known) if order(known) >= order(&record) => self.repeated += 1,
                Some(_) => {
                    self.repeated += 1;
                    last.insert(name, record);
                }
                None => drop(last.insert(name, record)),
            }
        }
        let mut new = Vec::new();
        for (name, record) in last {
            let (record, unnamed) = named_by(record, &name);
            self.unnamed += usize::from(unnamed);
            if let Some(known) = self.nodes.iter_mut().find(|node| node.name == name) {
                known.record = Some(record);
                continue;
            }
            let result = result_of(&record);
            let complete = result.is_ok();
            let outcome = match result {
                Ok(Achieved::Measured) => "recorded".to_owned(),
                Ok(Achieved::MediumFailed(_)) => format!("the medium failed: {}", record.outcome.sentence()),
                Err(NoResult::Invalid) => format!("invalid: {}", why_invalid(&record)),
                _ => record.outcome.sentence(),
            };
            new.push(Node { name, outcome, complete, record: Some(record) });
        }
        new.sort_by_cached_key(|node| counted(&node.name));
        self.nodes.append(&mut new);
    }

    /// Records with the numbers of their nodes.
    pub(super) fn records(&self) -> impl Iterator<Item = (usize, &Observation)> + Clone {
        self.nodes.iter().enumerate().filter_map(|(at, node)| Some((at, node.record.as_ref()?)))
    }

    /// How many measured at a time at most.
    pub(super) fn most_at_a_time(&self) -> u32 {
        match (self.mode.as_deref(), self.at_a_time) {
            (Some("alone"), _) => 1,
            (_, Some(most)) => most,
            _ => u32::try_from(self.nodes.len()).unwrap_or(u32::MAX),
        }
    }
}

/// Whether a node is set apart by its test area: its reads are shown all the same.
pub(super) fn is_small(reason: &Reason) -> bool {
    matches!(reason, Reason::SmallArea { .. })
}

/// What orders names as people count: `node2` before `node10`.
fn counted(name: &str) -> (String, u64, String) {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (letters.to_owned(), name[letters.len()..].parse().unwrap_or(0), name.to_owned())
}

/// The name of the node of a record.
fn node(record: &Observation) -> String {
    let label = || record.labels.get("node").filter(|node| !node.is_empty()).cloned();
    node_of(record).or_else(label).or_else(|| record.host.hostname.clone()).unwrap_or_else(|| record.id.clone())
}

/// Where nothing names the unit, the node does, as within a run each has one; and whether it does.
fn named_by(mut record: Observation, node: &str) -> (Observation, bool) {
    let unnamed = !names_unit(&record);
    if unnamed {
        record.labels.insert("unit".to_owned(), node.to_owned());
    }
    (record, unnamed)
}

/// A finding that makes figures of nodes suspect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doubt {
    /// What was found, as text: where nodes differ in numbers alone, with the range of these.
    pub cause: String,
    /// Numbers of the nodes, in their order.
    pub nodes: Vec<usize>,
    /// Titles of the loads; none where it is about all of them.
    pub loads: Vec<String>,
}

/// The findings of the records that count, those of most nodes first. That a host was throttled stands with its node.
pub(super) fn doubts(run: &FleetRun) -> Vec<Doubt> {
    let mut all: Vec<(Cause, Doubt)> = Vec::new();
    for (node, record) in run.records().filter(|(_, record)| excluded_whole(record).is_none()) {
        for (load, warning) in suspicions(record) {
            let pieces = warning.pieces();
            let known = all.iter_mut().find_map(|(cause, doubt)| cause.merge(&pieces).then_some(doubt));
            let doubt = match known {
                Some(doubt) => doubt,
                None => {
                    all.push((pieces, Doubt { cause: String::new(), nodes: Vec::new(), loads: Vec::new() }));
                    let Some((_, doubt)) = all.last_mut() else { continue };
                    doubt
                }
            };
            if !doubt.nodes.contains(&node) {
                doubt.nodes.push(node);
            }
            doubt.loads.extend(load.filter(|load| !doubt.loads.contains(load)));
        }
    }
    let mut all: Vec<Doubt> =
        all.into_iter().map(|(cause, doubt)| Doubt { cause: cause.to_string(), ..doubt }).collect();
    all.sort_by(|a, b| b.nodes.len().cmp(&a.nodes.len()).then_with(|| a.cause.cmp(&b.cause)));
    all
}

/// What makes a record suspect, each with the title of its load where it is about one that has figures.
fn suspicions(record: &Observation) -> impl Iterator<Item = (Option<String>, &Warning)> {
    let whole = record.warnings.iter().map(|warning| (None, warning));
    let by_load = record.measurements.iter().filter(|measurement| !is_invalid(&measurement.warnings));
    let by_load = by_load.flat_map(|measurement| {
        measurement.warnings.iter().map(|warning| (Some(record.load_title(measurement)), warning))
    });
    let is_told = |warning: &Warning| matches!(warning.finding, Finding::Throttled { .. });
    whole.chain(by_load).filter(move |(_, warning)| warning.severity == Severity::Suspect && !is_told(warning))
}

fn is_invalid(warnings: &[Warning]) -> bool {
    warnings.iter().any(|warning| warning.severity == Severity::Invalid)
}
