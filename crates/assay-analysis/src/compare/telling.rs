//! How many units or runs would tell what a pair of groups cannot.

use assay_stats::power::{Deviation, Test};
use assay_stats::rank::{self, Options, Spread};
use assay_stats::variation::{PRIOR_DEVIATION, PRIOR_UNIT_DEGREES, PRIOR_UNIT_DEVIATION, RunVariance};

use super::question::{days as days_of, units};
use super::report::{Question, Side};
use super::scatter::{days, differences, squared_error};
use crate::needed::{Needed, Values};

/// The number of values that would settle the answer, from the two sides.
pub(super) fn needed(
    question: Question,
    (first, second): (&Side, &Side),
    ratio: f64,
    options: &Options,
) -> Option<Needed> {
    let alpha = options.alpha;
    let difference = (ratio.ln(), options.delta);
    match question {
        Question::Models => of_models(&[first, second], (first, second), difference, alpha),
        Question::Specimens => {
            let assumed = Deviation { value: PRIOR_UNIT_DEVIATION, degrees: PRIOR_UNIT_DEGREES };
            Needed::of(Values::Units, difference, assumed, 1, |n| rank::tests(2, n, alpha))
        }
        Question::SameUnits => {
            let differences = differences(first, second);
            let paired = days(first, second).paired(&differences);
            let seen = Deviation { value: paired.deviation(), degrees: paired.degrees() };
            let test = |n: u32| Test { error: 1.0 / f64::from(n), degrees: f64::from(n) - 1.0, alpha, prior: None };
            Needed::of(Values::Pairs, difference, seen, differences.len(), |n| vec![test(n)])
        }
        Question::UnitAgainstOthers => {
            let others = if units(first).len() > 1 { first } else { second };
            let n = others.values.len() as f64;
            let seen = Deviation { value: (squared_error(&others.values) * n).sqrt(), degrees: n - 1.0 };
            let test =
                |n: u32| Test { error: 1.0 + 1.0 / f64::from(n), degrees: f64::from(n) - 1.0, alpha, prior: None };
            Needed::of(Values::Others, difference, seen, others.values.len(), |n| vec![test(n)])
        }
        Question::Runs | Question::Units => {
            let days = days(first, second);
            let seen = Deviation { value: days.deviation(), degrees: days.degrees() };
            let test = |n: u32| {
                let assumed = Deviation { value: PRIOR_DEVIATION, degrees: RunVariance::assumed_beside(n) };
                let prior = Some(assumed).filter(|assumed| assumed.degrees > 0.0 && seen.value <= assumed.value);
                Test { error: 2.0 / f64::from(n), degrees: 2.0 * f64::from(n - 1), alpha, prior }
            };
            Needed::of(Values::Runs, difference, seen, days_of(first).min(days_of(second)), |n| vec![test(n)])
        }
    }
}

/// Of two models among some `sides` that are compared together, by the deviation that a ranking of them tests with.
pub(super) fn of_models(
    sides: &[&Side],
    (first, second): (&Side, &Side),
    difference: (f64, f64),
    alpha: f64,
) -> Option<Needed> {
    let several = sides.iter().filter(|side| side.values.len() > 1);
    let spreads: Vec<Spread> = several
        .map(|side| {
            let n = side.values.len();
            let degrees = u32::try_from(n - 1).unwrap_or(u32::MAX);
            Spread { variance: squared_error(&side.values) * n as f64, degrees, shared: true }
        })
        .collect();
    let (variance, degrees) = rank::pooled(&spreads)?;
    let seen = Deviation { value: variance.sqrt(), degrees: f64::from(degrees) };
    let there_are = first.values.len().min(second.values.len());
    Needed::of_models(u32::try_from(sides.len()).unwrap_or(u32::MAX), difference, seen, there_are, alpha)
}
