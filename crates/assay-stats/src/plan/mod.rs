//! Which unit is measured when and where, how often, and when a campaign is over.

mod design;
mod race;

pub use design::{
    Cost, Culprit, Effect, Fault, Meeting, Mode, Plan, PlannedLoad, Swap, Workload, cost, plan, session, swap,
};
pub use race::{Chances, Contender, NextAction, Order, Outcome, Rules, Step, in_race, intervals, lost, next};
