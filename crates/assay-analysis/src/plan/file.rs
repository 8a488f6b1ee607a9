//! The text of a plan file: TOML that people can read, one line for each cell.

use std::fmt::Write;

use assay_core::text::toml;

use super::experiment_plan::{ExperimentPlan, Moves};

/// What the files are.
pub(super) const FORMAT: &str = "assay-plan";
/// Raised whenever a file means something else than before.
pub(super) const VERSION: u32 = 1;

/// The text of the file: a header, the hash, and the hashed text.
pub(super) fn text(plan: &ExperimentPlan) -> String {
    format!(
        "# Records refer to this plan by its hash: do not change it, make another one.\n# What to do: assay plan \
         show FILE; what is done: assay plan status FILE\nformat = \"{FORMAT}\"\nversion = {VERSION}\nhash = \
         \"{}\"\n\n{}",
        plan.hash(),
        body(plan)
    )
}

/// Everything that the plan says.
pub(super) fn body(plan: &ExperimentPlan) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_body(plan, &mut out);
    out
}

fn write_body(plan: &ExperimentPlan, out: &mut String) -> std::fmt::Result {
    writeln!(out, "seed = {}", plan.seed)?;
    writeln!(out, "rounds = {}", plan.rounds)?;
    writeln!(out, "waves = {}", plan.waves)?;
    writeln!(out, "moves = {}", if plan.moves == Moves::EachRound { "\"each-round\"" } else { "\"never\"" })?;
    writeln!(out, "handling_minutes = {:?}", plan.handling_minutes)?;
    writeln!(out, "slots = {}", list(plan.slots.names()))?;
    for model in plan.roster.models() {
        write!(out, "\n[[model]]\nname = {}\nunits = {}\n", toml(&model.name), list(&model.units))?;
    }
    for order in &plan.orders {
        write!(out, "\n# order of workloads\n[[order]]\nworkloads = {}\n", list(order))?;
    }
    for round in 1..=plan.rounds {
        write!(out, "\n[[round]]\ncells = [\n")?;
        for cell in plan.cells.iter().filter(|cell| cell.round == round) {
            writeln!(
                out,
                "  {{ wave = {}, slot = {}, model = {}, unit = {}, order = {} }},",
                cell.wave,
                toml(&cell.slot),
                toml(&cell.model),
                toml(&cell.unit),
                cell.order
            )?;
        }
        writeln!(out, "]")?;
    }
    let suite = &plan.suite;
    write!(
        out,
        "\n# hash: BLAKE3 of the text of the suite's file; text: the suite\n[suite]\nsource = {}\nhash = {}\ntext = \
         \"\"\"\n{}\"\"\"\n",
        toml(&suite.source),
        toml(&suite.hash),
        suite.suite.to_text().replace('\\', "\\\\").replace("\"\"\"", "\"\"\\\"")
    )
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| toml(name)).collect();
    format!("[{}]", names.join(", "))
}
