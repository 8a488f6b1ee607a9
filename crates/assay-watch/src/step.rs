//! A step: the newest nights against those before them, by a generalised likelihood ratio over where it may be.

use crate::noise::{Noise, Point, inflation, mean_celsius, median};

/// Numbers of newest nights that may be beyond a step. Two bad nights are none.
pub(crate) const WINDOWS: [usize; 8] = [3, 4, 5, 7, 10, 14, 21, 30];
/// Nights before it that a step is measured against, at most.
const BEFORE: usize = 60;
/// The same, at least.
const LEAST_BEFORE: usize = 10;
/// Nights that a test looks at.
pub(crate) const LOOKED_AT: usize = BEFORE + WINDOWS[WINDOWS.len() - 1];
/// Nights that the noise has to rest on.
const LEAST_NOISE: usize = 20;
/// The most deviations that one night counts in a window of `nights`, so that two bad nights of three are no step.
fn far(nights: usize) -> f64 {
    match nights {
        ..=3 => 3.0,
        4 => 3.5,
        _ => 5.0,
    }
}
/// Nights before count as at most this many deviations from their middle.
const FAR_BEFORE: f64 = 2.5;
/// More than this share of the nights have to be beyond half of the change, and of three nights all.
const HOLDS: f64 = 0.6;
/// Where nights resemble each other more than this, an excursion lasts: five nights have to be beyond.
const LASTING: f64 = 0.45;
/// Nights of a short window, and the deviations of a night that its step has to be large. Smaller steps take longer, and have
/// a threshold that is higher by the factor.
const SHORT: usize = 7;
/// See [`SHORT`].
const LEAST_DEVIATIONS: f64 = 2.0;
/// See [`SHORT`].
const LONG_FACTOR: f64 = 1.1;
/// How much higher the threshold is while the noise is estimated from few nights: the first over their number *n*, plus the
/// second over *n*².
const FEW: (f64, f64) = (3.0, 60.0);
/// How much higher it is where nights resemble each other: this share for each unit of the third power of the correlation.
const ALIKE: f64 = 1.7;
/// How much higher it is for heavy tails: this share for each unit of [`Noise::tails`].
const HEAVY: f64 = 1.0;
/// The wider nights vary beside the least change, the more windows can reach it: the threshold rises by `.0` while the
/// deviation rises from `.1` to `.2` of the least change.
const WIDE: (f64, f64, f64) = (0.8, 0.7, 1.5);
/// How much the error of a median is larger than that of a mean.
const OF_MEDIAN: f64 = 1.25;

/// A step that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// Its first night.
    pub(crate) first_day: i64,
    /// By how much the logarithm changed; above zero is worse.
    pub(crate) log: f64,
    /// Standard error of that.
    pub(crate) error: f64,
    /// The level before.
    pub(crate) before: f64,
    /// The change over its error, over the threshold.
    pub(crate) excess: f64,
}

/// The clearest step within the newest `nights` of a level, of at least the size `least` in either direction.
pub(crate) fn step(nights: &[Point], noise: &Noise, least: f64, threshold: f64) -> Option<Step> {
    if noise.nights < LEAST_NOISE {
        return None;
    }
    let threshold = threshold_for(noise, least, threshold);
    let level = Nights::of(nights, noise);
    let windows = WINDOWS.into_iter().take_while(|window| window + LEAST_BEFORE <= nights.len());
    let found = windows.filter_map(|window| level.split(nights.len() - window, least, threshold));
    found.max_by(|a, b| a.excess.total_cmp(&b.excess))
}

/// The threshold for this noise; `plain` is that of narrow, independent, normal nights.
fn threshold_for(noise: &Noise, least: f64, plain: f64) -> f64 {
    let (most, from, to) = WIDE;
    let wide = most * ((noise.deviation / least - from) / (to - from)).clamp(0.0, 1.0);
    let nights = noise.nights as f64;
    let few = FEW.0 / nights + FEW.1 / nights.powi(2);
    (plain + wide) * (1.0 + few + ALIKE * noise.correlation.powi(3) + HEAVY * noise.tails)
}

/// The nights of a level as at one temperature.
struct Nights<'a> {
    points: &'a [Point],
    noise: &'a Noise,
    values: Vec<f64>,
    /// Middle of the level, about which nights before a step are bounded.
    middle: f64,
}

