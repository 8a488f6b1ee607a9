//! One step of a race: the next action, and the knowledge about the models.

use assay_stats::plan::NextAction;
use serde::Serialize;

use crate::Excluded;
use crate::load::Load;
use crate::quantity::Quantity;

/// The knowledge about a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chance {
    /// The model.
    pub model: String,
    /// Units with a figure.
    pub units: u32,
    /// Mean of the units' geometric means; null without a figure. In the unit of the quantity.
    pub mean: Option<f64>,
    /// 95 % interval of what the model does, less the luck of leading or trailing
    /// ([`assay_stats::plan::intervals`]); null before the first comparison and at a ceiling.
    pub interval: Option<(f64, f64)>,
    /// Probability that it is the best; null before all have their first units.
    pub best: Option<f64>,
    /// It runs at the ceiling of the bus.
    pub at_ceiling: bool,
    /// Some of its units failed.
    pub failed: bool,
    /// Some of its units returned wrong data.
    pub wrong_data: bool,
    /// It is out of the race, however fast it is: units of it failed or returned wrong data, and those of others did
    /// not.
    pub out: bool,
    /// This step or an earlier one dropped it.
    pub dropped: bool,
}

/// One step of the race.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Race {
    /// The load that decides.
    pub load: Load,
    /// Its title.
    pub load_title: String,
    /// The figure that decides.
    pub quantity: Quantity,
    /// What to do.
    #[serde(flatten)]
    pub action: NextAction,
    /// Models, likeliest first.
    pub chances: Vec<Chance>,
    /// The leader.
    pub leader: Option<String>,
    /// Probability that the leader is at most 3 % behind the best.
    pub good: Option<f64>,
    /// The probability that is asked for here.
    pub sure: f64,
    /// Expected loss by taking the leader now: 0.01 is 1 %.
    pub regret: Option<f64>,
    /// Standard deviation of units within a model (logarithms), combined with the prior.
    pub unit_deviation: Option<f64>,
    /// Standard deviation of the means of models (logarithms).
    pub spread: Option<f64>,
    /// Whether models are so close that the higher probability is required.
    pub close_models: bool,
    /// Models in the race that the ranking and the comparison cannot separate from the one to buy, which is the choice of
    /// least expected loss all the same.
    pub not_separated: Vec<String>,
    /// Models that this step drops; name them in the next one.
    pub newly_dropped: Vec<String>,
    /// Models with records that name no unit; all such records of a model count as one unit.
    pub unnamed_units: Vec<String>,
    /// Records that are not used, with reasons.
    pub excluded: Vec<Excluded>,
}

impl Race {
    /// Whether every model returned wrong data, so that none can be bought.
    #[must_use]
    pub fn nothing_fit(&self) -> bool {
        self.action == NextAction::NothingFit
    }
}
