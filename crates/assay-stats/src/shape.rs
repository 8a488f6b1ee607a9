//! Whether values that should be alike go one way, or fall into two groups; and how many independent values a correlated
//! series is worth.

use crate::interval::student_t;
use crate::steady::mean;

/// A change is one from here on, as a share of the mean.
const CHANGE: f64 = 0.10;
/// Level of the test of the slope: it is made for each repeat of each workload of a run.
const SLOPE_LEVEL: f64 = 0.99;
/// Level of the test whether values go the way of their repeats.
const WITHIN_LEVEL: f64 = 0.9;
/// Largest correlation of neighbours that is corrected for.
const MOST_CORRELATION: f64 = 0.8;
/// Fewer values have no groups; then only the spread is examined.
const LEAST_FOR_GROUPS: usize = 6;
/// Values this far apart, the larger over the smaller, are not alike.
const APART: f64 = 1.25;
/// The gap between groups is this many times the median gap.
const GAP: f64 = 4.0;

/// Two groups of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoGroups {
    /// Geometric mean of the lower group over that of the upper one.
    pub ratio: f64,
    /// Share of the values in the lower group.
    pub slow_share: f64,
}

/// Change from the first to the last of `values`, taken at equal distances, as a share of their
/// mean: the slope of the least-squares line where that is more than 10 % and significant, with
/// its error widened for the correlation of neighbours. `None` where it is not.
#[must_use]
pub fn drift(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let degrees = u32::try_from(n.checked_sub(2)?).ok().filter(|d| *d > 0)?;
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let count = n as f64;
    let mean = values.iter().sum::<f64>() / count;
    let middle = (count - 1.0) / 2.0;
    let along = |i: usize| i as f64 - middle;
    let squares = (0..n).map(|i| along(i).powi(2)).sum::<f64>();
    let slope = values.iter().enumerate().map(|(i, v)| along(i) * (v - mean)).sum::<f64>() / squares;
    let change = slope * (count - 1.0) / mean;
    if !(mean > 0.0 && change.abs() > CHANGE) {
        return None;
    }
    let rest: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - mean - slope * along(i)).collect();
    let sum = rest.iter().map(|r| r * r).sum::<f64>();
    let neighbours = rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    let correlation = if sum > 0.0 { (neighbours / sum).clamp(0.0, MOST_CORRELATION) } else { 0.0 };
    let widened = ((1.0 + correlation) / (1.0 - correlation)).sqrt();
    let error = (sum / f64::from(degrees) / squares).sqrt() * widened;
    (slope.abs() > student_t(SLOPE_LEVEL, degrees)? * error).then_some(change)
}

/// The same over repeats with values at equal distances each, in their order: three repeats are too few for a slope, and
/// their seconds are not. The repeats have to go one way, and their values within each repeat that way, too, as a medium
/// does that gets warm: repeats that differ by chance do the first in one of three cases and seldom the second.
#[must_use]
pub fn drift_along(repeats: &[Vec<f64>]) -> Option<f64> {
    let centre = |repeat: &Vec<f64>| repeat.iter().sum::<f64>() / repeat.len() as f64;
    if repeats.len() < 2 || repeats.iter().any(|repeat| repeat.len() < 2) {
        return None;
    }
    let change = drift(&repeats.concat())?;
    let one_way = repeats.windows(2).all(|pair| (centre(&pair[1]) - centre(&pair[0])) * change > 0.0);
    // One slope for all, beside the mean of each.
    let (mut products, mut along, mut squares, mut count) = (0.0, 0.0, 0.0, 0);
    for repeat in repeats {
        let (mean, middle) = (centre(repeat), (repeat.len() as f64 - 1.0) / 2.0);
        for (at, value) in repeat.iter().enumerate() {
            products += (at as f64 - middle) * (value - mean);
            along += (at as f64 - middle).powi(2);
            squares += (value - mean).powi(2);
        }
        count += repeat.len();
    }
    let slope = products / along;
    let degrees = u32::try_from(count - repeats.len()).ok()?.checked_sub(1)?;
    let error = ((squares - slope * products).max(0.0) / f64::from(degrees) / along).sqrt();
    (one_way && slope * change > 0.0 && slope.abs() > student_t(WITHIN_LEVEL, degrees)? * error).then_some(change)
}

/// The two groups that at least six `values` fall into.
///
/// The largest gap between neighbours on the log scale is more than four times the median gap
/// (the largest-gap rule), wider than either group, and the groups are a quarter apart. The width
/// keeps false alarms on values of one kind below 4 % from ten values on, where the gap
/// alone gives up to a third (simulated: log-normal, coefficient of variation 5 to 30 %). A
/// group has at least two values and a tenth of them, else it is an outlier.
#[must_use]
pub fn two_speeds(values: &[f64]) -> Option<TwoGroups> {
    if values.len() < LEAST_FOR_GROUPS || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let mut logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    logs.sort_by(f64::total_cmp);
    let mut gaps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (cut, largest) = gaps.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    gaps.sort_by(f64::total_cmp);
    let median = (gaps[(gaps.len() - 1) / 2] + gaps[gaps.len() / 2]) / 2.0;
    let (low, high) = logs.split_at(cut + 1);
    let width = |group: &[f64]| group.last().zip(group.first()).map_or(0.0, |(last, first)| last - first);
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len().max(1) as f64;
    let least = values.len().div_ceil(10).max(2);
    let ratio = (mean(low) - mean(high)).exp();
    let apart = low.len().min(high.len()) >= least
        && largest > GAP * median
        && largest > width(low).max(width(high))
        && ratio * APART < 1.0;
    apart.then(|| TwoGroups { ratio, slow_share: low.len() as f64 / values.len() as f64 })
}

