//! Why there is no answer.

use std::fmt;

/// Input that no decision can be drawn from.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
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

impl fmt::Display for Refusal {
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

impl std::error::Error for Refusal {}

/// `value` where it is above zero and finite.
///
/// # Errors
/// [`Refusal::NotPositive`] where it is not.
pub fn positive(what: &'static str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(Refusal::NotPositive { what, value }) }
}

/// `value` where it is zero or more and finite.
///
/// # Errors
/// [`Refusal::Negative`] where it is not.
pub fn not_negative(what: &'static str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(Refusal::Negative { what, value }) }
}

/// `value` where it is from 0 to 1.
///
/// # Errors
/// [`Refusal::NotAShare`] where it is not.
pub fn a_share(what: &'static str, value: f64) -> Result<f64, Refusal> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(Refusal::NotAShare { what, value }) }
}

/// Refuses fewer than it takes.
pub(crate) fn at_least(what: &'static str, least: usize, given: usize) -> Result<(), Refusal> {
    if given >= least { Ok(()) } else { Err(Refusal::TooFew { what, least, given }) }
}

/// `values` where there is at least one and all are above zero and finite.
pub(crate) fn all_positive<'a>(what: &'static str, values: &'a [f64]) -> Result<&'a [f64], Refusal> {
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
