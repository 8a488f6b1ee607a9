//! The exact tests for the true models: what can be found at all.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use assay_analysis::identity;
use assay_core::record::Record;
use assay_stats::rank::studentized_range;
use assay_stats::{LEVEL, student_t};

use crate::found::Failure;

/// Logarithms of the figures of each unit of a model under the first load: the mean over its runs, each the mean over
/// its repeats.
#[must_use]
pub fn unit_means(records: &[Record], model: &str) -> Vec<f64> {
    let mut units: Vec<(String, Vec<f64>)> = Vec::new();
    for record in records {
        let whose = identity(record);
        if whose.model != model {
            continue;
        }
        let mean = run_mean(record);
        match units.iter_mut().find(|(unit, _)| *unit == whose.unit) {
            Some((_, runs)) => runs.push(mean),
            None => units.push((whose.unit, vec![mean])),
        }
    }
    units.iter().map(|(_, runs)| mean(runs)).collect()
}

/// The mean of the logarithms of the repeats of a record under its first load.
#[must_use]
pub(crate) fn run_mean(record: &Record) -> f64 {
    let of_first = record.measurements.first().map_or(&[][..], |m| &m.repeats);
    mean(&of_first.iter().map(|r| r.iops.ln()).collect::<Vec<_>>())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum()
}

/// Whether the t test of Student with one variance finds the first above the second, both sides watched: the uniformly
/// most powerful unbiased test for normal values of equal variance.
///
/// # Errors
/// Fewer than three values.
pub fn above(first: &[f64], second: &[f64]) -> Result<bool, Failure> {
    let degrees = (first.len() + second.len()).saturating_sub(2);
    let t = student_t(LEVEL, u32::try_from(degrees)?).ok_or("no degree of freedom")?;
    let variance = (squares(first) + squares(second)) / degrees as f64;
    let error = (variance * (1.0 / first.len() as f64 + 1.0 / second.len() as f64)).sqrt();
    Ok(mean(first) - mean(second) > t * error)
}

/// Whether Student's test of one sample finds the values above 0, both sides watched: the uniformly most powerful unbiased
/// test for normal values, as differences of pairs are.
///
/// # Errors
/// Fewer than two values.
pub(crate) fn above_zero(values: &[f64]) -> Result<bool, Failure> {
    let degrees = values.len().saturating_sub(1);
    let t = student_t(LEVEL, u32::try_from(degrees)?).ok_or("no degree of freedom")?;
    let error = (squares(values) / degrees as f64 / values.len() as f64).sqrt();
    Ok(mean(values) > t * error)
}

/// Whether Tukey's test finds the first above any of the others, all of as many values: exact for all pairs of normal
/// values of equal variance.
///
/// # Errors
/// Fewer than two values each.
pub(crate) fn furthest_above(first: &[f64], others: &[Vec<f64>]) -> Result<bool, Failure> {
    let (models, units) = (others.len() + 1, first.len());
    let degrees = models * units.saturating_sub(1);
    let range = tukey(u32::try_from(models)?, u32::try_from(degrees)?).ok_or("no degree of freedom")?;
    let variance = (squares(first) + others.iter().map(|o| squares(o)).sum::<f64>()) / degrees as f64;
    let least = range * (variance / units as f64).sqrt();
    Ok(others.iter().any(|other| mean(first) - mean(other) > least))
}

/// The quantile of the studentized range, which takes long to compute.
fn tukey(models: u32, degrees: u32) -> Option<f64> {
    static KNOWN: Mutex<BTreeMap<(u32, u32), f64>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(range) = known.get(&(models, degrees)) {
        return Some(*range);
    }
    let range = studentized_range(LEVEL, models, degrees)?;
    known.insert((models, degrees), range);
    Some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_t_test_is_that_of_the_tables() {
        // Means 2 and 0, variances 1 and 1, three each: t = 2 / sqrt(2/3) = 2.449, and t(4) is 2.776.
        let (first, second) = ([1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]);
        assert_eq!(above(&first, &second).ok(), Some(false));
        assert_eq!(above(&first.map(|v| v + 0.3), &second).ok(), Some(true));
        assert_eq!(above(&second, &first.map(|v| v + 0.3)).ok(), Some(false));
        assert!(above(&[1.0], &[2.0]).is_err());
        // Mean 2, variance 1, three values: t = 2 * sqrt(3) = 3.46, and t(2) is 4.303.
        assert_eq!(above_zero(&[1.0, 2.0, 3.0]).ok(), Some(false));
        assert_eq!(above_zero(&[1.6, 2.6, 3.6]).ok(), Some(true));
        assert!(above_zero(&[1.0]).is_err());
    }

    #[test]
    fn tukeys_test_is_that_of_the_tables() {
        // q(0.95; 3, 6) = 4.339: with variance 1 and three values each, 2.505 is needed.
        let others = vec![vec![-1.0, 0.0, 1.0], vec![-1.1, -0.1, 0.9]];
        assert_eq!(furthest_above(&[1.39, 2.39, 3.39], &others).ok(), Some(false));
        assert_eq!(furthest_above(&[1.42, 2.42, 3.42], &others).ok(), Some(true));
    }
}
