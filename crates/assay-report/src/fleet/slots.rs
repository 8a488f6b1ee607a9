//! Slots as text and a table.

use assay_analysis::fleet::{Effect, FleetReport, Inseparable, SlotRow};
use assay_core::text::clean;
use assay_core::units::{fixed, times};

use super::words::{count, node, nodes};
use crate::document::{Block, Cell, Row, Table, left, right};

/// All parts about slots.
pub(super) fn blocks(report: &FleetReport) -> Vec<Block> {
    let slots = &report.slots;
    let mut blocks = vec![Block::Heading("Slots".to_owned())];
    if !slots.rows.is_empty() {
        blocks.push(Block::Table(table(report)));
    }
    blocks.push(Block::Text(effect(report)));
    blocks
}

fn table(report: &FleetReport) -> Table {
    let row = |slot: &SlotRow| -> Row {
        [
            Cell::from(clean(&slot.slot)),
            nodes(report, &slot.nodes).into(),
            slot.hottest_celsius.map(|value| format!("{} °C", fixed(value, 0))).unwrap_or_default().into(),
            format!("{} of {}", slot.throttled, slot.nodes.len()).into(),
        ]
        .into()
    };
    Table {
        caption: String::new(),
        columns: vec![left("slot"), left("nodes"), right("hottest"), right("throttled")],
        rows: report.slots.rows.iter().map(row).collect(),
    }
}

pub(super) fn effect(report: &FleetReport) -> String {
    match &report.slots.effect {
        Effect::Separated { slots, title, runs } if slots.is_empty() => format!(
            "Units changed places over {}: no place deviates under {} (99 %, and more than 3 %).",
            count(*runs, "run"),
            clean(title)
        ),
        Effect::Separated { slots, title, runs } => {
            let each: Vec<String> = slots
                .iter()
                .map(|slot| {
                    format!("{} at {} the others (p {:.3})", clean(&slot.slot), times(slot.ratio), slot.p_value)
                })
                .collect();
            format!("Units changed places over {}. Under {}: {}.", count(*runs, "run"), clean(title), each.join(", "))
        }
        Effect::Inseparable { why, swap } => {
            let why = match why {
                Inseparable::NoSwap => "each unit was measured in one place",
                Inseparable::Confounded => "places and rounds changed together",
                Inseparable::Unknown => "records name neither a slot nor a host",
            };
            let swap = swap.map(|(suspect, other)| {
                format!(
                    "; swap the units of {} and {} and measure again, with --label slot=… where a host has several",
                    node(report, suspect),
                    node(report, other)
                )
            });
            format!("Unit and slot cannot be separated: {why}{}.", swap.unwrap_or_default())
        }
    }
}
