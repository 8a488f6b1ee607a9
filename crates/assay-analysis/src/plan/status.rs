//! The progress of a plan, by the labels of records, and the commands of its cells.

use assay_core::finding::ValidityVerdict;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::suite::Suite;
use serde::Serialize;

use super::experiment_plan::{Cell, ExperimentPlan};

/// What became of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CellState {
    /// It is measured.
    Measured {
        /// The records, oldest first; more than one where it was measured again.
        records: Vec<String>,
    },
    /// The medium failed in it, which is a result.
    MediumFailed {
        /// The record.
        record: String,
        /// How.
        failure: String,
    },
    /// There is no record that fits.
    Missing,
}

/// A cell and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellStatus {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// What became of it.
    #[serde(flatten)]
    pub state: CellState,
}

/// A record that names the plan, or units of it, and does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Misfit {
    /// Its id.
    pub record: String,
    /// Why it does not count.
    pub reason: String,
}

/// The progress of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The label of the plan.
    pub plan: String,
    /// Each cell, in the order of the plan.
    pub cells: Vec<CellStatus>,
    /// Records that do not count, with reasons.
    pub misfits: Vec<Misfit>,
}

impl Status {
    /// Cells without a result.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.cells.iter().filter(|cell| cell.state == CellState::Missing).count()
    }

    /// Whether every cell has a result.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.missing() == 0
    }
}

/// The progress of `plan` by `records`. Records with the label of another plan are ignored. Records without a label are
/// reported if the label seems to have been forgotten.
#[must_use]
pub fn status(plan: &ExperimentPlan, records: &[Record]) -> Status {
    let label = plan.label();
    let mut states = vec![CellState::Missing; plan.cells().len()];
    let mut misfits = Vec::new();
    for record in records {
        let found = match record.labels.get("plan") {
            Some(named) if named.eq_ignore_ascii_case(&label) => cell_of(plan, record),
            Some(_) => continue,
            None => match cell_of(plan, record) {
                Ok(_) => Err(format!("looks like a cell, but has no label plan={label}")),
                Err(_) => continue,
            },
        };
        match found.and_then(|index| count(&mut states[index], record)) {
            Ok(()) => {}
            Err(reason) => misfits.push(Misfit { record: record.id.clone(), reason }),
        }
    }
    let cells = plan.cells().iter().cloned().zip(states).map(|(cell, state)| CellStatus { cell, state }).collect();
    Status { plan: label, cells, misfits }
}

/// The cell that the labels of a record name.
fn cell_of(plan: &ExperimentPlan, record: &Record) -> Result<usize, String> {
    let label = |key: &str| record.labels.get(key).map(String::as_str).ok_or(format!("has no label {key}"));
    let (model, unit, slot, round) = (label("model")?, label("unit")?, label("slot")?, label("round")?);
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let Some(known) = plan.models().iter().find(|known| same(&known.name, model)) else {
        return Err(format!("model {model} is not in the plan"));
    };
    if !known.units.iter().any(|known| same(known, unit)) {
        return Err(format!("unit {unit} of {model} is not in the plan"));
    }
    let number: usize = round.parse().map_err(|_| format!("round {round} is not a number"))?;
    let mine = |cell: &Cell| cell.round == number && same(&cell.model, model) && same(&cell.unit, unit);
    let Some(index) = plan.cells().iter().position(mine) else {
        return Err(format!("round {round} is not in the plan, which has {}", plan.rounds()));
    };
    let cell = &plan.cells()[index];
    if !same(&cell.slot, slot) {
        return Err(format!("was in slot {slot}; in round {round} it belongs in slot {}", cell.slot));
    }
    same_suite(plan, record)?;
    Ok(index)
}

