//! The rows of nodes.

use assay_core::finding::Finding;
use assay_core::record::Record;

use super::answer::FleetRow;
use super::run::{Node, hottest};
use crate::identity::identity;

/// A node without its figures.
pub(super) fn row(node: &Node) -> FleetRow {
    let record = node.record.as_ref();
    let of = record.map(identity);
    FleetRow {
        node: node.name.clone(),
        outcome: node.outcome.clone(),
        complete: node.complete,
        record: record.map(|record| record.id.clone()),
        model: of.as_ref().map(|of| of.model.clone()),
        unit: of.as_ref().map(|of| of.unit.clone()),
        slot: of.and_then(|of| of.slot),
        hottest_celsius: record.and_then(hottest),
        throttled: record.and_then(throttled),
        odd: false,
    }
}

/// Whether the host was slowed down while it measured, in the words of the finding.
pub(super) fn throttled(record: &Record) -> Option<String> {
    let by = |finding: &Finding| matches!(finding, Finding::Throttled { .. });
    record.all_warnings().find(|warning| by(&warning.finding)).map(|warning| warning.cause.clone())
}
