//! A plan for a person who moves cards.

use assay_analysis::plan::{
    CellState, CellStatus, Expense, ExperimentPlan, Misfit, Moves, Outlook, PlanStatus, SwapEffect, SwapStep, SwapTest,
    arguments, quoted_line,
};
use assay_core::text::{clean, statement};
use assay_core::units::{Bytes, counted, fixed, percent};

use crate::change::change_with;
use crate::document;
use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right};
use crate::terminal::{Style, shorten, wrap};

/// Columns of a name in the table; the command below has all of it.
const NAME: usize = 32;
/// Columns of a unit or a slot.
const SHORT_NAME: usize = 12;

/// Who goes where, wave by wave, with the command for each cell; one round or all,
/// on cards mounted at `target`. `file` is the plan's name as a shell takes it.
#[must_use]
pub fn show(plan: &ExperimentPlan, file: &str, round: Option<usize>, target: &str, style: &Style) -> String {
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
    if !plan.in_its_own_order() {
        // Before the commands, which do not run without them.
        out +=
            &paragraph(&format!("First write a suite file for each order: assay plan suites {}", clean(file)), style);
    }
    for number in (1..=plan.rounds()).filter(|number| round.is_none_or(|round| round == *number)) {
        for wave in 1..=plan.waves() {
            let cells: Vec<&assay_analysis::plan::ScheduledUnit> =
                plan.cells().iter().filter(|c| c.round == number && c.wave == wave).collect();
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
    out
}

fn wave_text(
    plan: &ExperimentPlan,
    cells: &[&assay_analysis::plan::ScheduledUnit],
    target: &str,
    style: Style,
) -> String {
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

// The progress of a plan.

/// Counts by round, the cells without a figure, and the records that do not fit.
#[must_use]
pub fn status(plan: &ExperimentPlan, status: &PlanStatus) -> Document {
    let all = status.cells.len();
    let given_up = match status.given_up() {
        0 => String::new(),
        1 => "; the records of one cell were invalid again and again, and it is left out".to_owned(),
        many => format!("; the records of {many} cells were invalid again and again, and they are left out"),
    };
    let finding = format!(
        "Plan {}: {} of {all} cells have a result{given_up}{}",
        status.plan,
        all - status.missing() - status.given_up(),
        if status.complete() { "; it is complete" } else { "" }
    );
    let mut blocks = vec![Block::Table(rounds_text(plan, status))];
    let open: Vec<TableRow> = status.cells.iter().filter_map(open_cell).collect();
    if !open.is_empty() {
        let columns = ["round", "wave"].map(right).into_iter();
        let columns = columns.chain(["slot", "model", "unit", "state"].map(left)).collect();
        blocks.push(Block::Table(Table { caption: String::new(), columns, rows: open }));
    }
    if !status.misfits.is_empty() {
        let misfit = |m: &Misfit| (clean(&m.record), statement(&m.reason.to_string()));
        blocks.push(Block::Heading("Records that do not count".to_owned()));
        blocks.push(Block::Items(status.misfits.iter().map(misfit).collect()));
    }
    Document {
        kind: "Plan",
        about: format!("Status of plan {}", status.plan),
        finding,
        blocks,
        data: status_data(status),
    }
}

fn rounds_text(plan: &ExperimentPlan, status: &PlanStatus) -> Table {
    let given_up = status.given_up() > 0;
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
            .into_iter()
            .chain(given_up.then(|| count(|state| matches!(state, CellState::GivenUp { .. }))))
            .collect::<Vec<_>>()
            .into()
        })
        .collect();
    let columns = ["round", "measured", "medium failed", "missing"].into_iter().chain(given_up.then_some("given up"));
    Table { caption: String::new(), columns: columns.map(right).collect(), rows }
}

/// A cell without a figure, or with more than one.
fn open_cell(cell: &CellStatus) -> Option<TableRow> {
    let word = match &cell.state {
        CellState::Measured { records } if records.len() < 2 => return None,
        CellState::Measured { records } => format!("measured {} times", records.len()),
        CellState::MediumFailed { failure, .. } => failure.title().to_owned(),
        CellState::GivenUp { records } => format!("invalid {} times", records.len()),
        CellState::Missing => "missing".to_owned(),
    };
    let c = &cell.cell;
    let place = [&c.slot, &c.model, &c.unit].map(|text| Cell::from(clean(text)));
    Some(TableRow::Cells([c.round.into(), c.wave.into()].into_iter().chain(place).chain([word.into()]).collect()))
}

/// A row for each cell.
fn status_data(status: &PlanStatus) -> Data {
    let row = |cell: &CellStatus| {
        let (state, records) = match &cell.state {
            CellState::Measured { records } => ("measured".to_owned(), records.join(" ")),
            CellState::MediumFailed { record, failure } => (failure.title().to_owned(), record.clone()),
            CellState::GivenUp { records } => ("invalid".to_owned(), records.join(" ")),
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

// What a plan takes and can tell.

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
    for line in able_text(plan, outlook) {
        out += &paragraph(&line, style);
    }
    out
}

/// What the plan will be able to tell, and what not.
fn able_text(plan: &ExperimentPlan, outlook: &Outlook) -> Vec<String> {
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
        (Moves::EachRound, false) => lines.push(untested_slots(plan).to_owned()),
        (Moves::EachRound, true) => {}
    }
    lines
}

/// What to plan so that slots can be tested.
fn untested_slots(plan: &ExperimentPlan) -> &'static str {
    if plan.rounds() == 1 {
        "With one round, unit and slot cannot be separated; plan two rounds or more, and three to see which slot deviates."
    } else if plan.rounds() < plan.slots().len() {
        "Which slot deviates cannot be tested beside units and rounds; plan another round, or more units."
    } else {
        "Which slot deviates cannot be tested beside units and rounds; plan more units."
    }
}

// The swap test: what to measure, and whether unit or slot is to blame.

/// The order of the test, and its verdict where all is measured.
#[must_use]
pub fn swap(test: &SwapTest) -> Document {
    let row = |step: &SwapStep| -> TableRow {
        let p = &step.place;
        vec![step.step.to_string(), clean(&p.slot), clean(&p.model), clean(&p.unit), step.repeats.to_string()].into()
    };
    let mut lines = swap_verdict(test).into_iter();
    let finding = lines.next().unwrap_or_default();
    let mut columns = vec![right("step")];
    columns.extend(["slot", "model", "unit"].map(left));
    columns.push(right("repeats"));
    let rows = test.steps.iter().map(row).collect();
    let mut blocks = vec![Block::Table(Table { caption: String::new(), columns, rows })];
    blocks.extend(lines.map(Block::Text));
    Document { kind: "Plan", about: "Swap test: unit or slot".to_owned(), finding, blocks, data: swap_data(test) }
}

/// Whether unit or slot is to blame, and by how much; or the next step.
fn swap_verdict(test: &SwapTest) -> Vec<String> {
    let load = test.load_title.as_deref().unwrap_or("the load that was odd");
    match (&test.unit, &test.slot, test.degrees) {
        (Some(unit), Some(slot), Some(degrees)) => {
            let to_blame = match (unit.real, slot.real) {
                (true, true) => "UNIT AND SLOT both differ.",
                (true, false) => "THE UNIT differs, not the slot.",
                (false, true) => "THE SLOT differs, not the unit.",
                (false, false) => "CANNOT TELL: neither certainly differs by more than 15 %.",
            };
            vec![
                to_blame.to_owned(),
                effect_text("Suspect over the other unit", unit),
                effect_text("Slot of the suspect over the other slot", slot),
                format!(
                    "{load}{}; logarithms of sessions, Student's t including day-to-day variation, {}.",
                    test.quantity.map_or_else(String::new, |quantity| format!(", {}", quantity.name())),
                    match degrees {
                        0 => "one session in each place; a second one in each would say more".to_owned(),
                        n => format!("{n} degrees of freedom between sessions"),
                    }
                ),
            ]
        }
        _ => vec![format!(
            "Measure step 1, swap the units, measure step 2. Each step needs two repeats or more of {load} for each unit, \
             with the labels model, unit and slot. The units of a step run at the same time."
        )],
    }
}

/// A row for each step, and one for each effect.
fn swap_data(test: &SwapTest) -> Data {
    let step = |s: &SwapStep| {
        let p = &s.place;
        let place = [s.step.to_string(), p.slot.clone(), p.model.clone(), p.unit.clone(), s.repeats.to_string()];
        place.into_iter().chain(std::iter::repeat_n(String::new(), 4)).collect()
    };
    let effect = |(name, e): (&str, &SwapEffect)| {
        let numbers = [number(Some(e.ratio)), number(Some(e.interval.0)), number(Some(e.interval.1))];
        let name = std::iter::once(name.to_owned());
        std::iter::repeat_n(String::new(), 5).chain(name).chain(numbers).collect()
    };
    let effects = [("unit", &test.unit), ("slot", &test.slot)].into_iter().filter_map(|(n, e)| Some((n, e.as_ref()?)));
    Data {
        columns: vec!["step", "slot", "model", "unit", "repeats", "effect_of", "ratio", "low", "high"],
        rows: test.steps.iter().map(step).chain(effects.map(effect)).collect(),
    }
}

fn effect_text(what: &str, effect: &SwapEffect) -> String {
    format!(
        "{what}: {}{}",
        change_with(effect.ratio, Some(effect.interval), "95 %"),
        if effect.real { "" } else { ", not certain or less than 15 %" }
    )
}

// Tables and paragraphs of all planning texts.

/// Lines of `cells` under `titles`; columns named in `numeric` stand to the right.
pub(super) fn table(titles: &[&str], numeric: &[usize], rows: Vec<Vec<String>>, style: Style) -> String {
    let column = |(at, title): (usize, &&str)| if numeric.contains(&at) { right(*title) } else { left(*title) };
    document::table(titles.iter().enumerate().map(column).collect(), rows, &style)
}

/// A paragraph, broken at the width of the terminal.
fn paragraph(text: &str, style: Style) -> String {
    wrap(&style.fold(text), style.width).join("\n") + "\n"
}

/// Minutes as people say them.
pub(super) fn minutes(minutes: f64) -> String {
    let seconds = (minutes * 60.0).clamp(0.0, 1e12);
    assay_core::units::span(std::time::Duration::from_secs_f64(seconds))
}

/// A ratio above 1 as whole percent: 1.31 is 31.
pub(super) fn percent_above(ratio: f64) -> String {
    format!("{} %", fixed((ratio - 1.0) * 100.0, 0))
}
