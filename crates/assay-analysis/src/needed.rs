//! What would settle an undecided answer: more units, or more runs on other days.

use assay_stats::power::{Deviation, POWER, Test};
use assay_stats::{power, rank};
use serde::Serialize;

/// The kind of values that more are needed of.
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

/// The number of values that would settle the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needed {
    /// The total number, including those that were measured.
    pub number: u32,
    /// The kind of values.
    pub of: Values,
    /// The difference that this number detects, as a ratio of at least 1: the larger of the observed difference and the
    /// smallest that matters.
    pub ratio: f64,
    /// The probability of detecting it.
    pub power: f64,
}

impl Needed {
    /// Units needed of each of `models` models that are ranked or compared together, whose units vary by `deviation`.
    pub(crate) fn of_models(
        models: u32,
        difference: (f64, f64),
        deviation: Deviation,
        there_are: usize,
        alpha: f64,
    ) -> Option<Self> {
        Self::of(Values::Units, difference, deviation, there_are, |units| rank::tests(models, units, alpha))
    }

    /// Takes the observed difference of logarithms, the smallest one that matters, the number of values that exist, and
    /// a function from a number of values to the tests that it allows. The result is more than exist, because those did
    /// not settle the answer. `None` where no practical number is enough.
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
