//! One repeat on one unit, as the ranking takes it.

use std::borrow::Cow;
use std::fmt;

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
