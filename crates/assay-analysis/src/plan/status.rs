//! The progress of a plan, by the labels of records, and the commands of its cells.

use std::fmt;

use assay_core::observation::Observation;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::suite::Suite;
use serde::Serialize;

use super::experiment_plan::{ExperimentPlan, ScheduledUnit};
use crate::exclusion::{Achieved, NoResult, result_of};

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
        failure: RunFailure,
    },
    /// Its records were invalid so often that it is not measured again.
    GivenUp {
        /// The invalid records, oldest first.
        records: Vec<String>,
    },
    /// There is no record that fits.
    Missing,
}

/// A cell with this many invalid records and no valid one is given up. The same cause would make the next record invalid, and
/// the other cells need not wait.
pub const MOST_INVALID: usize = 2;

/// A cell and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellStatus {
    /// The cell.
    #[serde(flatten)]
    pub cell: ScheduledUnit,
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
    pub reason: MisfitReason,
}

/// Why a record does not count as the result of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MisfitReason {
    /// Its labels name a cell, but not the plan.
    NoPlan {
        /// The label of the plan.
        plan: String,
    },
    /// A label is missing.
    NoLabel {
        /// Its key.
        key: &'static str,
    },
    /// The plan has no such model.
    NoModel {
        /// The model.
        model: String,
    },
    /// The plan has no such unit of the model.
    NoUnit {
        /// The model.
        model: String,
        /// The unit.
        unit: String,
    },
    /// The label of the round is not a number.
    RoundNotANumber {
        /// The label.
        round: String,
    },
    /// The plan has fewer rounds.
    NoRound {
        /// The round of the record.
        round: usize,
        /// Number of rounds of the plan.
        rounds: usize,
    },
    /// The unit was in another slot than the plan says.
    OtherSlot {
        /// The round.
        round: usize,
        /// The slot of the record.
        slot: String,
        /// The slot of the plan.
        planned: String,
    },
    /// It ran another suite or version.
    OtherSuite {
        /// The suite that ran.
        suite: String,
        /// Its version.
        version: u32,
        /// The suite of the plan.
        planned: String,
        /// Its version.
        planned_version: u32,
    },
    /// It ran a suite with the name and version of the plan's, and other workloads.
    OtherWorkloads {
        /// The suite.
        suite: String,
    },
    /// The run is under way, or was killed.
    Running,
    /// The run did not finish, for a reason that is not the medium's.
    Unfinished {
        /// The reason.
        failure: RunFailure,
    },
    /// The result is invalid.
    Invalid,
    /// The result is invalid, as those of the cell before it were, and the cell is given up.
    InvalidAgain,
    /// The result is invalid, and another record of the cell is its result.
    InvalidBesideResult,
    /// The run holds no figure.
    NoFigure,
    /// The medium failed in another record of the cell, which outweighs figures.
    FailedElsewhere,
}

impl fmt::Display for MisfitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlan { plan } => write!(f, "looks like a cell, but has no label plan={plan}"),
            Self::NoLabel { key } => write!(f, "has no label {key}"),
            Self::NoModel { model } => write!(f, "model {model} is not in the plan"),
            Self::NoUnit { model, unit } => write!(f, "unit {unit} of {model} is not in the plan"),
            Self::RoundNotANumber { round } => write!(f, "round {round} is not a number"),
            Self::NoRound { round, rounds } => write!(f, "round {round} is not in the plan, which has {rounds}"),
            Self::OtherSlot { round, slot, planned } => {
                write!(f, "was in slot {slot}; in round {round} it belongs in slot {planned}")
            }
            Self::OtherSuite { suite, version, planned, planned_version } => {
                write!(f, "ran suite {suite} version {version}; the plan says {planned} version {planned_version}")
            }
            Self::OtherWorkloads { suite } => {
                write!(f, "ran a suite named {suite} with other workloads than the plan's")
            }
            Self::Running => f.write_str("is under way, or was killed"),
            Self::Unfinished { failure } => write!(f, "did not finish: {}", failure.title()),
            Self::Invalid => f.write_str("is invalid; measure the cell again"),
            Self::InvalidAgain => f.write_str("is invalid, as another of its cell: the round goes on without the cell"),
            Self::InvalidBesideResult => f.write_str("is invalid; the cell has a result in another record"),
            Self::NoFigure => f.write_str("holds no figure; measure the cell again"),
            Self::FailedElsewhere => f.write_str("its medium failed in another record of the cell"),
        }
    }
}

