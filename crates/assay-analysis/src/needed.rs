//! What would settle an undecided answer: more units, or more runs on other days; what one run says of many days.

use assay_core::estimate::Estimate;
use assay_core::record::Record;
use assay_stats::power::{self, Deviation, POWER, Test};
use assay_stats::variation::{PRIOR_DEVIATION, RunOfDay};
use assay_stats::{LEVEL, OverDays, rank};
use serde::Serialize;

use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::reading;

/// The kind of values that more are needed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Units of each model.
    Units,
    /// Units that are in both groups.
    Pairs,
    /// Runs of each unit, on as many days.
    Runs,
    /// Other units of the model.
    Others,
}

/// The number of values that would settle the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needed {
    /// The total number, including those that were measured.
    pub number: u32,
    /// The kind of values.
    pub of: Values,
    /// The difference that this number detects, as a ratio of at least 1: the larger of the observed difference and the
    /// smallest that matters.
    pub ratio: f64,
    /// The probability of detecting it.
    pub power: f64,
}

impl Needed {
    /// Units needed of each of `models` models that are ranked or compared together, whose units vary by `deviation`.
    pub(crate) fn of_models(
        models: u32,
        difference: (f64, f64),
        deviation: Deviation,
        there_are: usize,
        alpha: f64,
    ) -> Option<Self> {
        Self::from_difference(Values::Units, difference, deviation, there_are, |units| {
            rank::tests(models, units, alpha)
        })
    }

    /// Takes the observed difference of logarithms, the smallest one that matters, the number of values that exist, and
    /// a function from a number of values to the tests that it allows. The result is more than exist, because those did
    /// not settle the answer. `None` where no practical number is enough.
    pub(crate) fn from_difference(
        of: Values,
        (seen, least): (f64, f64),
        deviation: Deviation,
        there_are: usize,
        tests: impl Fn(u32) -> Vec<Test>,
    ) -> Option<Self> {
        let difference = seen.abs().max(least);
        let fewest = match of {
            Values::Runs => 1,
            Values::Units | Values::Others => 2,
            Values::Pairs => 4,
        };
        let fewest = fewest.max(u32::try_from(there_are).unwrap_or(u32::MAX).saturating_add(1));
        let number = power::needed(fewest, difference, deviation, tests)?;
        Some(Self { number, of, ratio: difference.exp(), power: POWER })
    }
}

// What one run says of its unit over many days.

/// Deviation that is assumed between the days of a unit, where one was measured: 0.037 is 3.7 %.
pub const ASSUMED_DAYS: f64 = PRIOR_DEVIATION;

/// A figure of a record with the interval of what its unit does over many days, which is what decisions about it take;
/// that of the figure itself holds for that run. `None` where the record has no figure, or one value of it.
#[must_use]
pub fn over_days(record: &Record, load: &Load, quantity: Quantity) -> Option<Estimate> {
    let values = reading(record, load, quantity)?.values;
    let over = OverDays::from_runs(&[RunOfDay::undated(&values)])?;
    let (low, high) = over.interval(LEVEL)?;
    Some(Estimate {
        point: over.value(),
        low: Some(low),
        high: Some(high),
        level: Some(LEVEL),
        n: u32::try_from(values.len()).unwrap_or(u32::MAX),
        method: "geometric mean of repeats, t interval on logarithms with an assumed deviation of days".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use assay_core::outcome::Outcome;
    use assay_core::record::{Measurement, Repeat};
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;
    use crate::advise::{self, Link, NasQuestion};
    use crate::samples;

    /// One function for the card, the page and the decisions: they cannot differ.
    #[test]
    fn it_is_the_interval_that_decisions_take() {
        let workload = Workload::new("w", Op::Read, Pattern::Sequential, 1 << 20);
        let mut measurement = Measurement::empty(workload, "sync");
        measurement.repeats = [9.9e6, 10e6, 10.1e6]
            .map(|rate| Repeat { operations: 100, bytes_per_second: rate, ..Repeat::empty("", Outcome::Completed) })
            .to_vec();
        let rates: Vec<f64> = measurement.repeats.iter().map(|r| r.bytes_per_second).collect();
        measurement.bytes_per_second = assay_stats::geometric(&rates);
        let record = samples::record("a", "Model", "1", vec![measurement]);
        let load = Load::from_workload(&record.measurements[0].workload);
        let own = over_days(&record, &load, Quantity::BytesPerSecond).unwrap();
        let question = NasQuestion::for_nodes(28, Link::Line(125e6));
        let advice = advise::nas(std::slice::from_ref(&record), &[], &question).unwrap();
        let figure = &advice.models[0].rows[0].local;
        assert_eq!(figure.interval, own.low.zip(own.high));
        let today = record.measurements[0].bytes_per_second.as_ref().unwrap();
        assert!(own.low < today.low && own.high > today.high, "{own:?}");
    }
}
