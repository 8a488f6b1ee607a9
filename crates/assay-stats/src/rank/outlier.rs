//! Units that deviate from the others of their model.
//!
//! The usual cut of 3.5 robust deviations alarms in 13 to 29 % of models of three to ten equal units,
//! and Grubbs's test can hardly alarm at three (simulated). Each unit is compared with the rest of
//! its model instead, in terms of how much units of the other models vary. No unit is dropped here:
//! rank with it and without it, and say so where the layers differ.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::fit::ModelFit;
use super::moderate::{Spread, pooled};

/// Smaller deviations are left alone, significant or not: units of one model do differ.
const LEAST_RATIO: f64 = 1.15;
/// Chance of any false alarm over all units.
const ALPHA: f64 = 0.05;
/// Fewer degrees of freedom over the other models make no test.
const LEAST_DEGREES: u32 = 3;

/// A unit that deviates from the others of its model.
#[derive(Debug, Clone, PartialEq)]
pub struct OddUnit {
    /// Its model.
    pub model: String,
    /// Its name.
    pub unit: String,
    /// Its value over the mean of the others.
    pub ratio: f64,
    /// Its deviation in standard errors.
    pub t: f64,
}

/// Units of one model differ, with no culprit.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    /// The model.
    pub model: String,
    /// The largest of its units over the smallest.
    pub ratio: f64,
}

/// Everything odd.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Oddities {
    /// Units that deviate.
    pub odd: Vec<OddUnit>,
    /// Models whose two units, or the two that are left, differ by more than chance.
    pub disagree: Vec<Disagreement>,
    /// Models whose units differ by more than 15 % where the other models are too few to test it.
    pub untested: Vec<Disagreement>,
}

/// Looks for odd units in models of two and more. The deviating unit of the largest t is taken out
/// before the rest of its model is looked at, as it makes the others look odd too.
///
/// Where units were not told apart from their slots ([`super::Fit::units_known`]), it is the unit or the slot
/// that is odd.
#[must_use]
pub fn odd_units(models: &[ModelFit]) -> Oddities {
    let mut found = Oddities::default();
    let all: usize = models.iter().map(|m| m.units.len()).filter(|n| *n > 1).sum();
    for (at, model) in models.iter().enumerate() {
        let others: Vec<Spread> =
            models.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, m)| m.spread()).collect();
        let mut left: Vec<(&str, f64)> = model.units.iter().map(|u| (u.name.as_str(), u.ln)).collect();
        let Some((pool, degrees)) = pooled(&others).filter(|(pool, f)| *f >= LEAST_DEGREES && *pool > 0.0) else {
            let ratio = spread(&left);
            if ratio > LEAST_RATIO {
                found.untested.push(Disagreement { model: model.name.clone(), ratio });
            }
            continue;
        };
        let Ok(t) = StudentsT::new(0.0, 1.0, f64::from(degrees)) else { continue };
        let critical = t.inverse_cdf(1.0 - ALPHA / (2.0 * all as f64));
        while let Some((place, deviation, t)) = furthest(&left, pool.sqrt()) {
            if t.abs() <= critical || deviation.abs() <= LEAST_RATIO.ln() {
                break;
            }
            if left.len() == 2 {
                found.disagree.push(Disagreement { model: model.name.clone(), ratio: deviation.abs().exp() });
                break;
            }
            let (unit, _) = left.remove(place);
            let (model, unit) = (model.name.clone(), unit.to_owned());
            found.odd.push(OddUnit { model, unit, ratio: deviation.exp(), t });
        }
    }
    found
}

fn spread(units: &[(&str, f64)]) -> f64 {
    let (low, high) = units.iter().fold((f64::MAX, f64::MIN), |(low, high), u| (low.min(u.1), high.max(u.1)));
    (high - low).max(0.0).exp()
}

/// Place, deviation from the others' mean and t of the unit that lies furthest from the others.
fn furthest(units: &[(&str, f64)], deviation: f64) -> Option<(usize, f64, f64)> {
    let rest = units.len().checked_sub(1).filter(|rest| *rest > 0)? as f64;
    let sum: f64 = units.iter().map(|u| u.1).sum();
    let error = deviation * (1.0 + 1.0 / rest).sqrt();
    let off = units.iter().enumerate().map(|(at, (_, ln))| (at, ln - (sum - ln) / rest));
    off.map(|(at, off)| (at, off, off / error)).max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))
}

#[cfg(test)]
mod tests {
    use super::super::fit::UnitFit;
    use super::*;

    fn model(name: &str, values: &[f64]) -> ModelFit {
        let unit = |(at, value): (usize, &f64)| UnitFit { name: format!("{at}"), ln: value.ln(), repeats: 1 };
        ModelFit::new(name.to_owned(), values.iter().enumerate().map(unit).collect())
    }

    #[test]
    fn the_culprit_is_one() {
        let quiet = [model("b", &[100.0, 102.0, 99.0]), model("c", &[50.0, 49.0, 50.5])];
        let mut models = quiet.to_vec();
        models.push(model("a", &[80.0, 81.0, 40.0]));
        let found = odd_units(&models);
        assert_eq!(found.odd.len(), 1, "{found:?}");
        assert_eq!((found.odd[0].model.as_str(), found.odd[0].unit.as_str()), ("a", "2"));
        assert!((found.odd[0].ratio - 40.0 / (80.0f64 * 81.0).sqrt()).abs() < 1e-12);
        assert!(found.disagree.is_empty() && found.untested.is_empty(), "{found:?}");
        assert_eq!(odd_units(&quiet), Oddities::default());
    }

    #[test]
    fn two_units_have_no_culprit_and_few_others_no_test() {
        let found = odd_units(&[model("a", &[80.0, 40.0]), model("b", &[10.0, 10.1, 9.9, 10.05])]);
        assert_eq!(found.disagree, [Disagreement { model: "a".to_owned(), ratio: 80.0 / 40.0 }]);
        assert!(found.odd.is_empty());
        // b's only others are a: one degree of freedom; it is quiet, so nothing is said.
        assert!(found.untested.is_empty());
        let found = odd_units(&[model("a", &[80.0, 40.0]), model("b", &[10.0, 10.1])]);
        assert!(found.disagree.is_empty() && (found.untested[0].ratio - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn small_deviations_are_left_alone() {
        let found = odd_units(&[model("a", &[100.0, 100.01, 110.0]), model("b", &[10.0, 10.001, 9.999, 10.0])]);
        assert_eq!(found.odd, [], "10 % is not odd, at any t");
        assert_eq!(odd_units(&[]), Oddities::default());
    }
}
