//! Runs that are turns of an experiment plan: between two of them a person moves units from slot to slot.

use serde::{Deserialize, Serialize};

/// The turn of an experiment plan that a run is. Round and wave are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rotation {
    /// Label of the plan.
    pub plan: String,
    /// Round.
    pub round: usize,
    /// Wave of the round.
    pub wave: usize,
    /// All nodes with their slots. A node may have no unit in a turn.
    pub places: Vec<RotationPlace>,
}

/// A node as a place for units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RotationPlace {
    /// The node.
    pub node: String,
    /// The target.
    pub target: String,
    /// The slot of the plan.
    pub slot: String,
}

/// The unit that a node has in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Model of the unit.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Where it is.
    pub slot: String,
}

impl Cell {
    /// As labels of its record.
    #[must_use]
    pub fn labels(&self) -> [(&'static str, &str); 3] {
        [("model", &self.model), ("unit", &self.unit), ("slot", &self.slot)]
    }
}
