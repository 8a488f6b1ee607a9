//! Logarithms of positive values.

/// The mean of the logarithms of positive values; not a number where there is none.
#[must_use]
pub fn log_mean(values: &[f64]) -> f64 {
    values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64
}
