//! How nights of one level differ: their deviation, how alike neighbours are, and what a degree changes.

use serde::{Deserialize, Serialize};

use crate::night::Kind;

/// A night of one figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Its night.
    pub(crate) day: i64,
    /// The logarithm, turned so that more is worse.
    pub(crate) x: f64,
    /// Its own error.
    pub(crate) error: f64,
    /// Temperature.
    pub(crate) celsius: Option<f64>,
    /// Number of its level.
    pub(crate) level: u32,
    /// How far the other loads were from their levels in this night, in deviations; none where too few of them tell.
    pub(crate) shared: Option<f64>,
}

/// What one degree may change the logarithm by before nights show it: 0.2 %, one standard deviation.
const PER_KELVIN: f64 = 0.002;
/// Autocorrelation that is assumed, and the nights that this is worth.
const ASSUMED_CORRELATION: (f64, f64) = (0.3, 15.0);
/// Nights that the assumed deviation is worth.
const ASSUMED_NIGHTS: f64 = 4.0;
/// Residuals beyond this many robust deviations count as this many, for the correlation and the temperature.
const FAR: f64 = 3.0;
/// The same for the deviation: that of heavy tails is large.
const FAR_OF_SPREAD: f64 = 6.0;
/// Nights in which loads share nothing that are assumed until nights show it.
const ASSUMED_NIGHTS_APART: f64 = 10.0;
/// Fewer nights of a level say nothing of its spread.
const LEAST_OF_LEVEL: usize = 7;
/// From this number of nights on, the present level tells its spread alone: a medium that broke in was another one before.
const ENOUGH_OF_LEVEL: usize = 60;
/// Oldest nights of the present level that tell nothing once [`ENOUGH_OF_LEVEL`] follow: it may have broken in.
const BREAK_IN: usize = 30;

/// How nights vary about their level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noise {
    /// Standard deviation of a night about its level.
    pub(crate) deviation: f64,
    /// Correlation of one night with the next.
    pub(crate) correlation: f64,
    /// How much of the variance is due to rare nights: its ratio with and without those far from the level, less one.
    pub(crate) tails: f64,
    /// Change of the logarithm for each kelvin.
    pub(crate) per_kelvin: f64,
    /// Its standard error.
    pub(crate) per_kelvin_error: f64,
    /// Median of the nights' own errors.
    pub(crate) own_error: f64,
    /// Nights that it rests on.
    pub(crate) nights: usize,
}

impl Noise {
    /// Before anything is known.
    pub(crate) fn assumed(kind: Kind) -> Self {
        Self {
            deviation: kind.assumed(),
            correlation: ASSUMED_CORRELATION.0,
            tails: 0.0,
            per_kelvin: 0.0,
            per_kelvin_error: PER_KELVIN,
            own_error: 0.0,
            nights: 0,
        }
    }

    /// From nights, in their order.
    pub(crate) fn of(points: &[Point], kind: Kind) -> Self {
        let mut noise = Self::assumed(kind);
        let levels = learned_from(points);
        if levels.is_empty() {
            return noise;
        }
        noise.learn(&levels, kind);
        noise.learn_temperature(&levels);
        if noise.per_kelvin != 0.0 {
            noise.learn(&levels, kind);
        }
        noise
    }

