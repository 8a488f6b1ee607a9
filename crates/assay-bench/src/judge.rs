//! What a figure must be, and whether it is, by its interval.

use std::fmt;

use assay_core::estimate::Estimate;

/// What a figure must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// This far from 1 at most.
    AroundOne(f64),
}

/// Whether it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The whole interval meets the target.
    Met,
    /// No part of it does.
    Missed,
    /// A part of it does, after as many values as are taken.
    CannotTell,
}

impl Judgement {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Met => "yes",
            Self::Missed => "**NO**",
            Self::CannotTell => "cannot tell here",
        }
    }
}

impl Target {
    /// A figure without an interval is exact: the size of a file.
    pub(crate) fn judge(self, seen: Option<&Estimate>) -> Judgement {
        // A result that is not a number misses every target.
        let Some(seen) = seen else { return Judgement::Missed };
        let (low, high) = (seen.low.unwrap_or(seen.point), seen.high.unwrap_or(seen.point));
        let (least, most) = match self {
            Self::AtLeast(least) => (least, f64::INFINITY),
            Self::AtMost(most) => (f64::NEG_INFINITY, most),
            Self::AroundOne(share) => (1.0 - share, 1.0 + share),
        };
        match () {
            () if least <= low && high <= most => Judgement::Met,
            () if high < least || most < low || low.is_nan() || high.is_nan() => Judgement::Missed,
            () => Judgement::CannotTell,
        }
    }

    /// Whether more is better. For a figure that has to be near 1, neither direction is.
    pub(crate) fn more_is_better(self) -> bool {
        matches!(self, Self::AtLeast(_))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::AroundOne(share) => write!(f, "{:.2} to {:.2}", 1.0 - share, 1.0 + share),
        }
    }
}
