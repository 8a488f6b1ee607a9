//! What would change an answer that cannot be told: how many more units, or runs on other days.

use assay_stats::power::{self, Deviation, POWER, Test};
use assay_stats::rank;
use serde::Serialize;

/// Of what there have to be more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Units of each model.
    Units,
    /// Units that are in both groups.
    Pairs,
    /// Runs of each unit, on as many days.
    Runs,
    /// Other units of the model.
    Others,
}

/// So many would tell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needed {
    /// How many in all, with those that were measured.
    pub number: u32,
    /// Of what.
    pub of: Values,
    /// The difference that they find, as a ratio of at least 1: the one that was seen, and one that matters at least.
    pub ratio: f64,
    /// The chance that they do.
    pub power: f64,
}

impl Needed {
    /// Units of each of so many models that are ranked or compared together, whose units vary by `deviation`.
    pub(crate) fn of_models(
        models: u32,
        difference: (f64, f64),
        deviation: Deviation,
        there_are: usize,
        alpha: f64,
    ) -> Option<Self> {
        Self::of(Values::Units, difference, deviation, there_are, |units| rank::tests(models, units, alpha))
    }

    /// From a difference of logarithms that was seen, the least that matters, how many values there are, and the tests that
    /// so many values make: more than there are, since these did not tell. `None` where no number that anybody measures would
    /// do.
    pub(crate) fn of(
        of: Values,
        (seen, least): (f64, f64),
        deviation: Deviation,
        there_are: usize,
        tests: impl Fn(u32) -> Vec<Test>,
    ) -> Option<Self> {
        let difference = seen.abs().max(least);
        let fewest = match of {
            Values::Runs => 1,
            Values::Units | Values::Others => 2,
            Values::Pairs => 4,
        };
        let fewest = fewest.max(u32::try_from(there_are).unwrap_or(u32::MAX).saturating_add(1));
        let number = power::needed(fewest, difference, deviation, tests)?;
        Some(Self { number, of, ratio: difference.exp(), power: POWER })
    }
}