    fn learn(&mut self, levels: &[&[Point]], kind: Kind) {
        let mut residuals: Vec<(i64, f64, u32)> = Vec::new();
        for level in levels {
            let reference = mean_celsius(level);
            let adjusted: Vec<f64> = level.iter().map(|point| self.adjusted(point, reference)).collect();
            let middle = median(&mut adjusted.clone());
            residuals.extend(level.iter().zip(adjusted).map(|(point, x)| (point.day, x - middle, point.level)));
        }
        let robust = robust(residuals.iter().map(|(_, residual, _)| residual.abs()).collect(), kind);
        let n = residuals.len() as f64;
        let bounded =
            |far: f64| residuals.iter().map(move |(_, residual, _)| residual.clamp(-far, far).powi(2)).sum::<f64>();
        // One degree of freedom for each level.
        let variance = bounded(FAR_OF_SPREAD * robust) / (n - levels.len() as f64).max(1.0);
        let squares = bounded(FAR * robust);
        let pairs = |pair: &&[(i64, f64, u32)]| pair[1].0 - pair[0].0 == 1 && pair[0].2 == pair[1].2;
        let raw: Vec<(f64, f64)> = residuals.windows(2).filter(pairs).map(|pair| (pair[0].1, pair[1].1)).collect();
        residuals.iter_mut().for_each(|(_, residual, _)| *residual = residual.clamp(-FAR * robust, FAR * robust));
        let neighbours = residuals.windows(2).filter(pairs);
        let (mut product, mut count) = (0.0, 0.0);
        for pair in neighbours {
            product += pair[0].1 * pair[1].1;
            count += 1.0;
        }
        let seen = if squares > 0.0 && count > 0.0 { product / count * n / squares } else { 0.0 };
        // The estimate of few nights is too low by about (1 + 3 phi) / n (Kendall 1954).
        let seen = seen + (1.0 + 3.0 * seen) / n;
        let (assumed, worth) = ASSUMED_CORRELATION;
        self.correlation = ((seen * count + assumed * worth) / (count + worth)).clamp(0.0, 0.85);
        self.tails = tails(&raw, self.correlation, kind);
        // Nights that resemble each other show less than their whole spread.
        let shown = (1.0 - inflation(self.correlation) * levels.len() as f64 / n).max(0.5);
        let variance = variance / shown;
        let weighted = variance * n + ASSUMED_NIGHTS * kind.assumed().powi(2);
        self.deviation = (weighted / (n + ASSUMED_NIGHTS)).sqrt().max(kind.floor());
        self.nights = residuals.len();
        let mut errors: Vec<f64> = levels.iter().flat_map(|level| level.iter().map(|point| point.error)).collect();
        self.own_error = median(&mut errors);
    }

    /// Least squares with a prior about zero, so that a slow change is no effect of the temperature beyond what is usual.
    fn learn_temperature(&mut self, levels: &[&[Point]]) {
        let (mut products, mut squares) = (0.0, 0.0);
        for level in levels {
            let Some(reference) = mean_celsius(level) else { continue };
            let mut values: Vec<f64> = level.iter().map(|point| point.x).collect();
            let middle = median(&mut values);
            for point in level.iter().filter(|point| point.celsius.is_some()) {
                let warmer = point.celsius.unwrap_or(reference) - reference;
                let residual = (point.x - middle).clamp(-FAR * self.deviation, FAR * self.deviation);
                products += warmer * residual;
                squares += warmer * warmer;
            }
        }
        let variance = self.deviation.powi(2) * inflation(self.correlation);
        let precision = squares / variance + PER_KELVIN.powi(-2);
        self.per_kelvin = products / variance / precision;
        self.per_kelvin_error = precision.recip().sqrt();
    }

    /// The value as at the temperature of the level.
    pub(crate) fn adjusted(&self, point: &Point, reference: Option<f64>) -> f64 {
        match (point.celsius, reference) {
            (Some(celsius), Some(reference)) => point.x - self.per_kelvin * (celsius - reference),
            _ => point.x,
        }
    }

    /// How much a night counts whose own error is larger than usual.
    pub(crate) fn weight(&self, point: &Point) -> f64 {
        let own = self.deviation.powi(2);
        own / (own + (point.error.powi(2) - self.own_error.powi(2)).max(0.0))
    }

    /// Variance of the mean of `nights` successive nights, in variances of a night.
    pub(crate) fn of_mean(&self, nights: usize) -> f64 {
        let n = nights as f64;
        let mut power = 1.0;
        let mut sum = 0.0;
        for apart in 1..nights.min(60) {
            power *= self.correlation;
            sum += (1.0 - apart as f64 / n) * power;
        }
        (1.0 + 2.0 * sum) / n
    }

    /// Correlation of the mean of a week with that of the next: of a first-order autoregression.
    pub(crate) fn of_weeks(&self) -> f64 {
        let within: f64 = (0..7).map(|night| self.correlation.powi(night)).sum();
        self.correlation * within.powi(2) / 49.0 / self.of_mean(7)
    }
}

