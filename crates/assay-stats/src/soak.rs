//! The results of ten minutes of continuous writing: the rate before caches fill up and parts get hot, the sustained
//! rate, and whether and when the first turned into the second.
//!
//! The change point is found by the largest cumulative sum of deviations from the mean (Page 1954; Hinkley 1971). The
//! series itself shows whether the change could be chance: the residuals without the step are cut into blocks, which
//! keeps stalls and waves whole, and joined in random order many times (block permutation).

use assay_core::soak::SoakCause;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::interval::{LEVEL, student_t};
use crate::steady::{Bin, mean};

/// Length of a bin in seconds, for a soak of ten minutes; shorter ones get shorter bins.
const BIN: f64 = 10.0;
/// Least bins that a series is cut into.
const LEAST_BINS: f64 = 60.0;
/// No bin is shorter than a sample.
const LEAST_BIN: f64 = 1.0;
/// A change within this many bins of either end is not told from a start or an end.
const GUARD: usize = 3;
/// Bins that stay together when the series is shuffled.
const BLOCK: usize = 3;
/// Shuffles: the smallest p-value is 1 of 200.
const SHUFFLES: u32 = 199;
/// A change counts where it is this unlikely to be chance …
const LARGEST_P: f64 = 0.01;
/// … and the median falls by at least this share.
const LEAST_DROP: f64 = 0.10;
/// Seconds at the start that make the burst rate, and their largest share of a short soak.
const BURST: (f64, f64) = (20.0, 0.1);
/// Seconds at the end that make the sustained rate, and their largest share of a short soak.
const SUSTAINED: (f64, f64) = (120.0, 0.2);
/// A cause needs a temperature that rose by this to be heat …
const HEAT_KELVIN: f64 = 5.0;
/// … and the rate to fall by this share per kelvin.
const HEAT_SLOPE: f64 = -0.005;
/// A temperature that changed by no more than this is not the cause of anything.
const COOL_KELVIN: f64 = 3.0;

/// What a soak shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoakCurve {
    /// Bytes per second at the start, over [`SoakCurve::burst_seconds`].
    pub burst: f64,
    /// Seconds that make the burst rate.
    pub burst_seconds: f64,
    /// Bytes per second at the end, over [`SoakCurve::sustained_seconds`].
    pub sustained: f64,
    /// Seconds that make the sustained rate.
    pub sustained_seconds: f64,
    /// The fall from one level to a lower one.
    pub cliff: Option<RateFall>,
}

/// A fall that is not chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateFall {
    /// Seconds from the start.
    pub seconds: f64,
    /// Bytes moved until then.
    pub bytes: f64,
    /// Share by which the median rate fell.
    pub drop: f64,
    /// Share of shuffled series with a change as large.
    pub p_value: f64,
}

/// Judges a series of samples from its start; `None` where nothing was moved.
#[must_use]
pub fn analyse(samples: &[Bin], seed: u64) -> Option<SoakCurve> {
    let series = Series::new(samples);
    if series.bytes() <= 0.0 || series.seconds() <= 0.0 {
        return None;
    }
    let burst_seconds = BURST.0.min(series.seconds() * BURST.1);
    let sustained_seconds = SUSTAINED.0.min(series.seconds() * SUSTAINED.1);
    let end = series.seconds();
    Some(SoakCurve {
        burst: series.rate(0.0, burst_seconds),
        burst_seconds,
        sustained: series.rate(end - sustained_seconds, end),
        sustained_seconds,
        cliff: cliff(&series, seed),
    })
}

/// Bytes over time, at any moment.
struct Series {
    /// End of each sample and bytes until then, both from the start.
    points: Vec<(f64, f64)>,
}

impl Series {
    fn new(samples: &[Bin]) -> Self {
        let mut points = vec![(0.0, 0.0)];
        let mut last = (0.0, 0.0);
        for sample in samples.iter().filter(|s| s.seconds.is_finite() && s.seconds > 0.0) {
            last = (last.0 + sample.seconds, last.1 + sample.bytes as f64);
            points.push(last);
        }
        Self { points }
    }

