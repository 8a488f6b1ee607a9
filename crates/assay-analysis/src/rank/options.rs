//! The options of a ranking.

use super::composite::CompositeKind;
use crate::quantity::Quantity;

/// How to rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOptions {
    /// Words for the load that decides; `None`: the one of [`crate::deciding_load`].
    pub primary: Option<String>,
    /// The figure of it; `None`: what people read first of that load.
    pub quantity: Option<Quantity>,
    /// Rate in bytes per second that slots let through; `None`: as the records or the values say.
    pub ceiling: Option<f64>,
    /// Chance of any false order when all models are equal, between 0 and 1.
    pub alpha: f64,
    /// Differences up to this share do not matter: 0.03 is 3 %.
    pub delta: f64,
    /// Whether models of one unit take part, with the variance of the others.
    pub borrow: bool,
    /// Seed of everything drawn.
    pub seed: u64,
    /// A number made of several loads beside the ranking.
    pub composite: Option<CompositeKind>,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self {
            primary: None,
            quantity: None,
            ceiling: None,
            alpha: 0.05,
            delta: 0.03,
            borrow: false,
            seed: 0,
            composite: None,
        }
    }
}