/// The progress of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanStatus {
    /// The label of the plan.
    pub plan: String,
    /// Each cell, in the order of the plan.
    pub cells: Vec<CellStatus>,
    /// Records that do not count, with reasons.
    pub misfits: Vec<Misfit>,
}

impl PlanStatus {
    /// Cells without a result.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.cells.iter().filter(|cell| cell.state == CellState::Missing).count()
    }

    /// Cells that were invalid so often that they are not measured again.
    #[must_use]
    pub fn given_up(&self) -> usize {
        self.cells.iter().filter(|cell| matches!(cell.state, CellState::GivenUp { .. })).count()
    }

    /// Whether nothing is left to measure.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.missing() == 0
    }
}

/// The progress of `plan` by `records`. Records with the label of another plan are ignored. Records without a label are
/// reported if the label seems to have been forgotten.
#[must_use]
pub fn status(plan: &ExperimentPlan, records: &[Observation]) -> PlanStatus {
    let label = plan.label();
    let mut states = vec![CellState::Missing; plan.cells().len()];
    let mut misfits = Vec::new();
    let mut invalid: Vec<Vec<String>> = vec![Vec::new(); states.len()];
    for record in records {
        let found = match record.labels.get("plan") {
            Some(named) if named.eq_ignore_ascii_case(&label) => cell_of(plan, record),
            Some(_) => continue,
            None => match cell_of(plan, record) {
                Ok(_) => Err(MisfitReason::NoPlan { plan: label.clone() }),
                Err(_) => continue,
            },
        };
        let counted = found.and_then(|index| {
            count(&mut states[index], record).inspect_err(|reason| {
                if *reason == MisfitReason::Invalid {
                    invalid[index].push(record.id.clone());
                }
            })
        });
        match counted {
            Ok(outweighed) => {
                let reason = || MisfitReason::FailedElsewhere;
                misfits.extend(outweighed.into_iter().map(|record| Misfit { record, reason: reason() }));
            }
            Err(reason) => misfits.push(Misfit { record: record.id.clone(), reason }),
        }
    }
    give_up(&mut states, invalid, &mut misfits);
    let cells = plan.cells().iter().cloned().zip(states).map(|(cell, state)| CellStatus { cell, state }).collect();
    PlanStatus { plan: label, cells, misfits }
}

/// Gives up the cells without a result that had too many `invalid` records, and says of the others what is to be done.
fn give_up(states: &mut [CellState], invalid: Vec<Vec<String>>, misfits: &mut [Misfit]) {
    for (state, records) in states.iter_mut().zip(invalid) {
        let reason = match state {
            CellState::Missing if records.len() >= MOST_INVALID => MisfitReason::InvalidAgain,
            CellState::Missing => continue,
            _ => MisfitReason::InvalidBesideResult,
        };
        for misfit in misfits.iter_mut().filter(|misfit| records.contains(&misfit.record)) {
            misfit.reason = reason.clone();
        }
        if *state == CellState::Missing {
            *state = CellState::GivenUp { records };
        }
    }
}

