//! What observations do not allow to tell.

use std::fmt;

use serde::Serialize;

use super::observation::Invalid;

/// What the design does not allow to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum Notice {
    /// Observations have no slot, so slots were left alone.
    SlotsUnknown {
        /// How many repeats.
        runs: usize,
    },
    /// No unit changed its slot: unit effects and slot effects cannot be separated, and no unit may be called bad.
    NoSwap,
    /// Units and slots fall into parts; slots were compared within each only.
    Parts {
        /// How many parts.
        parts: usize,
    },
    /// The effects of slots and rounds cannot be separated; slots were not adjusted for.
    SlotsConfounded,
    /// No unit has a second repeat: the variance between units includes that between repeats.
    NoRepeats,
    /// Models were measured on different days, so that the effects of days are part of the difference.
    OtherDays {
        /// Pairs of models.
        pairs: usize,
    },
    /// The sweep did not settle; effects of slots and rounds are rough.
    NotSettled,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq)]
pub enum FitError {
    /// No observation.
    Empty,
    /// One that has no logarithm.
    Invalid(Invalid),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no observation"),
            Self::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for FitError {}
