//! A run on many nodes: what each node did, odd nodes, the sum over all nodes, and what each loses by the others.

mod against;
mod answer;
mod loads;
mod nodes;
mod odd;
mod run;
mod slots;
mod standing;
mod starts;
mod sums;

pub use against::{Against, Loss, NodeLoss, Sum};
pub use answer::{FleetReport, report};
pub use loads::{Figure, LoadRow};
pub use nodes::FleetRow;
pub use odd::{ODD_ALPHA, OddAt, OddNode, OddNodes};
pub use run::{Node, Run, bare};
pub use slots::{Effect, Inseparable, SlotRow, Slots};
pub use standing::{BelowAt, BelowNode};
pub use starts::{Starts, starts};
pub use sums::{Beside, NoSum, Together};
