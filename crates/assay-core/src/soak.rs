//! What a soak found: one workload without a pause, long enough for caches to fill and parts to
//! get hot.

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::units::{Bytes, figures, rate, span};

/// Result of a soak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Soak {
    /// Bytes per second at the start.
    pub burst_bytes_per_second: Estimate,
    /// Length of the start in nanoseconds.
    pub burst_ns: u64,
    /// Bytes per second at the end.
    pub sustained_bytes_per_second: Estimate,
    /// Length of the end in nanoseconds.
    pub sustained_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time from its start to its end in nanoseconds.
    pub elapsed_ns: u64,
    /// The fall from one level to a lower one that is not chance; null where there is none.
    pub cliff: Option<Cliff>,
}

/// A lasting fall of the rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cliff {
    /// When, from the start of the soak, in nanoseconds.
    pub time_ns: u64,
    /// Bytes moved until then.
    pub bytes_at: u64,
    /// Temperature of the medium then in °C; null without a sensor.
    pub temperature_celsius: Option<f64>,
    /// Share by which the median rate fell, 0 to 1.
    pub drop: f64,
    /// Share of random rearrangements of the series with a change as large.
    pub p_value: f64,
    /// Why, as far as one soak can tell.
    pub cause: SoakCause,
}

/// Why the rate fell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SoakCause {
    /// A cache in the medium was full: it had not got warmer.
    Cache,
    /// The rate followed the temperature.
    Heat,
    /// It got warmer while a cache may have filled up.
    NotSeparable,
    /// The medium's temperature is not known.
    TemperatureUnknown,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

impl SoakCause {
    /// The cause in words.
    #[must_use]
    pub fn clause(self) -> &'static str {
        match self {
            Self::Cache => "a cache was full, as the medium had not got warmer",
            Self::Heat => "heat, as the rate follows the temperature",
            Self::NotSeparable => "cache or heat: only a second soak from cold can tell",
            Self::TemperatureUnknown => "cache or heat: the medium does not report its temperature",
            Self::Unknown => "cause not known to this version",
        }
    }
}

impl Soak {
    /// `60.1 MB/s at first (20 s), 20.2 MB/s in the end (120 s)`.
    #[must_use]
    pub fn rates(&self) -> String {
        let part = |estimate: &Estimate, ns| format!("{} ({}", rate(estimate.point), span(nanoseconds(ns)));
        format!(
            "{}) at first, {}) in the end",
            part(&self.burst_bytes_per_second, self.burst_ns),
            part(&self.sustained_bytes_per_second, self.sustained_ns)
        )
    }

    /// `fell by 66 % after 112 s and 6.26 GiB at 51 °C (p 0.005): …`.
    #[must_use]
    pub fn cliff_sentence(&self) -> String {
        let Some(cliff) = &self.cliff else {
            return format!("no lasting drop of 10 % or more in {}", span(nanoseconds(self.elapsed_ns)));
        };
        let at = cliff.temperature_celsius.map_or_else(String::new, |t| format!(" at {} °C", figures(t)));
        format!(
            "dropped by {} % after {} and {}{at}: {}",
            figures((cliff.drop * 100.0).round()),
            span(nanoseconds(cliff.time_ns)),
            Bytes(cliff.bytes_at),
            cliff.cause.clause()
        )
    }
}

fn nanoseconds(ns: u64) -> std::time::Duration {
    std::time::Duration::from_nanos(ns)
}

// Whether a repeat came to a steady state, where its length was decided by that.

/// What the stop rule saw of one repeat. The half width is a gate of this repeat alone; the
/// uncertainty of a measurement comes from its repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steady {
    /// What it came to.
    pub status: SteadyStatus,
    /// Relative half width of the 95 % interval within the repeat; null where it was too short.
    pub half_width: Option<f64>,
    /// Fitted change over the kept part, relative to its mean.
    pub drift: Option<f64>,
    /// Correlation of neighbouring batch means.
    pub lag1: Option<f64>,
    /// Time after the warm-up that was left out because it was clearly faster than the rest, in
    /// nanoseconds. Where it is not 0, the rates of the repeat are those of the rest.
    pub truncated_ns: u64,
}

/// How a repeat of open length ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SteadyStatus {
    /// Known well enough and without drift.
    Steady,
    /// Its time was over before it was known well enough; the value stands.
    Unsteady,
    /// Time or bytes were over before anything could be told.
    TooShort,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_is_told_in_two_sentences() {
        let mut soak = Soak {
            burst_bytes_per_second: Estimate::bare(60e6, 1, "first 20 s"),
            burst_ns: 20_000_000_000,
            sustained_bytes_per_second: Estimate::bare(20e6, 1, "last 120 s"),
            sustained_ns: 120_000_000_000,
            bytes: 1 << 34,
            elapsed_ns: 600_000_000_000,
            cliff: None,
        };
        assert!(soak.rates().starts_with("60.0 MB/s (20"), "{}", soak.rates());
        assert!(soak.cliff_sentence().starts_with("no lasting drop"), "{}", soak.cliff_sentence());
        soak.cliff = Some(Cliff {
            time_ns: 112_000_000_000,
            bytes_at: 6 << 30,
            temperature_celsius: Some(51.0),
            drop: 0.664,
            p_value: 0.005,
            cause: SoakCause::NotSeparable,
        });
        let words = soak.cliff_sentence();
        assert!(
            words.starts_with("dropped by 66") && words.contains("6 GiB at 51") && words.contains("cold"),
            "{words}"
        );
        let newer: SoakCause = serde_json::from_str("\"moonlight\"").unwrap();
        assert_eq!(newer, SoakCause::Unknown);
    }
}
