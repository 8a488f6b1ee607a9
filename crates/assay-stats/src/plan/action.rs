//! The next step of a race.

use serde::Serialize;

/// A number of new units of a model to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Order {
    /// The model.
    pub model: String,
    /// New units of it.
    pub units: u32,
}

/// The next step. Models have the names of the contenders.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum NextAction {
    /// Measure new units of these models.
    Measure {
        /// The models and the number of their units, likeliest first.
        orders: Vec<Order>,
    },
    /// Buy: the model is within 3 % of the best model in the race, with the requested probability.
    Buy {
        /// The model.
        model: String,
    },
    /// Buy: all others were dropped, or are out of the race.
    OnlyOneLeft {
        /// The model.
        model: String,
    },
    /// More measuring cannot gain 1 %: take the cheapest of these.
    PracticallyTied {
        /// The models, the leader first.
        models: Vec<String>,
        /// The largest loss of each of them against the best, with 95 % probability; 0.03 is 3 %.
        loss: f64,
    },
    /// No more units may be measured; the best is among these.
    Exhausted {
        /// The models, likeliest first.
        models: Vec<String>,
    },
    /// These run at the ceiling of the bus: take the cheapest.
    CeilingTie {
        /// The models.
        models: Vec<String>,
    },
    /// Every model returned wrong data.
    NothingFit,
}