    fn seconds(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.0)
    }

    fn bytes(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.1)
    }

    /// Bytes until `seconds`, as if a sample were even in itself.
    fn until(&self, seconds: f64) -> f64 {
        let after = self.points.partition_point(|p| p.0 < seconds);
        match (self.points.get(after.wrapping_sub(1)), self.points.get(after)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (seconds - a.0) / (b.0 - a.0),
            (None, Some(first)) => first.1,
            _ => self.bytes(),
        }
    }

    fn rate(&self, from: f64, to: f64) -> f64 {
        if to > from { (self.until(to) - self.until(from)) / (to - from) } else { 0.0 }
    }
}

fn cliff(series: &Series, seed: u64) -> Option<RateFall> {
    let length = (series.seconds() / LEAST_BINS).clamp(LEAST_BIN, BIN);
    let count = (series.seconds() / length + 1e-9) as usize;
    if count < 4 * GUARD {
        return None;
    }
    let rates: Vec<f64> = (0..count).map(|i| series.rate(i as f64 * length, (i + 1) as f64 * length)).collect();
    let (at, size) = largest_sum(&rates);
    if size <= 0.0 {
        return None;
    }
    let (before, after) = rates.split_at(at);
    let drop = 1.0 - median(after) / median(before);
    if !(drop.is_finite() && drop >= LEAST_DROP) {
        return None;
    }
    let p_value = chance(&residuals(&rates, at), size, seed);
    if p_value > LARGEST_P {
        return None;
    }
    let seconds = refine(series, at as f64 * length, length);
    Some(RateFall { seconds, bytes: series.until(seconds), drop, p_value })
}

/// Index at which the second part begins, and the size of the sum there.
fn largest_sum(values: &[f64]) -> (usize, f64) {
    let centre = mean(values);
    let mut sum = 0.0;
    let mut best = (GUARD, 0.0);
    for (i, v) in values.iter().enumerate().take(values.len().saturating_sub(GUARD)) {
        sum += v - centre;
        if i + 1 >= GUARD && f64::abs(sum) > best.1 {
            best = (i + 1, f64::abs(sum));
        }
    }
    best
}

fn residuals(values: &[f64], at: usize) -> Vec<f64> {
    let (before, after) = values.split_at(at);
    let (a, b) = (mean(before), mean(after));
    before.iter().map(|v| v - a).chain(after.iter().map(|v| v - b)).collect()
}

/// Share of shuffled series, this one included, whose largest sum is at least `size`.
fn chance(residuals: &[f64], size: f64, seed: u64) -> f64 {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |n: usize| ((u128::from(generator.next_u64()) * n as u128) >> 64) as usize;
    let mut hits = 1;
    for _ in 0..SHUFFLES {
        let mut turned = residuals.to_vec();
        turned.rotate_left(below(residuals.len().max(1)));
        let mut blocks: Vec<&[f64]> = turned.chunks(BLOCK).collect();
        for i in (1..blocks.len()).rev() {
            blocks.swap(i, below(i + 1));
        }
        if largest_sum(&blocks.concat()).1 >= size {
            hits += 1;
        }
    }
    f64::from(hits) / f64::from(SHUFFLES + 1)
}

