//! The progress of a plan.

use assay_analysis::plan::{CellState, CellStatus, ExperimentPlan, Misfit, Status};
use assay_core::text::{clean, statement};

use crate::document::{Block, Cell, Data, Document, Row, Table, left, right};

/// Counts by round, the cells without a figure, and the records that do not fit.
#[must_use]
pub fn status(plan: &ExperimentPlan, status: &Status) -> Document {
    let all = status.cells.len();
    let finding = format!(
        "Plan {}: {} of {all} cells have a result{}",
        status.plan,
        all - status.missing(),
        if status.complete() { "; it is complete" } else { "" }
    );
    let mut blocks = vec![Block::Table(rounds(plan, status))];
    let open: Vec<Row> = status.cells.iter().filter_map(open_cell).collect();
    if !open.is_empty() {
        let columns = ["round", "wave"].map(right).into_iter();
        let columns = columns.chain(["slot", "model", "unit", "state"].map(left)).collect();
        blocks.push(Block::Table(Table { caption: String::new(), columns, rows: open }));
    }
    if !status.misfits.is_empty() {
        let misfit = |m: &Misfit| (clean(&m.record), statement(&m.reason));
        blocks.push(Block::Heading("Records that do not count".to_owned()));
        blocks.push(Block::Items(status.misfits.iter().map(misfit).collect()));
    }
    Document { kind: "Plan", about: format!("Status of plan {}", status.plan), finding, blocks, data: data(status) }
}

fn rounds(plan: &ExperimentPlan, status: &Status) -> Table {
    let rows = (1..=plan.rounds())
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
            .into()
        })
        .collect();
    Table { caption: String::new(), columns: ["round", "measured", "medium failed", "missing"].map(right).into(), rows }
}

/// A cell without a figure, or with more than one.
fn open_cell(cell: &CellStatus) -> Option<Row> {
    let word = match &cell.state {
        CellState::Measured { records } if records.len() < 2 => return None,
        CellState::Measured { records } => format!("measured {} times", records.len()),
        CellState::MediumFailed { failure, .. } => failure.clone(),
        CellState::Missing => "missing".to_owned(),
    };
    let c = &cell.cell;
    let place = [&c.slot, &c.model, &c.unit].map(|text| Cell::from(clean(text)));
    Some(Row::Cells([c.round.into(), c.wave.into()].into_iter().chain(place).chain([word.into()]).collect()))
}

/// A row for each cell.
fn data(status: &Status) -> Data {
    let row = |cell: &CellStatus| {
        let (state, records) = match &cell.state {
            CellState::Measured { records } => ("measured".to_owned(), records.join(" ")),
            CellState::MediumFailed { record, failure } => (failure.clone(), record.clone()),
            CellState::Missing => ("missing".to_owned(), String::new()),
        };
        let c = &cell.cell;
        let place = [c.slot.clone(), c.model.clone(), c.unit.clone()];
        [c.round.to_string(), c.wave.to_string()].into_iter().chain(place).chain([state, records]).collect()
    };
    Data {
        columns: vec!["round", "wave", "slot", "model", "unit", "state", "records"],
        rows: status.cells.iter().map(row).collect(),
    }
}
