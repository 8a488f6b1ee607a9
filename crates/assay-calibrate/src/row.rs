//! A row of the table.

use std::fmt;

use crate::found::{Failure, Found, Share, Tally};

/// A question with its truth, and how often the answer may be wrong.
pub struct Row {
    /// The command and what it is asked; what `ROWS=` looks in.
    pub name: String,
    /// What has to hold.
    pub bound: Bound,
    /// The figure of the methods as they are, in percent, where they miss the bound: see `rows/missed.rs`.
    pub missed: Option<f64>,
    /// Whether the short table has it.
    pub short: bool,
    /// So many times the fleets of other rows: more where the figure lies close to the bound.
    pub times: usize,
    pub(crate) judge: Judge,
}

/// Draws a fleet by a seed and judges what is said of it.
pub(crate) type Judge = Box<dyn Fn(u64) -> Result<Found, Failure> + Send + Sync>;

/// What has to hold over all replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Share of wrong answers at most.
    Wrong(f64),
    /// Share of right answers at least.
    Right(f64),
    /// Share of intervals that hold the truth, of those that are given.
    Covered(f64, f64),
    /// What is found over what the exact test for the true model finds, at least.
    Power(f64),
    /// Mean of the numbers at most.
    Mean(f64),
}

/// 1.5 points above 5 %: two standard errors of 1,000 replicates.
pub const ERROR: Bound = Bound::Wrong(0.065);
/// Intervals at 95 %.
pub(crate) const COVERAGE: Bound = Bound::Covered(0.93, 0.97);
/// Intervals at 95 % that rest on an assumed deviation: where less is true, they hold more.
pub(crate) const COVERAGE_ASSUMED: Bound = Bound::Covered(0.93, 1.0);

impl Row {
    /// A row that the full table has.
    pub fn new(
        name: impl Into<String>,
        bound: Bound,
        judge: impl Fn(u64) -> Result<Found, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), bound, missed: None, short: false, times: 1, judge: Box::new(judge) }
    }

    /// Measured by so many times the fleets.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// In the short table, too.
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

    /// Whether the figure keeps it, give or take so many of its standard errors. One that does not exist does not.
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
