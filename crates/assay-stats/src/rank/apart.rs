//! Distinguishes units that stand apart from the rest of their model from units of a heavy-tailed distribution.
//!
//! With heavy tails, one unit is always far from the mean, and the next one is half as far: an odd unit shows by the
//! gap behind it. For a distribution whose tail falls as `x⁻³` (Student's t with three degrees of freedom), the
//! furthest unit is `r` times as far as the next with a probability near `r⁻³`, for any large number of units (Rényi's
//! representation of order statistics). With few units this does not hold yet, and the factors are larger. The two
//! constants are chosen by simulation, so that one of 4 to 60 units with such tails is named in at most 6.5 of 100
//! models, for any deviation (2,000 models each).

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The factor for many units, at a chance of [`AT`].
const MANY_UNITS: f64 = 2.6;
/// Added for few units: this, divided by their number minus two.
const FEW_UNITS: f64 = 15.0;
/// The probability for which the factors hold.
const AT: f64 = 0.05;

/// The number of removed units, in the order of `out` (furthest first), that are further from the rest than heavy tails
/// would put them with probability `chance`. It is the largest number for which each of these units is more than
/// `factor` times as far from the median of the rest as the furthest of the rest.
pub(super) fn apart(out: &[f64], left: &[f64], chance: f64) -> usize {
    let factor = factor((out.len() + left.len()) as f64, chance);
    let stands = |named: &usize| {
        let mut rest: Vec<f64> = left.iter().chain(&out[*named..]).copied().collect();
        rest.sort_by(f64::total_cmp);
        let middle = (rest[(rest.len() - 1) / 2] + rest[rest.len() / 2]) / 2.0;
        let away = |value: &f64| (value - middle).abs();
        let furthest = rest.iter().map(away).fold(0.0, f64::max);
        out[..*named].iter().map(away).all(|distance| distance > factor * furthest)
    };
    (1..=out.len()).rev().find(stands).unwrap_or(0)
}

/// The factor between the distances of an odd unit and of the next one, for a model with `units` units.
fn factor(units: f64, chance: f64) -> f64 {
    (MANY_UNITS + FEW_UNITS / (units - 2.0)) * (AT / chance).cbrt()
}

/// The probability at which a t test against as many other units requires the same distance, where those are nearly
/// normal: in eight of ten models the furthest of them is less far than this.
pub(super) fn as_test(units: f64, chance: f64) -> f64 {
    let (Ok(normal), Ok(t)) = (Normal::new(0.0, 1.0), StudentsT::new(0.0, 1.0, units - 2.0)) else { return chance };
    let furthest = normal.inverse_cdf((1.0 + 0.8f64.powf(1.0 / (units - 1.0))) / 2.0);
    2.0 * t.cdf(-factor(units, chance) * furthest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_decides_and_not_the_distance() {
        let rest: Vec<f64> = (0..27).map(|at| f64::from(at - 13) / 100.0).collect();
        // The furthest of the rest is 0.13 away, and 28 units take three times that.
        assert_eq!(apart(&[0.45], &rest, 0.05), 1);
        assert_eq!(apart(&[0.35], &rest, 0.05), 0);
        // Under one of many loads the gap has to be wider.
        assert_eq!(apart(&[0.45], &rest, 0.005), 0);
        // Two similar outliers do not hide each other. Of a tail, only the values beyond its largest gap are named.
        assert_eq!(apart(&[-0.7, 0.6], &rest, 0.05), 2);
        assert_eq!(apart(&[2.0, 0.3, 0.2], &rest, 0.05), 1);
        assert_eq!(apart(&[], &rest, 0.05), 0);
    }
}
