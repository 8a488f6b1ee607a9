//! The first columns of each table of nodes: who a node is, and how it ended.

use assay_analysis::fleet::{FleetReport, FleetRow};
use assay_core::text::clean;
use assay_core::units::fixed;

use crate::document::{Cell, Column, left, right};

/// The columns of facts about nodes that a report has: those with a known value for any node.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeColumns {
    slots: bool,
    heat: bool,
}

impl NodeColumns {
    pub(super) fn of(report: &FleetReport) -> Self {
        let some = |holds: fn(&FleetRow) -> bool| report.nodes.iter().any(holds);
        Self { slots: some(|row| row.slot.is_some()), heat: some(|row| row.hottest_celsius.is_some()) }
    }

    pub(super) fn titles(self) -> Vec<Column> {
        let mut columns = vec![left("node"), left("unit")];
        columns.extend(self.slots.then(|| left("slot")));
        columns.push(left("outcome"));
        columns.extend(self.heat.then(|| right("hottest")));
        columns
    }

    /// The values of a node in these columns. The outcome is given as the table shows it.
    pub(super) fn cells(self, row: &FleetRow, outcome: String) -> Vec<Cell> {
        let text = |value: &Option<String>| Cell::from(value.as_deref().map(clean).unwrap_or_default());
        let mark = if row.odd { "*" } else { "" };
        let mut cells = vec![Cell::from(format!("{}{mark}", clean(&row.node))), text(&row.unit)];
        cells.extend(self.slots.then(|| text(&row.slot)));
        cells.push(outcome.into());
        let heat = || row.hottest_celsius.map(|value| format!("{} °C", fixed(value, 0))).unwrap_or_default();
        cells.extend(self.heat.then(|| heat().into()));
        cells
    }
}

/// What the star in these columns says, for a caption.
pub(super) fn star(report: &FleetReport) -> &'static str {
    if report.nodes.iter().any(|row| row.odd) { "; * is odd" } else { "" }
}
