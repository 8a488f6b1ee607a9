//! Which unit is measured when and where, how often, and when a campaign is over.

mod action;
mod cost;
mod design;
mod fault;
mod interval;
mod latin;
mod pbest;
mod race;
mod session;
mod swap;

pub use action::{NextAction, Order};
pub use cost::{Cost, PlannedLoad, cost};
pub use design::{Meeting, Mode, Plan};
pub use fault::Fault;
pub use interval::intervals;
pub use latin::plan;
pub use pbest::Chances;
pub use race::{Contender, Outcome, Rules, Step, in_race, lost, next};
pub use session::{Workload, session};
pub use swap::{Culprit, Effect, Swap, swap};