/// The moment of the change to a sample: where two levels fit best within two bins of `about`.
fn refine(series: &Series, about: f64, length: f64) -> f64 {
    let (from, to) = ((about - 2.0 * length).max(0.0), (about + 2.0 * length).min(series.seconds()));
    let inside: Vec<(f64, f64)> = series
        .points
        .windows(2)
        .filter(|w| w[0].0 + 1e-9 >= from && w[1].0 <= to + 1e-9)
        .map(|w| (w[0].0, (w[1].1 - w[0].1) / (w[1].0 - w[0].0)))
        .collect();
    let rates: Vec<f64> = inside.iter().map(|p| p.1).collect();
    let error = |part: &[f64]| {
        let centre = mean(part);
        part.iter().map(|v| (v - centre).powi(2)).sum::<f64>()
    };
    (1..rates.len())
        .map(|i| (inside[i].0, error(&rates[..i]) + error(&rates[i..])))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(about, |best| best.0)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => 0.0,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Tells the cause from `temperatures` of the medium (seconds from the start, °C), which are in
/// order of time. Only a second soak, from cold, separates what this cannot.
#[must_use]
pub fn cause(samples: &[Bin], temperatures: &[(f64, f64)], cliff_seconds: f64) -> SoakCause {
    let at = |seconds: f64| {
        let after = temperatures.partition_point(|t| t.0 <= seconds);
        temperatures.get(after.saturating_sub(1)).map(|t| t.1)
    };
    let (Some(first), Some(then)) = (temperatures.first().map(|t| t.1), at(cliff_seconds)) else {
        return SoakCause::TemperatureUnknown;
    };
    let hottest = temperatures.iter().map(|t| t.1).fold(f64::NEG_INFINITY, f64::max);
    if then - first <= COOL_KELVIN {
        return SoakCause::Cache;
    }
    let series = Series::new(samples);
    let half = series.seconds() / 2.0;
    let pairs: Vec<(f64, f64)> = temperatures
        .windows(2)
        .filter(|w| w[0].0 >= half)
        .map(|w| (f64::midpoint(w[0].1, w[1].1), series.rate(w[0].0, w[1].0)))
        .filter(|(_, rate)| *rate > 0.0)
        .map(|(t, rate)| (t, rate.ln()))
        .collect();
    match slope_interval(&pairs) {
        Some((slope, high)) if hottest - first > HEAT_KELVIN && slope < HEAT_SLOPE && high < 0.0 => SoakCause::Heat,
        _ => SoakCause::NotSeparable,
    }
}

/// Slope of y on x with the upper end of its interval, errors correlated from one to the next
/// (Cochrane and Orcutt 1949, one step).
fn slope_interval(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let residual = |fit: (f64, f64), p: &(f64, f64)| p.1 - fit.0 - fit.1 * p.0;
    let first = line(pairs)?;
    let errors: Vec<f64> = pairs.iter().map(|p| residual(first, p)).collect();
    let squares: f64 = errors.iter().map(|e| e * e).sum();
    let rho = if squares > 0.0 {
        (errors.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / squares).clamp(-0.95, 0.95)
    } else {
        0.0
    };
    let whitened: Vec<(f64, f64)> = pairs.windows(2).map(|w| (w[1].0 - rho * w[0].0, w[1].1 - rho * w[0].1)).collect();
    let second = line(&whitened)?;
    let n = whitened.len();
    let degrees = u32::try_from(n.checked_sub(2)?).ok().filter(|d| *d >= 8)?;
    let centre = whitened.iter().map(|p| p.0).sum::<f64>() / n as f64;
    let spread: f64 = whitened.iter().map(|p| (p.0 - centre).powi(2)).sum();
    let left: f64 = whitened.iter().map(|p| residual(second, p).powi(2)).sum();
    let half = student_t(LEVEL, degrees)? * (left / f64::from(degrees) / spread).sqrt();
    Some((second.1, second.1 + half))
}

/// Intercept and slope of the least squares line.
fn line(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = pairs.len() as f64;
    let x = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let y = pairs.iter().map(|p| p.1).sum::<f64>() / n;
    let spread: f64 = pairs.iter().map(|p| (p.0 - x).powi(2)).sum();
    (pairs.len() >= 3 && spread > 1e-9).then(|| {
        let slope = pairs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
        (y - slope * x, slope)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Lehmer;

    const SECONDS: usize = 600;

    fn second(rate: f64) -> Bin {
        Bin { seconds: 1.0, operations: 1, bytes: (rate.max(0.0) * 1e6) as u64 }
    }

    /// One-second rates with a correlated noise of `spread`, and stalls of `stall` every `every`.
    fn series(
        seed: u64,
        spread: f64,
        phi: f64,
        (stall, every): (usize, usize),
        level: impl Fn(usize) -> f64,
    ) -> Vec<Bin> {
        let mut u = Lehmer::new(seed * 7919 + 17);
        let offset = (u.next() * every as f64) as usize;
        let mut noise = 0.0;
        (0..SECONDS)
            .map(|t| {
                noise = phi * noise + (1.0 - phi * phi).sqrt() * spread * u.normal();
                let stalled = every > 0 && (t + offset) % every < stall;
                second(level(t) * (1.0 + noise) * if stalled { 0.05 } else { 1.0 })
            })
            .collect()
    }

    const NONE: (usize, usize) = (0, 0);

    fn flagged(runs: u64, make: impl Fn(u64) -> Vec<Bin>) -> f64 {
        let hits = (1..=runs).filter(|s| analyse(&make(*s), *s).unwrap().cliff.is_some()).count();
        hits as f64 / runs as f64
    }

    #[test]
    fn a_steady_medium_has_no_cliff_and_one_that_stalls_hardly_ever() {
        // Shares of the reference simulation: 0, 0, .02 and .065.
        assert_eq!(flagged(100, |s| series(s, 0.015, 0.3, NONE, |_| 20.0)), 0.0);
        assert_eq!(flagged(100, |s| series(s, 0.04, 0.7, NONE, |_| 30.0)), 0.0);
        let short = flagged(100, |s| series(s, 0.05, 0.3, (3, 20), |_| 20.0));
        let long = flagged(100, |s| series(s, 0.05, 0.3, (20, 120), |_| 20.0));
        assert!(short <= 0.05 && long <= 0.10, "{short} {long}");
    }

    #[test]
    fn a_fall_of_fifteen_percent_is_always_seen_and_one_of_ten_every_second_time() {
        let fall = |share: f64| {
            flagged(100, |s| {
                let at = 150 + (s as usize * 37) % 300;
                series(s, 0.04, 0.3, NONE, move |t| if t < at { 20.0 } else { 20.0 * (1.0 - share) })
            })
        };
        let (five, ten, fifteen, thirty) = (fall(0.05), fall(0.10), fall(0.15), fall(0.30));
        assert!(five <= 0.02, "{five}");
        assert!((0.3..=0.7).contains(&ten), "{ten}");
        assert!(fifteen >= 0.97 && thirty == 1.0, "{fifteen} {thirty}");
    }

    #[test]
    fn a_cache_cliff_is_found_to_two_seconds_with_its_bytes_and_rates() {
        let mut errors: Vec<f64> = Vec::new();
        for seed in 1..=60u64 {
            let at = 60 + (seed as usize * 53) % 400;
            let samples = series(seed, 0.05, 0.3, (3, 45), |t| if t < at { 60.0 } else { 20.0 });
            let soak = analyse(&samples, seed).unwrap();
            let cliff = soak.cliff.unwrap();
            errors.push((cliff.seconds - at as f64).abs());
            let written: f64 = samples[..at].iter().map(|b| b.bytes as f64).sum();
            assert!((cliff.bytes / written - 1.0).abs() < 0.25, "{} {written}", cliff.bytes);
            assert!((cliff.drop - 2.0 / 3.0).abs() < 0.06 && cliff.p_value <= 0.01, "{cliff:?}");
            assert!((soak.sustained / 18.7e6 - 1.0).abs() < 0.1, "{}", soak.sustained);
            assert!(soak.burst / soak.sustained > 2.4 && (soak.burst_seconds, soak.sustained_seconds) == (20.0, 120.0));
        }
        errors.sort_by(f64::total_cmp);
        assert!(errors[30] <= 2.0, "median {}", errors[30]);
    }

    #[test]
    fn a_rise_is_no_cliff_and_a_short_soak_is_judged_by_shorter_bins() {
        let rising = series(4, 0.02, 0.3, NONE, |t| if t < 300 { 20.0 } else { 30.0 });
        assert_eq!(analyse(&rising, 4).unwrap().cliff, None);
        let short: Vec<Bin> = series(5, 0.03, 0.3, NONE, |t| if t < 28 { 40.0 } else { 12.0 })[..70].to_vec();
        let soak = analyse(&short, 5).unwrap();
        assert!((soak.cliff.unwrap().seconds - 28.0).abs() <= 1.0, "{soak:?}");
        assert!((soak.burst / 40e6 - 1.0).abs() < 0.05 && (soak.sustained / 12e6 - 1.0).abs() < 0.05, "{soak:?}");
        assert_eq!((soak.burst_seconds, soak.sustained_seconds), (7.0, 14.0));
    }

    #[test]
    fn nothing_moved_is_no_soak_and_a_handful_of_samples_has_rates_only() {
        assert_eq!(analyse(&[], 1), None);
        assert_eq!(analyse(&[second(0.0); 30], 1), None);
        let soak = analyse(&[second(5.0); 8], 1).unwrap();
        assert!((soak.burst - 5e6).abs() < 1.0 && (soak.sustained - 5e6).abs() < 1.0 && soak.cliff.is_none());
        let dying: Vec<Bin> = (0..60).map(|t| second(if t < 30 { 10.0 } else { 0.0 })).collect();
        assert_eq!(analyse(&dying, 1).unwrap().cliff.unwrap().drop, 1.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_answer_and_the_unit_does_not_matter() {
        let samples = series(9, 0.05, 0.3, (3, 20), |t| if t < 200 { 30.0 } else { 24.0 });
        let (a, b) = (analyse(&samples, 3), analyse(&samples, 3));
        assert_eq!(a, b);
        let doubled: Vec<Bin> = samples.iter().map(|s| Bin { bytes: s.bytes * 2, ..*s }).collect();
        let (a, b) = (a.unwrap().cliff.unwrap(), analyse(&doubled, 3).unwrap().cliff.unwrap());
        assert_eq!((a.seconds, a.p_value), (b.seconds, b.p_value));
        assert!((a.drop - b.drop).abs() < 1e-9 && (b.bytes / a.bytes - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_cause_is_named_where_temperatures_can_tell_it() {
        let step = series(2, 0.02, 0.3, NONE, |t| if t < 200 { 40.0 } else { 20.0 });
        let cool: Vec<(f64, f64)> = (0..600).map(|t| (f64::from(t), 41.0 + f64::from(t) / 600.0)).collect();
        assert_eq!(cause(&step, &cool, 200.0), SoakCause::Cache);
        assert_eq!(cause(&step, &[], 200.0), SoakCause::TemperatureUnknown);
        // Warmer by the time of the fall, and level afterwards: either could be it.
        let warm: Vec<(f64, f64)> = (0..600).map(|t| (f64::from(t), 40.0 + f64::from(t.min(200)) / 10.0)).collect();
        assert_eq!(cause(&step, &warm, 200.0), SoakCause::NotSeparable);
        // A rate that follows the temperature up and down: 1 % per kelvin.
        let wave = |t: f64| 45.0 + 15.0 * (1.0 - (-t / 100.0).exp()) + 4.0 * (t / 25.0).sin();
        let hot: Vec<(f64, f64)> = (0..600).map(|t| (f64::from(t), wave(f64::from(t)))).collect();
        let following = series(3, 0.01, 0.3, NONE, |t| 40.0 * (-0.01 * (wave(t as f64 + 0.5) - 45.0)).exp());
        assert_eq!(cause(&following, &hot, 150.0), SoakCause::Heat);
    }
}
