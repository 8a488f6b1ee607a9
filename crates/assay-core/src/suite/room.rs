//! Sizes that are shares of the medium, and how the test area is made.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Suite, groups};
use crate::units::{Bytes, GIB, parse_share, trimmed};

/// Shares of a medium are of so many bytes until it is known how many there are.
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
    pub(super) fn of(bytes: Bytes, percent: Option<f64>) -> Self {
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

/// So many percent of `whole`, a multiple of 4 KiB.
fn share(percent: f64, whole: u64) -> u64 {
    (percent / 100.0 * whole as f64) as u64 / UNIT * UNIT
}

impl Suite {
    /// Whether a size in it is a share of the medium.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        self.span_percent.is_some()
            || self.workloads.iter().any(|w| w.span_percent.is_some() || w.offset_percent.is_some())
    }

    /// The suite on a medium of which `whole` bytes can be used: shares of it are bytes then.
    ///
    /// # Errors
    /// What is wrong, where blocks of a workload do not fit into its share.
    pub fn settled(&self, whole: u64) -> Result<Self, String> {
        if !self.has_shares() {
            return Ok(self.clone());
        }
        let mut suite = self.clone();
        if let Some(percent) = suite.span_percent.take() {
            suite.span = Bytes(share(percent, whole));
            let ratio = whole as f64 / WHOLE.0 as f64;
            suite.max_write = Bytes((suite.max_write.0 as f64 * ratio) as u64);
        }
        for w in &mut suite.workloads {
            if let Some(percent) = w.offset_percent.take() {
                w.offset = Some(Bytes(share(percent, whole)));
            }
            if let Some(percent) = w.span_percent.take() {
                // What is behind the end of the medium is left out.
                let most = whole.saturating_sub(w.offset.map_or(0, |offset| offset.0));
                w.span = Some(Bytes(share(percent, whole).min(most)));
            }
            let end = w.span.map_or(0, |span| span.0).saturating_add(w.offset.map_or(0, |offset| offset.0));
            suite.span = suite.span.max(Bytes(end));
            let reach = w.span.unwrap_or(suite.span).0;
            if w.largest().saturating_mul(u64::from(w.jobs)) > reach {
                return Err(format!("workload `{}`: its share of {} has no room for its blocks", w.name, Bytes(whole)));
            }
        }
        if suite.span.0 > whole {
            return Err(format!("the suite uses {}, and {} can be used", suite.span, Bytes(whole)));
        }
        match groups::wrong(&suite.workloads, suite.span) {
            Some((_, why)) => Err(why),
            None => Ok(suite),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Suite;
    use super::*;

    const TEXT: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"4096TiB\"\nrepeats = 1\n\
        span = \"100%\"\nlayout = \"none\"\n[[workload]]\nname = \"a\"\nop = \"read\"\npattern = \"random\"\n\
        block = \"4KiB\"\nspan = \"12.5%\"\noffset = \"50%\"\n";

    #[test]
    fn shares_are_of_the_medium_that_is_there() {
        let suite = Suite::parse(TEXT, "x.toml").unwrap();
        assert!(suite.has_shares() && suite.layout.keeps_size());
        assert_eq!(Suite::parse(&suite.to_text(), "y.toml").unwrap(), suite, "{}", suite.to_text());
        let settled = suite.settled(8 * GIB).unwrap();
        assert_eq!((settled.span, settled.max_write), (Bytes(8 * GIB), Bytes(32 * GIB)));
        let w = &settled.workloads[0];
        assert_eq!((w.span, w.offset), (Some(Bytes(GIB)), Some(Bytes(4 * GIB))));
        assert!(!settled.has_shares());
        let none = suite.settled(8192).unwrap_err();
        assert!(none.contains("no room for its blocks"), "{none}");
    }
}
