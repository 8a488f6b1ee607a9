//! Which unit is measured when and where, how often, and when a campaign is over.

mod design;
mod race;

pub use design::{
    Cost, Culprit, Meeting, Mode, PlacedLoad, PlanFault, PlannedLoad, SessionPlan, Swap, SwapDifference, cost, plan,
    session, swap,
};
pub use race::{Chances, Contender, NextAction, Order, Outcome, RaceRules, RaceStep, in_race, intervals, lost, next};
