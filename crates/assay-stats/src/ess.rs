//! How many independent values a correlated series is worth.

use crate::steady::mean;

/// Correlation of a series in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Integrated autocorrelation time, in values: one for independent ones.
    pub time: f64,
    /// Effective number of independent values.
    pub effective: f64,
    /// Pairs of lags that were summed.
    pub pairs: usize,
}

/// Integrated autocorrelation time by Geyer's initial monotone positive sequence (Geyer 1992,
/// "Practical Markov Chain Monte Carlo"): sums of neighbouring autocorrelations while they are
/// positive, none larger than the one before. `None` where there is no variation.
#[must_use]
pub fn correlation(values: &[f64]) -> Option<Correlation> {
    let n = values.len();
    let centre = mean(values);
    let covariance = |lag: usize| -> f64 {
        values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>() / n as f64
    };
    let variance = covariance(0);
    if n < 2 || !(variance.is_finite() && variance > 0.0) {
        return None;
    }
    let (mut sum, mut pairs, mut smallest) = (0.0, 0, f64::INFINITY);
    for pair in 0..n / 2 {
        let next = (covariance(2 * pair) + covariance(2 * pair + 1)) / variance;
        if next <= 0.0 {
            break;
        }
        smallest = next.min(smallest);
        sum += smallest;
        pairs += 1;
    }
    // A series that swings to and fro would come out below one value's worth of time.
    let time = (2.0 * sum - 1.0).max(1.0 / n as f64);
    Some(Correlation { time, effective: n as f64 / time, pairs })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Lehmer;

    #[test]
    fn an_autoregressive_series_comes_to_the_digits_of_the_reference() {
        let mut u = Lehmer::new(777);
        let mut last = 0.0;
        let series: Vec<f64> = (0..400)
            .map(|t| {
                let e = u.next() - 0.5;
                last = if t == 0 { e } else { 0.6 * last + e };
                last
            })
            .collect();
        let c = correlation(&series).unwrap();
        assert_eq!(c.pairs, 5);
        assert!((c.time - 4.687_682_288_042_77).abs() < 1e-12, "{}", c.time);
        assert!((c.effective - 85.330_015_009_829_2).abs() < 1e-10, "{}", c.effective);
    }

    #[test]
    fn independent_values_count_as_they_are_and_constant_ones_say_nothing() {
        let mut u = Lehmer::new(5);
        let c = correlation(&(0..4000).map(|_| u.next()).collect::<Vec<_>>()).unwrap();
        assert!((3000.0..5200.0).contains(&c.effective), "{c:?}");
        assert_eq!(correlation(&[2.0; 50]), None);
        assert_eq!(correlation(&[]), None);
    }

    proptest! {
        #[test]
        fn time_does_not_depend_on_unit_or_offset(values in prop::collection::vec(0.0f64..100.0, 10..200), factor in 0.5f64..4.0) {
            if let Some(a) = correlation(&values) {
                let b = correlation(&values.iter().map(|v| v * factor + 7.0).collect::<Vec<_>>()).unwrap();
                prop_assert!((a.time / b.time - 1.0).abs() < 1e-6);
                prop_assert!(a.time > 0.0 && a.effective > 0.0);
            }
        }
    }
}