impl<'a> Nights<'a> {
    fn of(points: &'a [Point], noise: &'a Noise) -> Self {
        let celsius = mean_celsius(points);
        let values: Vec<f64> = points.iter().map(|point| noise.adjusted(point, celsius)).collect();
        let middle = median(&mut values.clone());
        Self { points, noise, values, middle }
    }

    /// The nights from `at` on against those before; none where they do not differ enough.
    fn split(&self, at: usize, least: f64, threshold: f64) -> Option<Step> {
        let noise = self.noise;
        let from = at.saturating_sub(BEFORE);
        let before = &self.values[from..at];
        let far_before = FAR_BEFORE * noise.deviation;
        let bounded = before.iter().map(|x| (x - self.middle).clamp(-far_before, far_before)).sum::<f64>();
        let before_mean = self.middle + bounded / before.len() as f64;
        let short = self.values.len() - at <= SHORT;
        let least = if short { least.max(LEAST_DEVIATIONS * noise.deviation) } else { least };
        let threshold = if short { threshold } else { threshold * LONG_FACTOR };
        let (window, points) = (&self.values[at..], &self.points[at..]);
        let far = far(window.len());
        let residual =
            |(x, point): (&f64, &Point)| ((x - before_mean) / noise.deviation).clamp(-far, far) * noise.weight(point);
        let mean = window.iter().zip(points).map(residual).sum::<f64>() / window.len() as f64;
        let warmer = match (mean_celsius(points), mean_celsius(&self.points[from..at])) {
            (Some(now), Some(before)) => now - before,
            _ => 0.0,
        };
        let of_before = (inflation(noise.correlation) / before.len() as f64).min(1.0);
        let of_heat = (noise.per_kelvin_error * warmer / noise.deviation).powi(2);
        let error = (noise.of_mean(window.len()) + of_before + of_heat).sqrt();
        let excess = mean.abs() / error / threshold;
        if excess < 1.0 {
            return None;
        }
        let mut changes: Vec<f64> = window.iter().map(|x| x - before_mean).collect();
        let log = median(&mut changes);
        let beyond = |x: &f64| (x - before_mean) * log.signum() >= log.abs() / 2.0;
        let held = window.iter().filter(|x| beyond(x)).count();
        let least_nights = if noise.correlation > LASTING { 5 } else { 3 };
        let enough = ((window.len() as f64 * HOLDS) as usize + 1).max(least_nights);
        let holds = held >= enough && window.last().is_some_and(beyond);
        let first = window.iter().position(beyond).unwrap_or_default();
        (holds && log.abs() >= least).then(|| Step {
            first_day: points[first].day,
            log,
            error: error * noise.deviation * OF_MEDIAN,
            before: before_mean,
            excess,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::night::Kind;

    fn points(values: impl Iterator<Item = f64>) -> Vec<Point> {
        values.enumerate().map(|(day, x)| Point { day: day as i64, x, error: 0.0, celsius: None, level: 0 }).collect()
    }

    fn noise() -> Noise {
        Noise { deviation: 0.03, correlation: 0.0, nights: 60, ..Noise::assumed(Kind::Rate) }
    }

    #[test]
    fn a_step_is_placed_at_its_first_night_and_two_nights_are_none() {
        let all = points((0..64).map(|day| if day >= 60 { 0.12 } else { 0.0 }));
        let found = step(&all, &noise(), 0.05, 4.5).unwrap();
        assert_eq!(found.first_day, 60);
        assert!((found.log - 0.12).abs() < 1e-9, "{found:?}");
        let all = points((0..62).map(|day| if day >= 60 { 5.0 } else { 0.0 }));
        assert_eq!(step(&all, &noise(), 0.05, 4.5), None);
    }

    #[test]
    fn a_small_step_is_none_however_sure_it_is() {
        let all = points((0..90).map(|day| if day >= 60 { 0.04 } else { 0.0 }));
        let sure = Noise { deviation: 0.005, ..noise() };
        assert!(step(&all, &sure, 0.03, 4.5).is_some());
        assert_eq!(step(&all, &sure, 0.05, 4.5), None);
    }

    #[test]
    fn what_got_better_is_found_with_its_sign() {
        let all = points((0..70).map(|day| if day >= 65 { -0.2 } else { 0.0 }));
        assert!(step(&all, &noise(), 0.05, 4.5).unwrap().log < -0.1);
    }
}
