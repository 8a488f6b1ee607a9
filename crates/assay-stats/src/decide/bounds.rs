//! One-sided bounds: of a mean rate, and of the share of units of a model above a threshold.

use std::fmt;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

use super::super::interval::log_mean;

/// Fewer repeats give no bounds: with two, t is 6.3 and the spread a guess.
pub const LEAST_RUNS: usize = 3;
/// Confidence of each bound of [`bounds`].
pub const CONFIDENCE: f64 = 0.95;

/// A geometric mean with the bounds that it is above and below, each with [`CONFIDENCE`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Geometric mean.
    pub point: f64,
    /// Lower and upper bound; `None` for fewer than three values.
    pub interval: Option<(f64, f64)>,
    /// Values.
    pub n: usize,
}

/// One-sided 95 % t bounds on logarithms.
///
/// # Errors
/// No value, or one that is not positive and finite.
pub fn bounds(values: &[f64]) -> Result<Bounds, InputRefusal> {
    let n = all_positive("repeats", values)?.len();
    let count = n as f64;
    let mean = log_mean(values);
    let squares = values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>();
    let student = || StudentsT::new(0.0, 1.0, count - 1.0).ok();
    let interval = (n >= LEAST_RUNS).then(student).flatten().map(|student| {
        let half = student.inverse_cdf(CONFIDENCE) * (squares / (count - 1.0) / count).sqrt();
        ((mean - half).exp(), (mean + half).exp())
    });
    Ok(Bounds { point: mean.exp(), interval, n })
}

// Tolerance limits.
//
// One-sided tolerance limits of the normal distribution: the mean less k standard deviations is
// below all but a share of the units, with k from the noncentral t distribution (Lieberman 1958,
// "Tables for one-sided statistical tolerance limits"; NIST/SEMATECH e-Handbook, 7.2.6.3).

/// Steps of Simpson's rule: the integrand is smooth, the error below 1e-7.
const STEPS: u32 = 2000;
/// Doublings that find an interval around a quantile.
const DOUBLINGS: i32 = 100;
/// Standard deviations of the chi distribution (at most 0.71) that are integrated over: 12 and more.
const REACH: f64 = 9.0;
/// Width, over the quantile where that is above 1, of the interval that ends the search for it: the integral is less precise.
const PRECISION: f64 = 1e-10;

/// One-sided tolerance limits for a share of the units of a model, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The value that the share of the units exceeds, with 95 % confidence.
    pub lower: f64,
    /// The value that the share of the units does not exceed, with 95 % confidence.
    pub upper: f64,
}

/// k for `n` units, the share `content` of the units and `confidence`.
///
/// # Errors
/// Fewer than two units, shares that are not inside 0 to 1.
pub fn tolerance_factor(n: usize, content: f64, confidence: f64) -> Result<f64, InputRefusal> {
    if n < 2 {
        return Err(InputRefusal::TooFew { what: "units", least: 2, given: n });
    }
    let inside = |what, value: f64| positive(what, a_share(what, value)?.min(1.0 - value)).map(|_| value);
    let (content, confidence) = (inside("the share of units", content)?, inside("the confidence", confidence)?);
    let units = n as f64;
    let shift = normal_quantile(content) * units.sqrt();
    let degrees = units - 1.0;
    // Each value is an integral of 2,000 steps: no more of them than it takes.
    let below = |t: f64| noncentral_t(t, degrees, shift) < confidence;
    let doubled = |from: f64| (0..DOUBLINGS).map(move |doublings| from * 2f64.powi(doublings));
    let most = 2f64.powi(DOUBLINGS);
    let mut high = doubled(1.0).find(|t| !below(*t)).unwrap_or(most);
    let mut low = if high > 1.0 { high / 2.0 } else { doubled(-1.0).find(|t| below(*t)).unwrap_or(-most) };
    while high - low > PRECISION * high.abs().max(low.abs()).max(1.0) {
        let middle = f64::midpoint(low, high);
        if below(middle) { low = middle } else { high = middle }
    }
    Ok(f64::midpoint(low, high) / units.sqrt())
}

/// What at least the share `content` of the units of a model exceeds, from the means of its units; `None` of one unit,
/// which says nothing about the model.
///
/// # Errors
/// No unit, values that are not positive and finite, a share that is not inside 0 to 1.
pub fn tolerance(units: &[f64], content: f64) -> Result<Option<Tolerance>, InputRefusal> {
    let n = all_positive("units", units)?.len();
    if n < 2 {
        return Ok(None);
    }
    let mean = log_mean(units);
    let deviation = (units.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0)).sqrt();
    let lower = (mean - tolerance_factor(n, content, 0.95)? * deviation).exp();
    let upper = (mean - tolerance_factor(n, content, 0.05)? * deviation).exp();
    Ok(Some(Tolerance { lower, upper }))
}

fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// P(T <= t) of the noncentral t distribution: the normal distribution function averaged over the
/// chi distribution of the estimated deviation, by Simpson's rule.
fn noncentral_t(t: f64, degrees: f64, shift: f64) -> f64 {
    let centre = degrees.sqrt();
    let from = (centre - REACH).max(0.0);
    let width = centre + REACH - from;
    let constant = (1.0 - degrees / 2.0) * std::f64::consts::LN_2 - ln_gamma(degrees / 2.0);
    let at = |i: u32| {
        // Steps are finer towards zero, where the factor of a large t falls off.
        let x = f64::from(i) / f64::from(STEPS);
        let (chi, slope) = (from + width * x.powi(4), 4.0 * width * x.powi(3));
        let log_power = if degrees == 1.0 { 0.0 } else { (degrees - 1.0) * chi.ln() };
        let density = (constant + log_power - chi * chi / 2.0).exp();
        slope * density * 0.5 * erfc(-(t * chi / centre - shift) / std::f64::consts::SQRT_2)
    };
    let inner: f64 = (1..STEPS).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * at(i)).sum();
    (at(0) + inner + at(STEPS)) / (3.0 * f64::from(STEPS))
}

// Why there is no answer.

/// Input that no decision can be drawn from.
#[derive(Debug, Clone, PartialEq)]
pub enum InputRefusal {
    /// A quantity that has to be above zero and finite is not.
    NotPositive {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A quantity that has to be zero or more and finite is not.
    Negative {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A share that is not between 0 and 1.
    NotAShare {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Fewer than the question needs.
    TooFew {
        /// Of what.
        what: &'static str,
        /// How many it takes.
        least: usize,
        /// How many there are.
        given: usize,
    },
    /// Lists that belong together differ in length.
    Lengths {
        /// Which ones.
        what: &'static str,
        /// Length of the first.
        expected: usize,
        /// Length that differs.
        given: usize,
    },
    /// One value has no interval.
    NoInterval {
        /// The quantity.
        what: &'static str,
    },
    /// Runs of one unit say nothing about the next one.
    OneUnit,
}

impl fmt::Display for InputRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositive { what, value } => write!(f, "{what} has to be above zero, not {value}"),
            Self::Negative { what, value } => write!(f, "{what} has to be zero or more, not {value}"),
            Self::NotAShare { what, value } => write!(f, "{what} has to be between 0 and 1, not {value}"),
            Self::TooFew { what, least, given } => write!(f, "it takes at least {least} {what}, not {given}"),
            Self::Lengths { what, expected, given } => write!(f, "{what} differ in number: {expected} and {given}"),
            Self::NoInterval { what } => write!(f, "{what} rests on one value, which has no interval"),
            Self::OneUnit => {
                write!(f, "runs of one unit do not predict the next one: measure at least 2 units of the model")
            }
        }
    }
}

impl std::error::Error for InputRefusal {}

/// `value` where it is above zero and finite.
///
/// # Errors
/// [`InputRefusal::NotPositive`] where it is not.
pub fn positive(what: &'static str, value: f64) -> Result<f64, InputRefusal> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(InputRefusal::NotPositive { what, value }) }
}

/// `value` where it is zero or more and finite.
///
/// # Errors
/// [`InputRefusal::Negative`] where it is not.
pub fn not_negative(what: &'static str, value: f64) -> Result<f64, InputRefusal> {
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(InputRefusal::Negative { what, value }) }
}

/// `value` where it is from 0 to 1.
///
/// # Errors
/// [`InputRefusal::NotAShare`] where it is not.
pub fn a_share(what: &'static str, value: f64) -> Result<f64, InputRefusal> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(InputRefusal::NotAShare { what, value }) }
}

/// Refuses fewer than it takes.
pub(crate) fn at_least(what: &'static str, least: usize, given: usize) -> Result<(), InputRefusal> {
    if given >= least { Ok(()) } else { Err(InputRefusal::TooFew { what, least, given }) }
}

/// `values` where there is at least one and all are above zero and finite.
pub(crate) fn all_positive<'a>(what: &'static str, values: &'a [f64]) -> Result<&'a [f64], InputRefusal> {
    at_least(what, 1, values.len())?;
    for value in values {
        positive(what, *value)?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_numbers_are_refused_in_words() {
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert!(positive("the rate", bad).is_err(), "{bad}");
        }
        assert_eq!(positive("the rate", -1.0).unwrap_err().to_string(), "the rate has to be above zero, not -1");
        assert!(not_negative("the time", 0.0).is_ok() && not_negative("the time", -0.1).is_err());
        assert!(a_share("the hit share", f64::NAN).is_err() && a_share("the hit share", 1.0).is_ok());
        assert_eq!(all_positive("repeats", &[]).unwrap_err().to_string(), "it takes at least 1 repeats, not 0");
        assert!(all_positive("repeats", &[1.0, f64::NAN]).is_err());
    }
}
