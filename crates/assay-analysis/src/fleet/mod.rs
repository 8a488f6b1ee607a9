//! A run on many nodes: what each node did, odd nodes, the sum over all nodes, and what each loses by the others.

mod loads;
mod odd;
mod report;
mod run;
#[cfg(test)]
mod tests;

pub use loads::{Beside, FleetRow, LoadRow, NoSum, NodeFigure, NodesTogether};
pub use odd::{
    BelowAt, BelowNode, Inseparable, NodeGroups, NotRanked, ODD_ALPHA, OddAt, OddNode, OddNodes, PlaceEffect,
    PlacesUnder, SlotResults, SlotRow,
};
pub use report::{Against, FleetReport, LoadLoss, NodeLoss, NotCompared, Starts, Sum, report, starts};
pub use run::{Doubt, FleetRun, Node};
