//! What can be said about two models.

use serde::Serialize;

/// What can be said about the first model of a [`Pair`] against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The first is better, with the error over all pairs kept.
    First,
    /// The first is better, perhaps by less than the equivalence margin, into which the interval reaches.
    FirstPerhapsSlightly,
    /// The first is better as fewer units failed; speed does not make up for that.
    FirstFailsLess,
    /// They do not differ by more than the margin: the whole interval lies within it.
    Equivalent,
    /// Both are at the ceiling of the bus: nothing is said about the media.
    Ceiling,
    /// They were measured on computers of different kinds, and no unit was on both: nothing connects them.
    OtherComputer,
    /// One is the best of several runs, and the other is none: that it is better cannot be told.
    BestOf,
    /// It cannot be told: more units would tell.
    Unresolved,
}

impl Better {
    /// Whether the first is better, by speed or by failures.
    #[must_use]
    pub fn is_first(self) -> bool {
        matches!(self, Self::First | Self::FirstPerhapsSlightly | Self::FirstFailsLess)
    }
}

/// Two models. The first is the one of the better failure class, or, within a class, of the better mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Place of the first in [`super::Ranking::models`].
    pub first: usize,
    /// Place of the second.
    pub second: usize,
    /// The first over the second, in the values' own unit: below 1 where lower is better.
    pub ratio: f64,
    /// Simultaneous lower end of the ratio; `None` where the bus hides it or the pair was not tested. Of models that
    /// are told apart it does not reach beyond equality.
    pub low: Option<f64>,
    /// Simultaneous upper end of the ratio; `None` as for the lower end.
    pub high: Option<f64>,
    /// Difference of the means of logarithms over its standard error, positive where the first is better.
    /// `None` where the pair was not tested.
    pub t: Option<f64>,
    /// Ends of the interval of the difference of the logarithms, whatever the bus hides; `None` where the pair was not
    /// tested.
    pub ends: Option<(f64, f64)>,
    /// Whether equality of what was seen is rejected, whatever the bus hides and whoever failed.
    pub differ: bool,
    /// What is said.
    pub verdict: Better,
}
