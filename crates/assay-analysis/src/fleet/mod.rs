//! A run on many nodes: what each node did, odd nodes, the sum over all nodes, and what each loses by the others.

mod loads;
mod odd;
mod report;
mod run;

pub use loads::{Beside, Figure, FleetRow, LoadRow, NoSum, Together};
pub use odd::{
    BelowAt, BelowNode, Effect, Inseparable, NotRanked, ODD_ALPHA, OddAt, OddNode, OddNodes, SlotRow, Slots,
};
pub use report::{Against, FleetReport, Loss, NodeLoss, NotCompared, Starts, Sum, report, starts};
pub use run::{FleetRun, Node};
