//! What happened: typed, without sentences.

use serde::{Deserialize, Serialize};

use crate::night::{Condition, Kind};

/// Something that happened to a watched medium. Each is returned once, in the night in which it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Number of the event of this medium, from 1 on.
    pub number: u32,
    /// The night in which it was found, in days since 1970.
    pub day: i64,
    /// What happened.
    pub what: What,
    /// Whether a person has seen it.
    pub acknowledged: bool,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// Figures became worse, confirmed by a second, longer run; all that became so within two weeks are one event.
    Worse {
        /// The figures.
        figures: Vec<Moved>,
    },
    /// Figures became better. The level is new; no alarm.
    Better {
        /// The figures.
        figures: Vec<Moved>,
    },
    /// Measured under other conditions from now on. The level is new; no alarm.
    ConditionsChanged {
        /// What changed.
        changed: Vec<Condition>,
    },
    /// Nights without a result.
    Missed {
        /// The first of them, in days since 1970.
        first_day: i64,
        /// How many.
        nights: u32,
    },
    /// A health counter moved.
    Counter {
        /// Its name.
        name: String,
        /// Its value before.
        before: i64,
        /// Its value now.
        now: i64,
    },
    /// The medium failed while it was measured.
    Failed,
}

impl What {
    /// Whether a person has to hear of it.
    #[must_use]
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::Worse { .. } | Self::Missed { .. } | Self::Counter { .. } | Self::Failed => true,
            Self::Better { .. } | Self::ConditionsChanged { .. } => false,
        }
    }
}

/// A figure that moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// The load.
    pub load: String,
    /// What the figure is.
    pub figure: Kind,
    /// How it moved.
    pub manner: Manner,
    /// The night from which on it is another, or from which on it falls slowly, in days since 1970.
    pub since_day: i64,
    /// Its ratio to the level before.
    pub change: Change,
    /// The level before: operations per second, or nanoseconds.
    pub before: f64,
    /// The level now.
    pub now: f64,
}

/// How a figure moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// From one night to another.
    Step,
    /// Over weeks.
    Slowly,
}

/// A ratio with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The ratio.
    pub ratio: f64,
    /// Its lower bound.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
}

impl Change {
    /// From a difference of logarithms and its error.
    pub(crate) fn of(log: f64, error: f64) -> Self {
        Self { ratio: log.exp(), low: (log - 1.96 * error).exp(), high: (log + 1.96 * error).exp() }
    }
}
