//! The results of replicates.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use assay_analysis::identity;
use assay_core::observation::Observation;
use assay_stats::rank::studentized_range;
use assay_stats::{LEVEL, student_t};

/// Why a replicate failed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of one replicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowResult {
    /// A true statement was made.
    Right,
    /// A false statement was made.
    Wrong,
    /// Nothing was decided.
    Undecided,
    /// Whether a real difference was found, and whether the exact test for the true model finds it.
    Power {
        /// By the program.
        found: bool,
        /// By the exact test.
        exact: bool,
    },
    /// A number. Its mean over all replicates is bounded.
    Number(f64),
    /// The replicate does not belong to the case that the row is about.
    Aside,
}

impl RowResult {
    /// The result of a statement that is right or wrong.
    #[must_use]
    pub fn from_right(right: bool) -> Self {
        if right { Self::Right } else { Self::Wrong }
    }
}

/// All replicates of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    right: f64,
    wrong: f64,
    undecided: f64,
    found: f64,
    exact: f64,
    both: f64,
    pairs: f64,
    numbers: f64,
    sum: f64,
    squares: f64,
    aside: f64,
}

/// A share or a mean with its standard error over replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share or mean.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, found: RowResult) {
        match found {
            RowResult::Right => self.right += 1.0,
            RowResult::Wrong => self.wrong += 1.0,
            RowResult::Undecided => self.undecided += 1.0,
            RowResult::Power { found, exact } => {
                let one = |is| f64::from(u8::from(is));
                self.found += one(found);
                self.exact += one(exact);
                self.both += one(found && exact);
                self.pairs += 1.0;
            }
            RowResult::Number(value) => {
                self.numbers += 1.0;
                self.sum += value;
                self.squares += value * value;
            }
            RowResult::Aside => self.aside += 1.0,
        }
    }

    /// Wrong answers of all, "cannot tell" among those that are not wrong.
    #[must_use]
    pub fn wrong(&self) -> Share {
        share(self.wrong, self.right + self.wrong + self.undecided)
    }

    /// Right answers of all.
    #[must_use]
    pub fn right(&self) -> Share {
        share(self.right, self.right + self.wrong + self.undecided)
    }

    /// Right answers of those that were given.
    #[must_use]
    pub fn covered(&self) -> Share {
        share(self.right, self.right + self.wrong)
    }

    /// No decision.
    #[must_use]
    pub fn undecided(&self) -> Share {
        share(self.undecided, self.right + self.wrong + self.undecided)
    }

    /// What the program finds over what the exact test finds; both see the same records.
    #[must_use]
    pub fn power(&self) -> Share {
        let ratio = self.found / self.exact;
        // The error of a ratio of two shares of the same replicates, to the first order.
        let only = |share: f64, other: f64, both: f64| (share - both) + ratio * ratio * (other - both);
        let spread = only(self.found, self.exact, self.both) + (1.0 - ratio).powi(2) * self.both;
        Share { value: ratio, error: spread.sqrt() / self.exact }
    }

    /// Replicates of the kind that the row is about; `None` where all are.
    #[must_use]
    pub fn about(&self) -> Option<f64> {
        let counted = self.right + self.wrong + self.undecided + self.pairs + self.numbers;
        (self.aside > 0.0).then(|| counted / (counted + self.aside))
    }

    /// What the exact test finds.
    #[must_use]
    pub fn exact(&self) -> Option<Share> {
        (self.pairs > 0.0).then(|| share(self.exact, self.pairs))
    }

    /// The mean of the numbers. Where a claim was never made, nothing was lost by it: 0.
    #[must_use]
    pub fn mean(&self) -> Share {
        if self.numbers == 0.0 {
            return Share { value: 0.0, error: 0.0 };
        }
        let mean = self.sum / self.numbers;
        let variance = (self.squares / self.numbers - mean * mean).max(0.0);
        Share { value: mean, error: (variance / self.numbers).sqrt() }
    }
}

fn share(of: f64, all: f64) -> Share {
    let value = of / all;
    Share { value, error: (value * (1.0 - value) / all).sqrt() }
}

// The exact tests for the true models: what can be found at all.

/// Logarithms of the figures of each unit of a model under the first load: the mean over its runs, each the mean over
/// its repeats.
#[must_use]
pub fn unit_means(records: &[Observation], model: &str) -> Vec<f64> {
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
pub(crate) fn run_mean(record: &Observation) -> f64 {
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

    fn tally(all: &[RowResult]) -> Tally {
        let mut tally = Tally::default();
        all.iter().for_each(|found| tally.add(*found));
        tally
    }

    #[test]
    fn shares_are_of_what_they_say() {
        let three =
            tally(&[RowResult::Right, RowResult::Wrong, RowResult::Undecided, RowResult::Undecided, RowResult::Aside]);
        assert_eq!((three.wrong().value, three.right().value, three.undecided().value), (0.25, 0.25, 0.5));
        assert_eq!(three.about(), Some(0.8));
        assert_eq!((three.covered().value, three.covered().error), (0.5, 0.125f64.sqrt()));
        let numbers = tally(&[RowResult::Number(1.0), RowResult::Number(3.0)]);
        assert_eq!((numbers.mean().value, numbers.mean().error), (2.0, 0.5f64.sqrt()));
    }

    #[test]
    fn power_is_that_of_the_program_over_that_of_the_exact_test() {
        let power = |found, exact| RowResult::Power { found, exact };
        let all = tally(&[power(true, true), power(false, true), power(true, true), power(false, false)]);
        assert!((all.power().value - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(all.exact().map(|share| share.value), Some(0.75));
        // Equal in every replicate: there is no error.
        assert_eq!(tally(&[power(true, true), power(false, false)]).power(), Share { value: 1.0, error: 0.0 });
    }

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
