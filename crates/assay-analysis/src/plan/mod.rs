//! Experiments: which unit is measured where and when, what a plan costs and can decide, how much of it is done, and
//! which model to measure next.

mod commands;
mod cost;
mod design;
mod draw;
mod error;
mod experiment_plan;
mod field;
mod file;
mod media;
mod names;
mod race;
mod race_types;
mod read;
mod status;
mod swap;
#[cfg(test)]
mod tests;
mod turns;

pub use assay_stats::plan::{NextAction, Order};
pub use commands::{arguments, quoted_line};
pub use cost::{Expense, Outlook, Resolution, outlook};
pub use error::PlanError;
pub use experiment_plan::{Cell, ExperimentPlan, Moves, PlannedSuite, Request};
pub use media::{SeenMedium, misplaced};
pub use names::{ModelUnits, Roster, Slots};
pub use race::{RaceOptions, race};
pub use race_types::{Chance, Race};
pub use read::read_plan;
pub use status::{CellState, CellStatus, Misfit, Status, status};
pub use swap::{Place, SwapEffect, SwapOptions, SwapStep, SwapTest, swap_test};
pub use turns::{Move, Turn};
