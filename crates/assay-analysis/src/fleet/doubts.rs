//! Findings that may have changed figures which count: they are used, and noted.

use assay_core::finding::{Cause, Finding, Severity, Warning};
use assay_core::observation::Observation;
use serde::Serialize;

use super::run::FleetRun;
use crate::exclusion::excluded_whole;

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
