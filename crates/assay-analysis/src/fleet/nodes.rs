//! The rows of nodes.

use assay_core::finding::Finding;
use assay_core::medium::Mounted;
use assay_core::record::Record;
use serde::Serialize;

use super::run::{Node, hottest};
use crate::identity::identity;

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetRow {
    /// Its name.
    pub node: String,
    /// Its outcome, as text.
    pub outcome: String,
    /// Whether it is complete.
    pub complete: bool,
    /// Id of its record.
    pub record: Option<String>,
    /// The model that it measured.
    pub model: Option<String>,
    /// The path that was measured; null where it has no record.
    pub target: Option<String>,
    /// What is mounted there; null where it has no record.
    pub mounted: Option<Mounted>,
    /// The unit.
    pub unit: Option<String>,
    /// Where the unit was.
    pub slot: Option<String>,
    /// The largest temperature that was read, in °C.
    pub hottest_celsius: Option<f64>,
    /// How its host was throttled, as text; null where nothing reports it.
    pub throttled: Option<String>,
    /// Whether it is odd under any load.
    pub odd: bool,
}

/// A node without its figures.
pub(super) fn node_row(node: &Node) -> FleetRow {
    let record = node.record.as_ref();
    let of = record.map(identity);
    FleetRow {
        node: node.name.clone(),
        outcome: node.outcome.clone(),
        complete: node.complete,
        record: record.map(|record| record.id.clone()),
        model: of.as_ref().map(|of| of.model.clone()),
        target: record.map(|record| record.medium.path.clone()),
        mounted: record.map(|record| record.medium.mounted()),
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