/// The cell that the labels of a record name.
fn cell_of(plan: &ExperimentPlan, record: &Observation) -> Result<usize, MisfitReason> {
    let label = |key: &'static str| record.labels.get(key).ok_or(MisfitReason::NoLabel { key });
    let (model, unit, slot, round) = (label("model")?, label("unit")?, label("slot")?, label("round")?);
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let Some(known) = plan.models().iter().find(|known| same(&known.name, model)) else {
        return Err(MisfitReason::NoModel { model: model.clone() });
    };
    if !known.units.iter().any(|known| same(known, unit)) {
        return Err(MisfitReason::NoUnit { model: model.clone(), unit: unit.clone() });
    }
    let number: usize = round.parse().map_err(|_| MisfitReason::RoundNotANumber { round: round.clone() })?;
    let mine = |cell: &ScheduledUnit| cell.round == number && same(&cell.model, model) && same(&cell.unit, unit);
    let Some(index) = plan.cells().iter().position(mine) else {
        return Err(MisfitReason::NoRound { round: number, rounds: plan.rounds() });
    };
    let cell = &plan.cells()[index];
    if !same(&cell.slot, slot) {
        return Err(MisfitReason::OtherSlot { round: number, slot: slot.clone(), planned: cell.slot.clone() });
    }
    same_suite(plan, record)?;
    Ok(index)
}

/// The suite has to hold the same workloads, in any order.
fn same_suite(plan: &ExperimentPlan, record: &Observation) -> Result<(), MisfitReason> {
    let planned = &plan.suite().suite;
    if record.suite.name != planned.name || record.suite.version != planned.version {
        return Err(MisfitReason::OtherSuite {
            suite: record.suite.name.clone(),
            version: record.suite.version,
            planned: planned.name.clone(),
            planned_version: planned.version,
        });
    }
    let Some(text) = record.suite_text() else {
        return Ok(());
    };
    let sorted = |suite: &Suite| {
        let mut workloads = suite.workloads.clone();
        workloads.sort_by(|a, b| a.name.cmp(&b.name));
        (workloads, suite.span)
    };
    match Suite::parse(text, "") {
        Ok(ran) if sorted(&ran) == sorted(planned) => Ok(()),
        _ => Err(MisfitReason::OtherWorkloads { suite: planned.name.clone() }),
    }
}

/// Takes a record as the result of its cell, and returns the records that it outweighs.
fn count(state: &mut CellState, record: &Observation) -> Result<Vec<String>, MisfitReason> {
    let achieved = result_of(record).map_err(|why| match why {
        NoResult::Running => MisfitReason::Running,
        NoResult::Unfinished(failure) => MisfitReason::Unfinished { failure },
        NoResult::Invalid => MisfitReason::Invalid,
    })?;
    let (next, outweighed) = match (achieved, std::mem::replace(state, CellState::Missing)) {
        // A later failure outweighs figures: the medium is the one that broke.
        (Achieved::MediumFailed(failure), before) => {
            let outweighed = match before {
                CellState::Measured { records } => records,
                CellState::MediumFailed { record, .. } => vec![record],
                CellState::GivenUp { .. } | CellState::Missing => Vec::new(),
            };
            (CellState::MediumFailed { record: record.id.clone(), failure }, outweighed)
        }
        (Achieved::Measured, before @ CellState::MediumFailed { .. }) => {
            *state = before;
            return Err(MisfitReason::FailedElsewhere);
        }
        (Achieved::Measured, before) if !holds_a_figure(record) => {
            *state = before;
            return Err(MisfitReason::NoFigure);
        }
        (Achieved::Measured, CellState::Measured { mut records }) => {
            records.push(record.id.clone());
            (CellState::Measured { records }, Vec::new())
        }
        (Achieved::Measured, CellState::GivenUp { .. } | CellState::Missing) => {
            (CellState::Measured { records: vec![record.id.clone()] }, Vec::new())
        }
    };
    *state = next;
    Ok(outweighed)
}

/// Whether anything was measured in a run that is complete.
fn holds_a_figure(record: &Observation) -> bool {
    let measured = record.measurements.iter().any(|measurement| {
        measurement.iops.is_some()
            || measurement.bytes_per_second.is_some()
            || measurement.repeats.iter().any(|repeat| repeat.outcome == Outcome::Completed)
    });
    measured || !record.scores.is_empty()
}

// What to type for a cell of a plan.

/// The arguments after `assay` that measure a cell on a medium mounted at `target`, with the
/// labels by which the plan finds it. Its suite is the file that [`ExperimentPlan::session_file`]
/// names.
#[must_use]
pub fn arguments(plan: &ExperimentPlan, cell: &ScheduledUnit, target: &str) -> Vec<String> {
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
