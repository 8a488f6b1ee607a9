//! What is known of a node.

use assay_core::medium::Medium;
use assay_fleet::DayClock;

/// What is known of a node.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) node: String,
    pub(super) target: String,
    pub(super) unit: String,
    pub(super) slot: String,
    pub(super) reached: bool,
    pub(super) machine: String,
    pub(super) bits: u32,
    pub(super) version: String,
    pub(super) medium: Option<Medium>,
    pub(super) free_bytes: Option<u64>,
    pub(super) clock: Option<DayClock>,
    pub(super) planned_write_bytes: Option<u64>,
    pub(super) budget_ns: Option<u64>,
    /// Why it cannot be measured.
    pub(super) reason: Option<String>,
}
