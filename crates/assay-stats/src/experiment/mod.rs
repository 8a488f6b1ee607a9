//! Which unit is measured when and where, how often, and when a campaign is over.

mod cost;
mod fault;
mod interval;
mod latin;
mod pbest;
mod plan;
mod race;
mod session;
mod swap;

pub use cost::{Cost, Load, cost};
pub use fault::Fault;
pub use interval::intervals;
pub use latin::plan;
pub use pbest::Chances;
pub use plan::{Meeting, Mode, Plan};
pub use race::{Action, Contender, Order, Outcome, Reason, Rules, Step, in_race, next};
pub use session::{Workload, session};
pub use swap::{Culprit, Effect, Swap, swap};
