//! A number that is never bare.

use serde::{Deserialize, Serialize};

/// A value with what is known of its uncertainty.
///
/// `low` and `high` are null where the data carry no interval (a single run, an imported
/// figure). The unit is in the name of the field that holds the estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value itself.
    pub point: f64,
    /// Lower bound of the interval.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Confidence level of the interval, 0 to 1.
    pub level: Option<f64>,
    /// How many independent values it rests on.
    pub n: u32,
    /// How it was computed, in words.
    pub method: String,
}

impl Estimate {
    /// A figure without an interval.
    #[must_use]
    pub fn bare(point: f64, n: u32, method: &str) -> Self {
        Self { point, low: None, high: None, level: None, n, method: method.to_owned() }
    }

    /// Half the width of the interval as a share of the point; `None` without interval or for a
    /// point of zero.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = (self.low?, self.high?);
        (self.point != 0.0).then(|| (high - low) / 2.0 / self.point.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs go on until the interval is as narrow as asked.
    #[test]
    fn the_half_width_is_a_share_of_the_point() {
        let estimate = Estimate { low: Some(-22.0), high: Some(-18.0), ..Estimate::bare(-20.0, 5, "mean") };
        assert_eq!(estimate.relative_half_width(), Some(0.1));
        assert_eq!(Estimate { point: 0.0, ..estimate.clone() }.relative_half_width(), None);
        assert_eq!(Estimate { low: None, ..estimate }.relative_half_width(), None);
    }
}
