//! What a plan takes and can tell.

use assay_analysis::plan::{Expense, ExperimentPlan, Moves, Outlook};
use assay_core::text::clean;
use assay_core::units::{Bytes, counted, percent};

use super::layout::{minutes, paragraph, percent_above, table};
use crate::style::Style;

/// The plan in a few lines: size, cost by round and in total, and its resolution.
#[must_use]
pub fn outlook(plan: &ExperimentPlan, outlook: &Outlook, style: &Style) -> String {
    let style = style.at_least_a_table();
    let units: usize = plan.models().iter().map(|model| model.units.len()).sum();
    let suite = &plan.suite().suite;
    let mut out = paragraph(
        &format!(
            "Plan {}: {}, {}, {}, {}, seed {}",
            plan.label(),
            counted(plan.models().len(), "model"),
            counted(units, "unit"),
            counted(plan.slots().len(), "slot"),
            counted(plan.rounds(), "round"),
            plan.seed()
        ),
        style,
    );
    out += &paragraph(
        &format!(
            "Suite {} version {}: at most {} and {} written a session, then {} of rest; {} for a person to change a \
             unit",
            clean(&suite.name),
            suite.version,
            minutes(outlook.session_minutes),
            suite.max_write,
            minutes(outlook.rest_minutes),
            minutes(plan.handling_minutes())
        ),
        style,
    );
    out.push('\n');
    let row = |name: String, expense: &Expense| {
        vec![
            name,
            expense.sessions.to_string(),
            expense.moves.to_string(),
            minutes(expense.clock_minutes),
            minutes(expense.device_minutes),
            Bytes(expense.written_bytes).to_string(),
        ]
    };
    let mut rows: Vec<Vec<String>> =
        outlook.rounds.iter().enumerate().map(|(index, expense)| row((index + 1).to_string(), expense)).collect();
    rows.push(row("total".to_owned(), &outlook.total));
    let titles = ["round", "sessions", "units to move", "on the clock", "media busy", "written"];
    out += &table(&titles, &[1, 2, 3, 4, 5], rows, style);
    out += &paragraph(
        &format!(
            "All figures are upper limits from the budget of the suite. At most {} is written to each unit.",
            Bytes(outlook.written_per_unit_bytes)
        ),
        style,
    );
    out.push('\n');
    for line in able(plan, outlook) {
        out += &paragraph(&line, style);
    }
    out
}

/// What the plan will be able to tell, and what not.
fn able(plan: &ExperimentPlan, outlook: &Outlook) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(first) = outlook.resolution.first() {
        let more: Vec<String> = outlook.resolution[1..]
            .iter()
            .map(|r| format!("{} if by {}", percent_above(r.smallest_ratio), percent(r.unit_deviation, 3)))
            .collect();
        lines.push(format!(
            "With {} per model you cannot separate models closer than {} (if units vary by {}; {}). {:.0} % over \
             all pairs of {} models, Tukey's range.",
            counted(first.units as usize, "unit"),
            percent_above(first.smallest_ratio),
            percent(first.unit_deviation, 3),
            more.join(", "),
            first.level * 100.0,
            first.models
        ));
    } else if plan.models().len() == 1 {
        lines.push("There is one model: units can be compared, models cannot.".to_owned());
    }
    if !outlook.models_of_one_unit.is_empty() {
        let names: Vec<String> = outlook.models_of_one_unit.iter().map(|name| clean(name)).collect();
        lines.push(format!(
            "One unit of {}: the results describe that unit, not the model; use two or more, preferably three.",
            names.join(", ")
        ));
    }
    match (plan.moves(), outlook.units_told_from_slots) {
        (Moves::Never, _) => lines.push(
            "Units stay in the slot they were drawn for: models compare, but no single unit can be called bad, since unit \
             and slot cannot be separated."
                .to_owned(),
        ),
        (Moves::EachRound, false) => {
            lines.push("With one round, unit and slot cannot be separated; plan two rounds or more.".to_owned());
        }
        (Moves::EachRound, true) => {}
    }
    lines
}
