//! A plan: which unit is measured when and where, with which suite.

use assay_core::suite::Suite;
use assay_stats::plan::Mode;
use serde::Serialize;

use super::names::{Roster, Slots};

/// Whether units change slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Moves {
    /// Each unit is in a new slot in each round. The effects of unit and slot can be separated.
    EachRound,
    /// Each unit stays in a slot drawn once, so none may be called bad.
    Never,
}

impl Moves {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::EachRound => Mode::Move,
            Self::Never => Mode::Stay,
        }
    }
}

/// What a plan is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The models and units.
    pub roster: &'a Roster,
    /// The slots.
    pub slots: &'a Slots,
    /// How often each unit is measured.
    pub rounds: usize,
    /// Whether units change slots.
    pub moves: Moves,
    /// The suite for each unit in each round.
    pub suite: &'a Suite,
    /// The name of the suite on the command line.
    pub suite_source: &'a str,
    /// The text of its file.
    pub suite_text: &'a str,
    /// Minutes that one person takes to change one unit.
    pub handling_minutes: f64,
    /// Seed of the draw; by default one made from all of the above, so that the same request
    /// gives the same plan.
    pub seed: Option<u32>,
}

/// The suite of a plan, kept whole: a file or a newer version may have changed it since.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSuite {
    /// The name on the command line.
    pub source: String,
    /// BLAKE3 of the text of its file, in hexadecimal.
    pub hash: String,
    /// The suite.
    pub suite: Suite,
}

/// One unit in one slot. Round, wave and order are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Round.
    pub round: usize,
    /// Wave of the round: its units start together.
    pub wave: usize,
    /// Slot.
    pub slot: String,
    /// Model of the unit.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Order of workloads.
    pub order: usize,
}

/// Which unit is measured when and where, with which suite. Only valid plans can be made or read.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentPlan {
    pub(super) seed: u32,
    pub(super) moves: Moves,
    pub(super) rounds: usize,
    pub(super) waves: usize,
    pub(super) handling_minutes: f64,
    pub(super) slots: Slots,
    pub(super) roster: Roster,
    pub(super) suite: PlannedSuite,
    pub(super) orders: Vec<Vec<String>>,
    pub(super) cells: Vec<Cell>,
}