/// The suite has to hold the same workloads, in any order.
fn same_suite(plan: &ExperimentPlan, record: &Record) -> Result<(), String> {
    let planned = &plan.suite().suite;
    if record.suite.name != planned.name || record.suite.version != planned.version {
        return Err(format!(
            "ran suite {} version {}; the plan says {} version {}",
            record.suite.name, record.suite.version, planned.name, planned.version
        ));
    }
    if record.settings.suite_text.is_empty() {
        return Ok(());
    }
    let sorted = |suite: &Suite| {
        let mut workloads = suite.workloads.clone();
        workloads.sort_by(|a, b| a.name.cmp(&b.name));
        (workloads, suite.span)
    };
    match Suite::parse(&record.settings.suite_text, "") {
        Ok(ran) if sorted(&ran) == sorted(planned) => Ok(()),
        _ => Err(format!("ran a suite named {} with other workloads than the plan's", planned.name)),
    }
}

/// Takes a record as the result of its cell.
fn count(state: &mut CellState, record: &Record) -> Result<(), String> {
    match &record.outcome {
        Outcome::Running => return Err("is under way, or was killed".to_owned()),
        Outcome::Failed { failure, .. } if record.outcome.medium_failed() => {
            // A later failure outweighs figures: the medium is the one that broke.
            *state = CellState::MediumFailed { record: record.id.clone(), failure: failure.title().to_owned() };
            return Ok(());
        }
        Outcome::Failed { failure, .. } => return Err(format!("did not finish: {}", failure.title())),
        Outcome::Completed => {}
    }
    if record.validity.verdict == ValidityVerdict::Invalid {
        return Err("is invalid; measure the cell again".to_owned());
    }
    match state {
        CellState::Measured { records } => records.push(record.id.clone()),
        CellState::Missing => *state = CellState::Measured { records: vec![record.id.clone()] },
        CellState::MediumFailed { .. } => return Err("its medium failed in another record of the cell".to_owned()),
    }
    Ok(())
}

// What to type for a cell of a plan.

/// The arguments after `assay` that measure a cell on a medium mounted at `target`, with the
/// labels by which the plan finds it. Its suite is the file that [`ExperimentPlan::session_file`]
/// names.
#[must_use]
pub fn arguments(plan: &ExperimentPlan, cell: &Cell, target: &str) -> Vec<String> {
    let mut all = vec!["run".to_owned(), target.to_owned(), "--suite".to_owned(), plan.session_file(cell.order)];
    let (round, label) = (cell.round.to_string(), plan.label());
    let labels =
        [("model", &cell.model), ("unit", &cell.unit), ("slot", &cell.slot), ("round", &round), ("plan", &label)];
    for (key, value) in labels {
        all.extend(["--label".to_owned(), format!("{key}={value}")]);
    }
    all
}

/// `assay` with these arguments for a POSIX shell, options together with their values, in lines
/// of at most `width` columns where words allow it.
#[must_use]
pub fn quoted_line(arguments: &[String], width: usize) -> Vec<String> {
    let mut words: Vec<String> = vec!["assay".to_owned()];
    for argument in arguments {
        let word = quoted(argument);
        match words.last_mut() {
            Some(last) if (last.starts_with("--") && !last.contains(' ')) || last == "assay" => {
                *last = format!("{last} {word}");
            }
            _ => words.push(word),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            // Two columns are reserved for the continuation sign.
            Some(last) if last.chars().count() + 1 + word.chars().count() + 2 <= width => {
                last.push(' ');
                last.push_str(&word);
            }
            Some(last) => {
                last.push_str(" \\");
                lines.push(format!("  {word}"));
            }
            None => lines.push(word),
        }
    }
    lines
}

/// Quotes a word for a POSIX shell (XCU 2.2.2: no character is special between single quotes).
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_that_were_meant() {
        let arguments: Vec<String> =
            ["run", "--label", "model=it's $(rm) `x`", "--label", "unit=7"].map(str::to_owned).to_vec();
        for width in [20, 40, 200] {
            let script = quoted_line(&arguments, width).join("\n").replacen("assay", "printf '%s|'", 1);
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            let read = String::from_utf8(output.stdout).unwrap();
            assert_eq!(read, "run|--label|model=it's $(rm) `x`|--label|unit=7|", "{script}");
        }
    }
}
