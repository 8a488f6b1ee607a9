//! A plan for a person who moves cards.

use assay_analysis::plan::{Cell, ExperimentPlan, arguments, quoted_line};
use assay_core::text::clean;
use assay_core::units::counted;

use super::layout::{paragraph, table};
use crate::style::Style;
use crate::wrap::shorten;

/// Columns of a name in the table; the command below has all of it.
const NAME: usize = 32;
/// Columns of a unit or a slot.
const SHORT_NAME: usize = 12;

/// Who goes where, wave by wave, with the command for each cell; one round or all,
/// on cards mounted at `target`.
#[must_use]
pub fn show(plan: &ExperimentPlan, round: Option<usize>, target: &str, style: &Style) -> String {
    let style = style.at_least_a_table();
    let mut out = paragraph(
        &format!(
            "Plan {}, suite {}, {} of {}, seed {}",
            plan.label(),
            clean(&plan.suite().source),
            counted(plan.rounds(), "round"),
            counted(plan.waves(), "wave"),
            plan.seed()
        ),
        style,
    );
    for (number, order) in plan.orders().iter().enumerate() {
        let names: Vec<String> = order.iter().map(|name| clean(name)).collect();
        out += &paragraph(&format!("Order {}: {}", number + 1, names.join(", ")), style);
    }
    for number in (1..=plan.rounds()).filter(|number| round.is_none_or(|round| round == *number)) {
        for wave in 1..=plan.waves() {
            let cells: Vec<&Cell> = plan.cells().iter().filter(|c| c.round == number && c.wave == wave).collect();
            if !cells.is_empty() {
                out += &wave_text(plan, &cells, target, style);
            }
        }
    }
    out.push('\n');
    out += &paragraph(
        &format!("Each command is for a card mounted at {}; --target names another place.", clean(target)),
        style,
    );
    if !plan.in_its_own_order() {
        out += &paragraph("Before the first one, write the suites with their orders: assay plan suites FILE", style);
    }
    out
}

fn wave_text(plan: &ExperimentPlan, cells: &[&Cell], target: &str, style: Style) -> String {
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|cell| {
            vec![
                cell.round.to_string(),
                cell.wave.to_string(),
                shorten(&clean(&cell.slot), SHORT_NAME),
                shorten(&clean(&cell.model), NAME),
                shorten(&clean(&cell.unit), SHORT_NAME),
                cell.order.to_string(),
            ]
        })
        .collect();
    let mut out = "\n".to_owned();
    out += &table(&["round", "wave", "slot", "model", "unit", "order"], &[0, 1, 5], rows, style);
    out.push('\n');
    for cell in cells {
        // Names were checked when the plan was made or read; nothing may be folded in a command.
        for line in quoted_line(&arguments(plan, cell, target), style.width) {
            out += &line;
            out.push('\n');
        }
    }
    out
}
