//! One repeat on one unit, as the ranking takes it.

use std::borrow::Cow;
use std::fmt;

use crate::shape::{two_speeds, uneven};

/// The value of one repeat, and the circumstances that it may depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation<'a> {
    /// The product.
    pub model: Cow<'a, str>,
    /// The piece of it; names need to differ within a model only.
    pub unit: Cow<'a, str>,
    /// Where the unit was.
    pub slot: Option<Cow<'a, str>>,
    /// The wave: observations made at the same time.
    pub wave: Option<u32>,
    /// The day and the host, by any name.
    pub day: Option<Cow<'a, str>>,
    /// Position within the session, in any unit.
    pub order: Option<f64>,
    /// Its weight. Each repeat of a session of `n` repeats has the weight `1/n`, so that sessions have equal weights.
    pub weight: f64,
    /// A positive rate or latency, in any unit that is the same for all observations.
    pub value: f64,
}

impl<'a> Observation<'a> {
    /// A repeat of a known unit, without slot, wave, day and order.
    pub fn new(model: impl Into<Cow<'a, str>>, unit: impl Into<Cow<'a, str>>, value: f64) -> Self {
        Self {
            model: model.into(),
            unit: unit.into(),
            slot: None,
            wave: None,
            day: None,
            order: None,
            weight: 1.0,
            value,
        }
    }

    /// The natural logarithm of the value.
    ///
    /// # Errors
    /// A value that is not positive and finite, and an order that is not finite.
    pub fn ln(&self) -> Result<f64, Invalid> {
        let order = self.order.unwrap_or(0.0);
        if self.value > 0.0 && self.value.is_finite() && order.is_finite() {
            return Ok(self.value.ln());
        }
        let value = if order.is_finite() { self.value } else { order };
        Err(Invalid { what: format!("unit {} of {}", self.unit, self.model), value })
    }
}

/// A value that has no logarithm, or is no number.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// A description of the observation.
    pub what: String,
    /// Its value.
    pub value: f64,
}

impl Invalid {
    /// Refuses values that are not positive and finite, by their place in the list.
    pub(crate) fn check(name: &str, values: &[f64]) -> Result<(), Self> {
        match values.iter().position(|v| !(*v > 0.0 && v.is_finite())) {
            None => Ok(()),
            Some(at) => Err(Self { what: format!("value {} of {name}", at + 1), value: values[at] }),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is not a positive finite number", self.what, self.value)
    }
}

impl std::error::Error for Invalid {}

// One number from the repeats of one unit, and what it hides.
//
// The best of several repeats is not offered: it grows with the number of repeats, by 45 % at 30 % noise and five
// repeats (simulated).

/// Values that the trimmed mean needs; it drops one at either end.
const LEAST_TO_TRIM: usize = 5;

/// How to make one value of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AggregateRule {
    /// Mean of logarithms: the estimator of everything here.
    #[default]
    Geometric,
    /// Arithmetic mean.
    Mean,
    /// Middle value.
    Median,
    /// Arithmetic mean without the best and the worst of at least five, as many articles have it.
    Trimmed,
}

/// The values do not look like one speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedGroups {
    /// The slower over the faster: of two groups, or of the extremes of few values.
    pub ratio: f64,
}

/// One value and the spread of the values behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AggregateValue {
    /// The value, in the unit of the values.
    pub value: f64,
    /// The rule that was followed: [`AggregateRule::Trimmed`] falls back to the mean below five values.
    pub rule: AggregateRule,
    /// Number of values.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Deviation of the values, in their unit; `None` for one.
    pub deviation: Option<f64>,
    /// Two speeds, which no centre describes.
    pub groups: Option<SpeedGroups>,
}

/// Aggregates the repeats of one unit.
///
/// # Errors
/// No value at all (reported as value 1), or one that is not positive and finite.
pub fn aggregate(values: &[f64], rule: AggregateRule) -> Result<AggregateValue, Invalid> {
    Invalid::check("the repeats", values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
        return Err(Invalid { what: "value 1 of the repeats".to_owned(), value: f64::NAN });
    };
    let n = sorted.len();
    let rule = if rule == AggregateRule::Trimmed && n < LEAST_TO_TRIM { AggregateRule::Mean } else { rule };
    let average = mean(&sorted);
    let value = match rule {
        AggregateRule::Geometric => (sorted.iter().map(|v| v.ln()).sum::<f64>() / n as f64).exp(),
        AggregateRule::Mean => average,
        AggregateRule::Median => sorted[(n - 1) / 2].midpoint(sorted[n / 2]),
        AggregateRule::Trimmed => mean(&sorted[1..n - 1]),
    };
    let squares = sorted.iter().map(|v| (v - average).powi(2)).sum::<f64>();
    let few = uneven(values).map(|ratio| SpeedGroups { ratio: 1.0 / ratio });
    let groups = few.or_else(|| two_speeds(values).map(|two| SpeedGroups { ratio: two.ratio }));
    let deviation = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
    Ok(AggregateValue { value, rule, n, min, max, deviation, groups })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_trimmed_mean_hides_two_speeds() {
        // fio random read of an SSD, five repeats: no repeat was near 22 000 IOPS.
        let values = [16_489.0, 24_764.0, 24_824.0, 24_854.0, 16_436.0];
        for (rule, expected) in [
            (AggregateRule::Mean, 21_473.4),
            (AggregateRule::Trimmed, 22_025.67),
            (AggregateRule::Geometric, 21_057.9),
            (AggregateRule::Median, 24_764.0),
        ] {
            let a = aggregate(&values, rule).unwrap();
            assert!((a.value - expected).abs() < 0.1, "{rule:?}: {}", a.value);
            assert!((a.groups.unwrap().ratio - 16_436.0 / 24_854.0).abs() < 1e-12);
        }
    }

    #[test]
    fn few_values_and_bad_ones() {
        let a = aggregate(&[2.0, 3.0], AggregateRule::Trimmed).unwrap();
        assert_eq!((a.value, a.rule), (2.5, AggregateRule::Mean));
        assert_eq!(aggregate(&[2.0], AggregateRule::Median).unwrap().deviation, None);
        for bad in [&[][..], &[1.0, 0.0], &[f64::NAN], &[1.0, -1.0], &[f64::INFINITY]] {
            assert!(aggregate(bad, AggregateRule::Mean).is_err());
        }
        assert_eq!(aggregate(&[1.0, 0.0], AggregateRule::Mean).unwrap_err().what, "value 2 of the repeats");
    }

    proptest! {
        #[test]
        fn five_values_lose_their_extremes(values in prop::collection::vec(1e-3f64..1e6, 5)) {
            let a = aggregate(&values, AggregateRule::Trimmed).unwrap();
            let by_hand = (values.iter().sum::<f64>() - a.max - a.min) / 3.0;
            prop_assert!((a.value / by_hand - 1.0).abs() < 1e-6);
            // A spreadsheet's TRIMMEAN(x, 0.2) rounds one value down to none and trims nothing.
            if a.max > 1.01 * a.min && (a.max + a.min) / 2.0 / a.value > 1.01 {
                prop_assert!((a.value / aggregate(&values, AggregateRule::Mean).unwrap().value - 1.0).abs() > 1e-4);
            }
        }
    }
}