/// The deviation of residuals of these sizes: by their median; by their mean where the median is less than half of that, as of a
/// rate in steps, most of whose nights are equal.
fn robust(mut sizes: Vec<f64>, kind: Kind) -> f64 {
    // Of a normal distribution the mean size is √(2/π) deviations.
    let by_mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64 * 1.2533;
    let by_median = median(&mut sizes) * 1.4826;
    if by_median < by_mean / 2.0 { by_mean } else { by_median }.max(kind.floor())
}

/// How much of the variance of what nights bring beyond the night before them is due to rare ones.
fn tails(pairs: &[(f64, f64)], correlation: f64, kind: Kind) -> f64 {
    let news: Vec<f64> = pairs.iter().map(|(before, now)| now - correlation * before).collect();
    let robust = robust(news.iter().map(|one| one.abs()).collect(), kind);
    let bounded = |far: f64| news.iter().map(|one| one.clamp(-far * robust, far * robust).powi(2)).sum::<f64>();
    let squares = bounded(FAR);
    // A normal distribution has two percent there.
    if squares > 0.0 { (bounded(FAR_OF_SPREAD) / squares - 1.02).clamp(0.0, 1.0) } else { 0.0 }
}

/// The levels that tell how nights vary.
fn learned_from(points: &[Point]) -> Vec<&[Point]> {
    let levels = points.chunk_by(|a, b| a.level == b.level).filter(|level| level.len() >= LEAST_OF_LEVEL);
    let levels: Vec<&[Point]> = levels.collect();
    match levels.last() {
        Some(present) if present.len() >= ENOUGH_OF_LEVEL => {
            vec![&present[BREAK_IN.min(present.len() - ENOUGH_OF_LEVEL)..]]
        }
        _ => levels,
    }
}

/// By how much the logarithm of a night moves for each deviation of what it shares with other loads: least squares about the
/// median of each level, with as many nights of no effect as [`ASSUMED_NIGHTS_APART`].
pub(crate) fn share(points: &[Point], deviation: f64) -> f64 {
    let (mut products, mut squares, mut count) = (0.0, 0.0, 0.0);
    for level in learned_from(points) {
        let mut pairs: Vec<(f64, f64)> = level.iter().filter_map(|point| Some((point.x, point.shared?))).collect();
        let x = median(&mut pairs.iter().map(|(x, _)| *x).collect::<Vec<f64>>());
        let shared = median(&mut pairs.iter().map(|(_, shared)| *shared).collect::<Vec<f64>>());
        for (own, other) in pairs.drain(..) {
            let own = (own - x).clamp(-FAR * deviation, FAR * deviation);
            let other = (other - shared).clamp(-FAR, FAR);
            products += own * other;
            squares += other * other;
            count += 1.0;
        }
    }
    if squares > 0.0 { (products / squares / (1.0 + ASSUMED_NIGHTS_APART / count)).max(0.0) } else { 0.0 }
}

/// How much larger the variance of a mean of many nights is than that of independent ones.
pub(crate) fn inflation(correlation: f64) -> f64 {
    (1.0 + correlation) / (1.0 - correlation)
}

/// Mean temperature of those nights that have one.
pub(crate) fn mean_celsius(points: &[Point]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for celsius in points.iter().filter_map(|point| point.celsius) {
        sum += celsius;
        count += 1.0;
    }
    (count > 0.0).then_some(sum / count)
}

/// The middle value; 0 of none. The order of the values is changed.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let half = values.len() / 2;
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    // Of an even number the other one in the middle is the largest below.
    let other = below.iter().copied().fold(f64::MIN, f64::max);
    let middle = *middle;
    if values.len() % 2 == 1 { middle } else { (middle + other) / 2.0 }
}

#[cfg(test)]
mod tests {
    use assay_stats::random::Generator;

    use super::*;

    fn nights(n: usize, deviation: f64, correlation: f64, seed: u64) -> Vec<Point> {
        let mut random = Generator::new(seed);
        let mut state = random.normal();
        let mut point = |day: i64| {
            let x = 1.0 + deviation * state;
            state = correlation * state + (1.0 - correlation * correlation).sqrt() * random.normal();
            Point { day, x, error: 0.0, celsius: None, level: 0, shared: None }
        };
        (0..n as i64).map(&mut point).collect()
    }

