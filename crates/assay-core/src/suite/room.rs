//! Sizes that are shares of the medium, and how the test area is made.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::units::{Bytes, GIB, parse_share, trimmed};

/// Placeholder for the size of the medium until it is known. Shares are computed from it.
pub const WHOLE: Bytes = Bytes(1024 * 1024 * GIB);
/// Settled shares are multiples of this many bytes.
const UNIT: u64 = 4096;

/// How the test area is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutRule {
    /// It is written out beforehand, within a fifth of the budget: what does not fit into that is left out.
    #[default]
    Budget,
    /// All of it is written out, however long that takes; the budget begins after that. Where there is no room for it,
    /// nothing is measured.
    Whole,
    /// It is used as it is, all of it. Of a file, which has nothing yet, all is written out.
    None,
}

impl LayoutRule {
    /// Its name in suites.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Whole => "whole",
            Self::None => "none",
        }
    }

    /// Whether the size that is asked for is used, or nothing is measured.
    #[must_use]
    pub fn keeps_size(self) -> bool {
        self != Self::Budget
    }
}

/// A size as it is written: in bytes, or in percent of the medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Extent {
    Bytes(Bytes),
    Percent(f64),
}

impl Extent {
    /// In bytes, of a medium of [`WHOLE`].
    pub(super) fn bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => Bytes(share(percent, WHOLE.0)),
        }
    }

    /// The percent, where it was written so.
    pub(super) fn percent(self) -> Option<f64> {
        match self {
            Self::Bytes(_) => None,
            Self::Percent(percent) => Some(percent),
        }
    }

    /// Of a size that was given as one of these.
    pub(super) fn from_size(bytes: Bytes, percent: Option<f64>) -> Self {
        percent.map_or(Self::Bytes(bytes), Self::Percent)
    }
}

impl<'de> Deserialize<'de> for Extent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Extent;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size like \"1GiB\", a number of bytes or a share like \"50%\"")
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Extent, E> {
                Ok(Extent::Bytes(Bytes(value)))
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Extent, E> {
                let bytes = u64::try_from(value).map_err(|_| E::custom("a size cannot be negative"))?;
                Ok(Extent::Bytes(Bytes(bytes)))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Extent, E> {
                if !value.trim_end().ends_with('%') {
                    return value.parse().map(Extent::Bytes).map_err(E::custom);
                }
                let share = parse_share(value).ok().filter(|share| (0.0..=1.0).contains(share));
                let percent = share.map(|share| share * 100.0);
                percent.map(Extent::Percent).ok_or_else(|| E::custom("a share of the medium is 0% to 100%"))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// As it is read.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&crate::units::exact_bytes(bytes.0)),
            Self::Percent(percent) => write!(f, "{}%", trimmed(*percent, 6)),
        }
    }
}

/// `percent` percent of `whole`, as a multiple of 4 KiB.
pub(super) fn share(percent: f64, whole: u64) -> u64 {
    (percent / 100.0 * whole as f64) as u64 / UNIT * UNIT
}