/// The largest over the smallest of two to five `values` that are more than a quarter apart.
#[must_use]
pub fn uneven(values: &[f64]) -> Option<f64> {
    if !(2..LEAST_FOR_GROUPS).contains(&values.len()) || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let smallest = values.iter().copied().fold(f64::MAX, f64::min);
    (largest / smallest > APART).then_some(largest / smallest)
}

// How many independent values a correlated series is worth.

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
    use crate::random::Lehmer;

    /// Noise of mean 0 and deviation 1: the sum of twelve uniform values (Lehmer's generator).
    struct Noise(u64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0 * 48271 % 2_147_483_647;
            self.0 as f64 / 2_147_483_647.0
        }
        fn next(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
        fn series(&mut self, n: usize, deviation: f64, at: impl Fn(f64) -> f64) -> Vec<f64> {
            (0..n).map(|i| at(i as f64 / (n - 1) as f64) * (deviation * self.next()).exp()).collect()
        }
    }

    fn share(n: usize, mut found: impl FnMut() -> bool) -> f64 {
        (0..n).filter(|_| found()).count() as f64 / n as f64
    }

    #[test]
    fn a_line_by_hand() {
        // Slope 5 over 4 steps on a mean of 110: 20 / 110.
        let change = drift(&[100.0, 105.0, 110.0, 115.0, 120.0]).unwrap();
        assert!((change - 20.0 / 110.0).abs() < 1e-12, "{change}");
        assert_eq!(drift(&[100.0, 101.0, 102.0, 103.0, 104.0]), None, "4 % is none");
        assert_eq!(drift(&[100.0, 130.0, 90.0, 140.0, 115.0]), None, "not significant");
        assert_eq!(drift(&[100.0, 150.0]), None);
        assert_eq!(drift(&[0.0; 9]), None);
        assert_eq!(drift(&[1.0, f64::NAN, 3.0, 9.0]), None);
    }

    /// Three repeats of ten seconds: a medium that gets slower all the time, and repeats that differ by chance.
    #[test]
    fn drift_over_three_repeats_is_found_and_repeats_that_differ_are_none() {
        let mut noise = Noise(23);
        let mut cut = |fall: f64, apart: f64| {
            let all = noise.series(30, 0.03, |x| 100.0 - fall * x);
            let levels: Vec<f64> = noise.series(3, apart, |_| 1.0);
            let repeats: Vec<Vec<f64>> = all
                .chunks(10)
                .zip(levels)
                .map(|(seconds, level)| seconds.iter().map(|s| s * level).collect())
                .collect();
            drift_along(&repeats).is_some()
        };
        let alarms = [0.0, 0.03, 0.05].map(|apart| share(500, || cut(0.0, apart)));
        let seen = [15.0, 20.0].map(|fall| share(500, || cut(fall, 0.01)));
        eprintln!("{alarms:?} {seen:?}");
        assert!(alarms.iter().all(|alarms| *alarms < 0.03) && seen[0] > 0.6 && seen[1] > 0.9, "{alarms:?} {seen:?}");
        assert_eq!(drift_along(&[vec![1.0, 2.0, 3.0]]), None);
    }

    #[test]
    fn drift_is_found_and_noise_is_not() {
        let mut noise = Noise(12345);
        for deviation in [0.02, 0.1, 0.3] {
            let alarms = share(500, || drift(&noise.series(30, deviation, |_| 100.0)).is_some());
            assert!(alarms <= 0.03, "{deviation}: {alarms}");
        }
        let seen = share(500, || drift(&noise.series(30, 0.05, |x| 100.0 - 30.0 * x)).is_some());
        assert!(seen > 0.95, "{seen}");
    }

    #[test]
    fn two_speeds_are_found_and_noise_is_not() {
        let mut noise = Noise(777);
        for (n, deviation) in [(10, 0.1), (10, 0.3), (60, 0.1), (60, 0.3)] {
            let alarms = share(500, || two_speeds(&noise.series(n, deviation, |_| 100.0)).is_some());
            assert!(alarms <= 0.06, "{n} {deviation}: {alarms}");
        }
        let seen = share(500, || two_speeds(&noise.series(20, 0.03, |x| if x < 0.4 { 66.0 } else { 100.0 })).is_some());
        assert!(seen > 0.98, "{seen}");
        let groups = two_speeds(&[66.0, 100.0, 101.0, 66.5, 99.0, 65.5]).unwrap();
        assert!((groups.ratio - 0.66).abs() < 0.01 && groups.slow_share == 0.5, "{groups:?}");
        assert_eq!(two_speeds(&[66.0, 100.0, 101.0, 100.5, 99.0, 100.2]), None, "one outlier is no group");
    }

    #[test]
    fn few_values_are_uneven_when_a_quarter_apart() {
        // fio random read of an SSD whose mean hid two speeds.
        let ratio = uneven(&[16489.0, 24764.0, 24824.0, 24854.0, 16436.0]).unwrap();
        assert!((ratio - 1.512).abs() < 1e-3, "{ratio}");
        assert_eq!(uneven(&[100.0, 124.0, 110.0]), None);
        assert_eq!(uneven(&[100.0]), None);
        assert_eq!(uneven(&[0.0, 5.0]), None);
    }

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
