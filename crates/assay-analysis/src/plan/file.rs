//! The text of a plan file: TOML that people can read, one line for each cell; it is read again only if unchanged.

use std::fmt::Write;

use assay_core::suite::Suite;
use assay_core::text::{label, quoted, toml};
use assay_stats::plan::{Meeting, Mode, SessionPlan};
use serde::Deserialize;
use toml::Spanned;

use super::experiment_plan::{ExperimentPlan, Moves, PlannedSuite, ScheduledUnit, check_handling};
use super::names::{ModelUnits, PlanError, Roster, Slots, check_shown};

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

// Reads a plan file, and refuses it unless it is unchanged.

/// Most characters of what the TOML reader says.
const LONGEST_MESSAGE: usize = 300;
const AGAIN: &str = "get the unchanged file, or make a plan with `assay plan new`";

/// What every version has.
#[derive(Deserialize)]
struct Head {
    format: Spanned<String>,
    version: Spanned<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u32,
    hash: Spanned<String>,
    seed: u32,
    rounds: usize,
    waves: usize,
    moves: MovesFile,
    handling_minutes: f64,
    slots: Vec<String>,
    model: Vec<ModelFile>,
    order: Vec<OrderFile>,
    round: Vec<RoundFile>,
    suite: Spanned<SuiteFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MovesFile {
    EachRound,
    Never,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    name: String,
    units: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderFile {
    workloads: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundFile {
    cells: Vec<CellFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CellFile {
    wave: usize,
    slot: String,
    model: String,
    unit: String,
    order: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    source: String,
    hash: String,
    text: String,
}

/// Reads a plan file; `file` is its name in messages.
///
/// # Errors
/// [`PlanError`] with file and line: it is no plan, of a newer version, changed after it was made,
/// or not sound.
pub fn read_plan(text: &str, file: &str) -> Result<ExperimentPlan, PlanError> {
    let line = |at: usize| text.get(..at.min(text.len())).map_or(1, |before| before.matches('\n').count() + 1);
    let fail = |at: usize, message: String| PlanError::in_line(file, line(at), message);
    let bad = |error: &toml::de::Error| {
        // It repeats keys and values of the file.
        let message = label(error.message(), LONGEST_MESSAGE).unwrap_or_default();
        fail(error.span().map_or(0, |span| span.start), format!("{message}; {AGAIN}"))
    };
    let head: Head = toml::from_str(text).map_err(|error| bad(&error))?;
    if head.format.get_ref() != FORMAT {
        return Err(fail(head.format.span().start, format!("is not a plan; {AGAIN}")));
    }
    if *head.version.get_ref() > VERSION {
        let message =
            format!("the plan is of version {}, this assay knows {VERSION}; use a newer assay", head.version.get_ref());
        return Err(fail(head.version.span().start, message));
    }
    let raw: PlanFile = toml::from_str(text).map_err(|error| bad(&error))?;
    let (stated, at) = (raw.hash.get_ref().clone(), raw.hash.span().start);
    let changed = || fail(at, format!("the plan was changed after it was made, its hash does not fit; {AGAIN}"));
    let here = format!("{file}:{}", line(at));
    let suite_line = line(raw.suite.span().start);
    let suite = raw.suite.into_inner();
    let parsed = Suite::parse(&suite.text, file).map_err(|error| {
        PlanError::in_line(file, suite_line, format!("in the plan's suite: {}; {AGAIN}", error.message))
    })?;
    // The hash is over a text with a line for each round: other numbers would cost time and memory without end.
    if raw.rounds != raw.round.len() {
        return Err(changed());
    }
    let plan = ExperimentPlan {
        seed: raw.seed,
        moves: match raw.moves {
            MovesFile::EachRound => Moves::EachRound,
            MovesFile::Never => Moves::Never,
        },
        rounds: raw.rounds,
        waves: raw.waves,
        handling_minutes: raw.handling_minutes,
        slots: Slots::from_names(raw.slots, &here)?,
        roster: Roster::from_models(
            raw.model.into_iter().map(|m| ModelUnits { name: m.name, units: m.units }).collect(),
            &here,
        )?,
        suite: PlannedSuite { source: suite.source, hash: suite.hash, suite: parsed },
        orders: raw.order.into_iter().map(|order| order.workloads).collect(),
        cells: raw.round.into_iter().enumerate().flat_map(|(index, round)| cells(index + 1, round)).collect(),
    };
    if plan.hash() != stated {
        return Err(changed());
    }
    // A hash can be made to fit; what the plan says has to hold as well.
    check(&plan).map_err(|message| PlanError::new(here.clone(), format!("{message}; {AGAIN}")))?;
    check_handling(plan.handling_minutes, &here)?;
    check_shown(&plan.suite.source, &here)?;
    Ok(plan)
}

fn cells(round: usize, file: RoundFile) -> impl Iterator<Item = ScheduledUnit> {
    file.cells.into_iter().map(move |c| ScheduledUnit {
        round,
        wave: c.wave,
        slot: c.slot,
        model: c.model,
        unit: c.unit,
        order: c.order,
    })
}

fn check(plan: &ExperimentPlan) -> Result<(), String> {
    let units: Vec<(usize, &str)> = plan.roster.units().collect();
    // First of all: other numbers of rounds or waves would cost memory before they are refused.
    let waves = units.len().div_ceil(plan.slots.names().len());
    if plan.waves != waves || units.len().checked_mul(plan.rounds) != Some(plan.cells.len()) {
        return Err(format!("{} rounds of {} waves do not fit the cells", plan.rounds, plan.waves));
    }
    let mut names: Vec<&String> = plan.suite.suite.workloads.iter().map(|w| &w.name).collect();
    names.sort();
    for order in &plan.orders {
        let mut sorted: Vec<&String> = order.iter().collect();
        sorted.sort();
        if sorted != names {
            return Err("an order does not hold the workloads of the suite".to_owned());
        }
    }
    let mut meetings = Vec::with_capacity(plan.cells.len());
    for cell in &plan.cells {
        let named = || format!("unit {} of {} in round {}", quoted(&cell.unit), quoted(&cell.model), cell.round);
        let unit = units.iter().position(|(m, u)| plan.roster.models()[*m].name == cell.model && *u == cell.unit);
        let slot = plan.slots.names().iter().position(|slot| *slot == cell.slot);
        let (Some(unit), Some(slot)) = (unit, slot) else {
            return Err(format!("{} is not a unit of the plan, or in no slot of it", named()));
        };
        if !(1..=plan.orders.len()).contains(&cell.order) || cell.wave == 0 {
            return Err(format!("{} has no wave or no order of workloads", named()));
        }
        meetings.push(Meeting { round: cell.round - 1, wave: cell.wave - 1, slot, unit });
    }
    let mode = if plan.moves == Moves::EachRound { Mode::Move } else { Mode::Stay };
    let models = units.iter().map(|(model, _)| *model).collect();
    let whole =
        SessionPlan { mode, models, slots: plan.slots.names().len(), rounds: plan.rounds, waves: plan.waves, meetings };
    whole.check().map_err(|fault| fault.to_string())
}