    #[test]
    fn the_middle_of_even_and_odd_numbers() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&mut []), 0.0);
    }

    /// 400 series of 180 nights: the means of the estimates are known to about 1 %.
    #[test]
    fn deviation_and_correlation_are_those_of_the_nights() {
        for correlation in [0.0, 0.3, 0.6] {
            let (mut deviation, mut seen) = (0.0, 0.0);
            for seed in 0..400 {
                let noise = Noise::of(&nights(180, 0.03, correlation, seed), Kind::Rate);
                deviation += noise.deviation / 400.0;
                seen += noise.correlation / 400.0;
            }
            assert!((deviation / 0.03 - 1.0).abs() < 0.05, "{correlation}: {deviation}");
            assert!((seen - correlation).abs() < 0.06, "{correlation}: {seen}");
        }
    }

    #[test]
    fn the_variance_of_a_mean_is_that_of_the_series() {
        let noise = Noise { correlation: 0.5, ..Noise::assumed(Kind::Rate) };
        assert!((noise.of_mean(1) - 1.0).abs() < 1e-12);
        // Two values with correlation r: (1 + r) / 2.
        assert!((noise.of_mean(2) - 0.75).abs() < 1e-12);
        assert!((noise.of_mean(5000) * 5000.0 / inflation(0.5) - 1.0).abs() < 0.01);
    }

    #[test]
    fn weeks_are_as_alike_as_their_nights_make_them() {
        let noise = Noise { correlation: 0.6, ..Noise::assumed(Kind::Rate) };
        let covariance = |apart: i32| (0..49).map(|at: i32| 0.6f64.powi((apart + at / 7 - at % 7).abs())).sum::<f64>();
        assert!((noise.of_weeks() - covariance(7) / covariance(0)).abs() < 1e-12);
        assert!((0.17..0.18).contains(&noise.of_weeks()), "{}", noise.of_weeks());
    }

    #[test]
    fn an_effect_of_the_temperature_is_learned_and_bounded() {
        let mut random = Generator::new(5);
        let mut points = nights(180, 0.02, 0.0, 6);
        for point in &mut points {
            let celsius = 20.0 + 5.0 * random.normal();
            point.celsius = Some(celsius);
            point.x += 0.003 * (celsius - 20.0);
        }
        let noise = Noise::of(&points, Kind::Rate);
        assert!((noise.per_kelvin - 0.003).abs() < 3.0 * noise.per_kelvin_error + 0.0003, "{noise:?}");
        assert!(noise.per_kelvin_error < 0.0005, "{noise:?}");
    }

    #[test]
    fn what_loads_share_is_learned_and_bounded() {
        let mut random = Generator::new(9);
        let mut points = nights(180, 0.02, 0.0, 10);
        assert_eq!(share(&points, 0.02), 0.0, "the other loads tell nothing");
        for point in &mut points {
            let shared = random.normal();
            point.shared = Some(shared);
            point.x += 0.015 * shared;
        }
        // Ten nights of no effect lower it by 10 in 190; the error is 0.02 / √180.
        assert!((share(&points, 0.025) - 0.015 * 180.0 / 190.0).abs() < 0.0045, "{}", share(&points, 0.025));
        points.iter_mut().for_each(|point| point.x = -point.x);
        assert_eq!(share(&points, 0.025), 0.0, "what moves against the others is no share");
    }

    #[test]
    fn values_in_steps_have_the_deviation_of_their_nights() {
        let mut points = nights(180, 0.03, 0.0, 12);
        points.iter_mut().for_each(|point| point.x = (point.x / 0.05).round() * 0.05);
        // Rounding adds a variance of 0.05² / 12.
        let noise = Noise::of(&points, Kind::Rate);
        assert!((noise.deviation / 0.0333 - 1.0).abs() < 0.15 && noise.tails < 0.05, "{noise:?}");
    }

    #[test]
    fn a_break_in_is_no_noise_once_nights_follow() {
        let mut points = nights(140, 0.03, 0.0, 11);
        for (point, left) in points.iter_mut().zip((1..=30).rev()) {
            point.x += 0.2 * f64::from(left) / 30.0;
        }
        let noise = Noise::of(&points, Kind::Rate);
        // With the break-in it would be 0.042.
        assert!((noise.deviation / 0.03 - 1.0).abs() < 0.2 && noise.nights == 110, "{noise:?}");
    }
}
