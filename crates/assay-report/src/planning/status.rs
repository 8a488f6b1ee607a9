//! What of a plan is done.

use assay_analysis::plan::{CellState, ExperimentPlan, Status};

use super::layout::{paragraph, table};
use crate::facts::clean;
use crate::style::Style;
use crate::wrap::shorten;

/// Columns of a name.
const NAME: usize = 24;
/// Columns of a unit or a slot.
const SHORT_NAME: usize = 10;

/// Counts by round, the cells without a figure, and the records that do not fit.
#[must_use]
pub fn status(plan: &ExperimentPlan, status: &Status, style: &Style) -> String {
    let style = style.bounded();
    let all = status.cells.len();
    let mut out = paragraph(
        &format!(
            "Plan {}: {} of {all} cells have a result{}",
            status.plan,
            all - status.missing(),
            if status.complete() { "; it is complete" } else { "" }
        ),
        style,
    );
    let per_round: Vec<Vec<String>> = (1..=plan.rounds())
        .map(|round| {
            let count = |what: fn(&CellState) -> bool| {
                status.cells.iter().filter(|cell| cell.cell.round == round && what(&cell.state)).count().to_string()
            };
            vec![
                round.to_string(),
                count(|state| matches!(state, CellState::Measured { .. })),
                count(|state| matches!(state, CellState::MediumFailed { .. })),
                count(|state| *state == CellState::Missing),
            ]
        })
        .collect();
    out.push('\n');
    out += &table(&["round", "measured", "medium failed", "missing"], &[0, 1, 2, 3], &per_round, style);
    let open: Vec<Vec<String>> = status
        .cells
        .iter()
        .filter_map(|cell| {
            let word = match &cell.state {
                CellState::Measured { records } if records.len() < 2 => return None,
                CellState::Measured { records } => format!("measured {} times", records.len()),
                CellState::MediumFailed { failure, .. } => failure.clone(),
                CellState::Missing => "missing".to_owned(),
            };
            let c = &cell.cell;
            let (slot, unit) = (shorten(&clean(&c.slot), SHORT_NAME), shorten(&clean(&c.unit), SHORT_NAME));
            Some(vec![c.round.to_string(), c.wave.to_string(), slot, shorten(&clean(&c.model), NAME), unit, word])
        })
        .collect();
    if !open.is_empty() {
        out.push('\n');
        out += &table(&["round", "wave", "slot", "model", "unit", "state"], &[0, 1], &open, style);
    }
    if !status.misfits.is_empty() {
        out.push_str("\nRecords that do not count:\n");
        for misfit in &status.misfits {
            out += &paragraph(&format!("{}: {}", clean(&misfit.record), clean(&misfit.reason)), style);
        }
    }
    out
}
