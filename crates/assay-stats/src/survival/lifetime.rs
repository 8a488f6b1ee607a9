//! Lifetimes, some of them cut off, and what can be said of shares without a curve.

use statrs::distribution::{Beta, ContinuousCDF};

/// How long a unit was seen: until it failed, or until the test ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lifetime {
    /// Cycles or bytes, 0 and more. Of a failure where it happened; else up to where the unit was known to be good.
    pub time: f64,
    /// What it failed of, as the caller numbers causes; `None` where it was not seen to fail.
    pub cause: Option<usize>,
}

impl Lifetime {
    /// A failure.
    #[must_use]
    pub fn failed(time: f64, cause: usize) -> Self {
        Self { time, cause: Some(cause) }
    }

    /// A unit that was good so far.
    #[must_use]
    pub fn censored(time: f64) -> Self {
        Self { time, cause: None }
    }
}

/// Units at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) time: f64,
    /// Units that were seen at least until here.
    pub(super) at_risk: u32,
    pub(super) failed: u32,
    /// Units that were last seen here; they are at risk here, and not after it.
    pub(super) censored: u32,
}

/// The distinct times in order; `None` without a unit, and where a time is no number of 0 or more.
pub(super) fn rows(lifetimes: &[Lifetime]) -> Option<Vec<Row>> {
    if lifetimes.is_empty() || lifetimes.iter().any(|life| !(life.time.is_finite() && life.time >= 0.0)) {
        return None;
    }
    let mut sorted = lifetimes.to_vec();
    sorted.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut left = u32::try_from(sorted.len()).ok()?;
    let mut rows: Vec<Row> = Vec::new();
    for same in sorted.chunk_by(|a, b| a.time == b.time) {
        let failed = same.iter().filter(|life| life.cause.is_some()).count() as u32;
        let censored = same.len() as u32 - failed;
        rows.push(Row { time: same[0].time, at_risk: left, failed, censored });
        left -= failed + censored;
    }
    Some(rows)
}

/// A quantile of a beta distribution; the ends where one of its shapes is 0.
pub(super) fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    if b <= 0.0 {
        return 1.0;
    }
    Beta::new(a, b).map_or(f64::NAN, |beta| beta.inverse_cdf(p))
}

/// Interval of a share, from `hits` of `n` seen; the first may be a fraction of a unit, as after weighting (Clopper and
/// Pearson 1934).
#[must_use]
pub fn clopper_pearson(hits: f64, n: f64, level: f64) -> (f64, f64) {
    let side = (1.0 - level) / 2.0;
    (beta_quantile(hits, n - hits + 1.0, side), beta_quantile(hits + 1.0, n - hits, 1.0 - side))
}

/// The largest share of units that may fail if no unit of `units` did, at this level, one-sided: 63 % of 3 at 95 %.
#[must_use]
pub fn most_failing(units: u32, level: f64) -> f64 {
    if units == 0 { 1.0 } else { 1.0 - (1.0 - level).powf(1.0 / f64::from(units)) }
}

/// How many units without a failure bound the share that fails to `share`, one-sided.
#[must_use]
pub fn units_without_failure(share: f64, level: f64) -> u32 {
    let units = ((1.0 - level).ln() / (1.0 - share).ln() - 1e-9).ceil();
    // Casts of floats saturate.
    units as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_at_risk_where_they_are_censored_and_not_after() {
        let of = [Lifetime::censored(2.0), Lifetime::failed(2.0, 0), Lifetime::failed(1.0, 0), Lifetime::censored(5.0)];
        let rows = rows(&of).unwrap();
        let seen: Vec<(f64, u32, u32, u32)> =
            rows.iter().map(|row| (row.time, row.at_risk, row.failed, row.censored)).collect();
        assert_eq!(seen, [(1.0, 4, 1, 0), (2.0, 3, 1, 1), (5.0, 1, 0, 1)]);
        assert_eq!(super::rows(&[]), None);
        assert_eq!(super::rows(&[Lifetime::failed(f64::NAN, 0)]), None);
        assert_eq!(super::rows(&[Lifetime::failed(-1.0, 0)]), None);
    }

    /// The share is 63 % of three, 45 of five, 26 of ten, 9.8 of 29 and 5 of 59.
    #[test]
    fn no_failure_bounds_the_share_that_fails() {
        for (units, share) in [(3, 0.632), (5, 0.451), (10, 0.259), (29, 0.098), (59, 0.0495)] {
            assert!((most_failing(units, 0.95) - share).abs() < 1e-3, "{units}");
        }
        assert_eq!(most_failing(0, 0.95), 1.0);
        assert_eq!((units_without_failure(0.05, 0.95), units_without_failure(0.1, 0.95)), (59, 29));
    }

    /// Tables of Clopper and Pearson's interval: 0 of 3 is 0 to 70.8 %, 1 of 3 is 0.84 to 90.6 %, 5 of 10 18.7 to 81.3 %.
    #[test]
    fn exact_intervals_are_those_of_the_tables() {
        for (hits, n, low, high) in [(0.0, 3.0, 0.0, 0.7076), (1.0, 3.0, 0.0084, 0.9057), (5.0, 10.0, 0.1871, 0.8129)] {
            let interval = clopper_pearson(hits, n, 0.95);
            assert!((interval.0 - low).abs() < 1e-4 && (interval.1 - high).abs() < 1e-4, "{interval:?}");
        }
        assert_eq!(clopper_pearson(3.0, 3.0, 0.95).1, 1.0);
    }
}
