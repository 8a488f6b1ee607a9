//! Logarithms of positive values.

/// Logarithms that differ by less are equal: sums of them differ in the last digits with the unit of the figures.
const EQUAL: f64 = 1e-9;

/// The sum of the squared deviations of logarithms from their mean; 0 of such that are equal but for rounding, so that no verdict
/// depends on the last digit, or on the unit of the figures.
#[must_use]
pub fn log_squares(logs: &[f64]) -> f64 {
    let (low, high) =
        logs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ln| (low.min(*ln), high.max(*ln)));
    if high - low <= EQUAL || logs.is_empty() {
        return 0.0;
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|ln| (ln - mean).powi(2)).sum()
}

/// The mean of the logarithms of positive values; NaN for no values.
#[must_use]
pub fn log_mean(values: &[f64]) -> f64 {
    values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64
}
