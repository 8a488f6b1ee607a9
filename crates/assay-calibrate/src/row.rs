//! A row of the table.

use std::fmt;

use crate::found::{Failure, Found, Share, Tally};

/// A question with a known truth, and the bound on its errors.
pub struct Row {
    /// The command and its input; `ROWS=` searches this text.
    pub name: String,
    /// The bound.
    pub bound: Bound,
    /// The figure of the current methods, in percent, where they miss the bound: see `rows/missed.rs`.
    pub missed: Option<f64>,
    /// Whether the short table has the row.
    pub short: bool,
    /// Factor on the number of fleets: larger where the figure lies close to the bound.
    pub times: usize,
    pub(crate) judge: Judge,
}

/// Draws a fleet from a seed and judges the answer.
pub(crate) type Judge = Box<dyn Fn(u64) -> Result<Found, Failure> + Send + Sync>;

/// The bound over all replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// The largest share of wrong answers.
    Wrong(f64),
    /// The smallest share of right answers.
    Right(f64),
    /// The smallest and the largest share of intervals that hold the truth, among the intervals given.
    Covered(f64, f64),
    /// The smallest ratio between what the program finds and what the exact test for the true model finds.
    Power(f64),
    /// The largest mean of the numbers.
    Mean(f64),
}

/// 1.5 points above 5 %: two standard errors of 1,000 replicates.
pub const ERROR: Bound = Bound::Wrong(0.065);
/// Intervals at 95 %.
pub(crate) const COVERAGE: Bound = Bound::Covered(0.93, 0.97);
/// Intervals at 95 % with an assumed deviation. Where the true deviation is smaller, they cover more.
pub(crate) const COVERAGE_ASSUMED: Bound = Bound::Covered(0.93, 1.0);

impl Row {
    /// A row of the full table.
    pub fn new(
        name: impl Into<String>,
        bound: Bound,
        judge: impl Fn(u64) -> Result<Found, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), bound, missed: None, short: false, times: 1, judge: Box::new(judge) }
    }

    /// Measured with `times` times the fleets.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// Also in the short table.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("name", &self.name).field("bound", &self.bound).finish_non_exhaustive()
    }
}

impl Bound {
    /// The figure that is bounded.
    #[must_use]
    pub fn figure(self, tally: &Tally) -> Share {
        match self {
            Self::Wrong(_) => tally.wrong(),
            Self::Right(_) => tally.right(),
            Self::Covered(..) => tally.covered(),
            Self::Power(_) => tally.power(),
            Self::Mean(_) => tally.mean(),
        }
    }

    /// Whether the figure keeps the bound, with a tolerance of `errors` standard errors. A figure that does not exist
    /// does not keep it.
    #[must_use]
    pub fn holds(self, figure: Share, errors: f64) -> bool {
        let slack = if errors > 0.0 { errors * figure.error } else { 0.0 };
        match self {
            Self::Wrong(most) | Self::Mean(most) => figure.value <= most + slack,
            Self::Right(least) | Self::Power(least) => figure.value >= least - slack,
            Self::Covered(least, most) => figure.value >= least - slack && figure.value <= most + slack,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| share * 100.0;
        match self {
            Self::Wrong(most) => write!(f, "≤ {:.1} % wrong", percent(most)),
            Self::Right(least) => write!(f, "≥ {:.0} % right", percent(least)),
            Self::Covered(least, 1.0) => write!(f, "≥ {:.0} % covered", percent(least)),
            Self::Covered(least, most) => write!(f, "{:.0}–{:.0} % covered", percent(least), percent(most)),
            Self::Power(least) => write!(f, "≥ {:.0} % of the exact test", percent(least)),
            Self::Mean(most) => write!(f, "≤ {:.1} % on average", percent(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_kept_up_to_its_end() {
        let at = |value| Share { value, error: 0.01 };
        for (bound, inside, outside) in [
            (Bound::Wrong(0.05), 0.05, 0.0501),
            (Bound::Mean(0.05), 0.05, 0.0501),
            (Bound::Right(0.9), 0.9, 0.8999),
            (Bound::Power(0.9), 0.9, 0.8999),
            (Bound::Covered(0.93, 0.97), 0.97, 0.9701),
            (Bound::Covered(0.93, 0.97), 0.93, 0.9299),
        ] {
            assert!(bound.holds(at(inside), 0.0) && !bound.holds(at(outside), 0.0), "{bound}");
            assert!(bound.holds(at(outside), 1.0), "{bound}");
            assert!(!bound.holds(Share { value: f64::NAN, error: f64::NAN }, 3.0), "{bound}");
        }
    }
}
