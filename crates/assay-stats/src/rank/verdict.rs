//! The possible verdicts on two models.

use serde::Serialize;

/// The verdict on the first model of a [`Pair`] against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The first is better, with the error over all pairs kept.
    First,
    /// The first is better, perhaps by less than the equivalence margin, because the interval reaches into the margin.
    FirstPerhapsSlightly,
    /// The first is better as fewer units failed; speed does not make up for that.
    FirstFailsLess,
    /// They do not differ by more than the margin: the whole interval lies within it.
    Equivalent,
    /// Both are at the ceiling of the bus: the media cannot be compared.
    Ceiling,
    /// They were measured on computers of different kinds, and no unit was measured on both.
    OtherComputer,
    /// The leading model is the best of several runs, and the other is not: its lead is not proven.
    BestOf,
    /// Undecided: more units would decide.
    Unresolved,
}

impl Better {
    /// Whether the first is better, by speed or by failures.
    #[must_use]
    pub fn is_first(self) -> bool {
        matches!(self, Self::First | Self::FirstPerhapsSlightly | Self::FirstFailsLess)
    }
}

/// Two models. The first has the better failure class or, within a class, the better mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Place of the first in [`super::Ranking::models`].
    pub first: usize,
    /// Place of the second.
    pub second: usize,
    /// The first over the second, in the values' own unit: below 1 where lower is better.
    pub ratio: f64,
    /// Simultaneous lower end of the ratio; `None` where the bus hides it or the pair was not tested. For models that
    /// are told apart the interval excludes equality.
    pub low: Option<f64>,
    /// Simultaneous upper end of the ratio; `None` as for the lower end.
    pub high: Option<f64>,
    /// Difference of the means of logarithms over its standard error, positive where the first is better.
    /// `None` where the pair was not tested.
    pub t: Option<f64>,
    /// Ends of the interval of the difference of the logarithms, even where the bus hides them; `None` where the pair
    /// was not tested.
    pub ends: Option<(f64, f64)>,
    /// Whether equality of the measured values is rejected, regardless of bus and failures.
    pub differ: bool,
    /// The verdict.
    pub verdict: Better,
}
