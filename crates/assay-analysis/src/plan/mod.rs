//! Experiments: which unit is measured where and when, what a plan costs and can decide, how much of it is done, and
//! which model to measure next.

mod design;
mod experiment_plan;
mod file;
mod names;
mod race;
mod status;
#[cfg(test)]
mod tests;

pub use assay_stats::plan::{NextAction, Order};
pub use design::{Expense, Outlook, Resolution, outlook};
pub use experiment_plan::{
    ExperimentPlan, Move, Moves, PlanRequest, PlanTurn, PlannedSuite, ScheduledUnit, SeenMedium, SwapEffect,
    SwapOptions, SwapPlace, SwapStep, SwapTest, misplaced, swap_test,
};
pub use file::read_plan;
pub use names::{ModelUnits, PlanError, Roster, Slots};
pub use race::{Chance, Race, RaceOptions, race};
pub use status::{
    CellState, CellStatus, MOST_INVALID, Misfit, MisfitReason, PlanStatus, arguments, quoted_line, status,
};
