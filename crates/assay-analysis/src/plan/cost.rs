//! The cost of a plan in minutes and bytes, and its resolution.

use assay_stats::plan::{Meeting, Mode, Plan, PlannedLoad, cost};
use assay_stats::rank::{self, smallest_ratio};
use serde::Serialize;

use super::error::PlanError;
use super::experiment_plan::{ExperimentPlan, Moves};

/// Probability of any false order at the resolution: simultaneous 95 %.
const ALPHA: f64 = 0.05;

/// The cost of a round or of the whole plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expense {
    /// Sessions: one unit in one slot.
    pub sessions: usize,
    /// Units that a person inserts into a slot.
    pub moves: usize,
    /// Minutes of wall-clock time: units of a wave run at the same time, and a person inserts them one after another.
    pub clock_minutes: f64,
    /// Minutes that media are busy, summed over all media.
    pub device_minutes: f64,
    /// Most bytes written to all units.
    pub written_bytes: u64,
}

/// The smallest ratio of two models that can be declared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolution {
    /// Number of models.
    pub models: u32,
    /// Units of the model with the fewest.
    pub units: u32,
    /// Assumed standard deviation of logarithms between units of a model; 0.1 is 10 %.
    pub unit_deviation: f64,
    /// Models closer than this will be a tie: 1.31 is 31 %.
    pub smallest_ratio: f64,
    /// Confidence over all pairs of models together.
    pub level: f64,
}

/// The cost and the resolution of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// Minutes of one session at most, the budget of the suite.
    pub session_minutes: f64,
    /// Minutes of rest after each.
    pub rest_minutes: f64,
    /// Each round.
    pub rounds: Vec<Expense>,
    /// All rounds.
    pub total: Expense,
    /// Most bytes written to one unit over all rounds.
    pub written_per_unit_bytes: u64,
    /// Resolution for the assumed deviation between units, for half of it, and for one and a half times it; empty where
    /// there is none: one model, or a model with one unit.
    pub resolution: Vec<Resolution>,
    /// Models with one unit, where only that unit can be judged.
    pub models_of_one_unit: Vec<String>,
    /// Whether the effect of an odd unit can be separated from that of its slot.
    pub units_told_from_slots: bool,
}

/// The cost and the resolution of a plan, where units of a model vary by `unit_deviation` (standard deviation of
/// logarithms; cards showed 0.10).
///
/// # Errors
/// A deviation that is not between 0 and 1.
pub fn outlook(plan: &ExperimentPlan, unit_deviation: f64) -> Result<Outlook, PlanError> {
    if !(unit_deviation > 0.0 && unit_deviation < 1.0) {
        let message = format!("units that vary by {} %; give more than 0% and less than 100%", unit_deviation * 100.0);
        return Err(PlanError::new("--variation", message));
    }
    let suite = &plan.suite().suite;
    let minutes = suite.budget.as_secs_f64() / 60.0;
    // A suite without writes still writes its test area, once. Its write limit covers that.
    let load = PlannedLoad { minutes, written_bytes: suite.max_write.0, repeats: 1 };
    let whole = drawn(plan, None);
    let fault = |fault: assay_stats::plan::Fault| PlanError::new("--suite", fault.to_string());
    let all = cost(&whole, &[load], 0.0).map_err(fault)?;
    let rounds: Vec<Expense> = (0..plan.rounds())
        .map(|round| {
            let part = cost(&drawn(plan, Some(round)), &[load], 0.0).map_err(fault)?;
            let moves = moves(plan, round, part.sessions);
            Ok(Expense {
                sessions: part.sessions,
                moves,
                clock_minutes: part.clock_minutes + plan.handling_minutes() * moves as f64,
                device_minutes: part.device_minutes,
                written_bytes: part.written_bytes,
            })
        })
        .collect::<Result<_, PlanError>>()?;
    let moves: usize = rounds.iter().map(|round| round.moves).sum();
    let models_of_one_unit: Vec<String> =
        plan.models().iter().filter(|model| model.units.len() == 1).map(|model| model.name.clone()).collect();
    Ok(Outlook {
        session_minutes: minutes,
        rest_minutes: all.session_minutes - minutes,
        total: Expense {
            sessions: all.sessions,
            moves,
            clock_minutes: all.clock_minutes + plan.handling_minutes() * moves as f64,
            device_minutes: all.device_minutes,
            written_bytes: all.written_bytes,
        },
        rounds,
        written_per_unit_bytes: all.written_per_unit,
        resolution: [1.0, 0.5, 1.5].iter().filter_map(|share| resolution(plan, unit_deviation * share)).collect(),
        models_of_one_unit,
        units_told_from_slots: plan.moves() == Moves::EachRound && plan.rounds() > 1,
    })
}

/// Units that stay are put in once, where all have a slot of their own.
fn moves(plan: &ExperimentPlan, round: usize, sessions: usize) -> usize {
    let stays = plan.moves() == Moves::Never && plan.waves() == 1 && round > 0;
    if stays { 0 } else { sessions }
}

fn resolution(plan: &ExperimentPlan, deviation: f64) -> Option<Resolution> {
    let models = u32::try_from(plan.models().len()).ok()?;
    let units = u32::try_from(plan.models().iter().map(|model| model.units.len()).min()?).ok()?;
    let ratio = smallest_ratio(&rank::CampaignSize { models, units, deviation, alpha: ALPHA })?;
    Some(Resolution { models, units, unit_deviation: deviation, smallest_ratio: ratio, level: 1.0 - ALPHA })
}

/// The plan, or one round of it, as far as its cost depends on it.
fn drawn(plan: &ExperimentPlan, round: Option<usize>) -> Plan {
    let held = plan.cells().iter().filter(|cell| round.is_none_or(|round| cell.round == round + 1));
    let meetings = held.map(|cell| Meeting { round: cell.round - 1, wave: cell.wave - 1, slot: 0, unit: 0 }).collect();
    Plan {
        mode: Mode::Move,
        models: Vec::new(),
        slots: plan.slots().len(),
        rounds: if round.is_some() { 1 } else { plan.rounds() },
        waves: plan.waves(),
        meetings,
    }
}
