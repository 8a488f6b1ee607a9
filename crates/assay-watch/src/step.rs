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
pub(crate) const LEAST_NOISE: usize = 20;
/// The most deviations that one night counts in a window of `nights`, so that two bad nights of three are no step. Where nights
/// are `regular`, the first night of a short window counts in full: it tells most of a step.
fn far(nights: usize, regular: bool) -> f64 {
    match nights {
        ..=SHORT if regular => FARTHEST,
        ..=3 => 3.0,
        4 => 3.5,
        5..=7 => 4.5,
        _ => 3.5,
    }
}
/// Nights before count as at most this many deviations from their middle.
const FAR_BEFORE: f64 = 2.5;
/// No night is farther from the level before than this, in deviations.
const FARTHEST: f64 = 6.0;
/// More than this share of the nights have to be beyond [`HALF`] of the change, and of three nights all.
const HOLDS: f64 = 0.6;
/// See [`HOLDS`].
const HALF: f64 = 0.5;
/// The newest night has to be beyond this share of the change: what is over is no step.
const NEWEST: f64 = 0.25;
/// Where nights resemble each other more than this, an excursion lasts: four nights have to be beyond.
pub(crate) const LASTING: f64 = 0.45;
/// See [`LASTING`].
const LASTING_NIGHTS: usize = 4;
/// Nights of a short window, and the deviations of a night that its step has to be large. Smaller steps take longer, and have
/// a threshold that is higher by the factor.
const SHORT: usize = 7;
/// See [`SHORT`].
const LEAST_DEVIATIONS: f64 = 2.0;
/// See [`SHORT`].
const LONG_FACTOR: f64 = 1.15;
/// How much higher the threshold is while the noise is estimated from few nights: the first over their number *n*, plus the
/// second over *n*².
const FEW: (f64, f64) = (4.0, 100.0);
/// How much higher it is where nights resemble each other: this share for each unit of the third power of the correlation, as
/// high as it may be by one standard error; and the same where nights are regular.
const ALIKE: (f64, f64) = (1.9, 0.5);
/// See [`ALIKE`]; where the figures of a medium tell their correlation together, so that it is better known.
const ALIKE_TOGETHER: (f64, f64) = (1.0, 0.25);
/// Nights are regular where the figure has this number of them and its deviation is at most this share of the least change.
const REGULAR: (usize, f64) = (60, 0.65);
/// How much higher it is for heavy tails: this share for each unit of [`Noise::tails`].
const HEAVY: f64 = 1.3;
/// The wider nights vary beside the least change, the more windows can reach it: the threshold rises by `.0` while the
/// deviation rises from `.1` to `.2` of the least change.
const WIDE: (f64, f64, f64) = (1.7, 0.7, 1.3);
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

/// What is known of the noise from all figures of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Known {
    /// They show no nights that are far off.
    pub(crate) no_rare_nights: bool,
    /// They tell together how alike nights are.
    pub(crate) together: bool,
}

/// The clearest step within the newest `nights` of a level, of at least the size `least` in either direction.
pub(crate) fn step(nights: &[Point], noise: &Noise, least: f64, threshold: f64, known: Known) -> Option<Step> {
    if noise.nights < LEAST_NOISE {
        return None;
    }
    let (enough, narrow) = REGULAR;
    let plain = known.no_rare_nights && noise.nights >= enough && noise.deviation <= narrow * least;
    let regular = plain && noise.correlation > LASTING;
    let alike = if known.together { ALIKE_TOGETHER } else { ALIKE };
    let threshold = threshold_for(noise, least, threshold, if regular { alike.1 } else { alike.0 });
    let level = Nights::of(nights, noise, regular);
    let windows = WINDOWS.into_iter().take_while(|window| window + LEAST_BEFORE <= nights.len());
    let found = windows.filter_map(|window| level.split(nights.len() - window, least, threshold));
    found.max_by(|a, b| a.excess.total_cmp(&b.excess))
}

/// The threshold for this noise; `plain` is that of narrow, independent, normal nights, `alike` one of [`ALIKE`].
fn threshold_for(noise: &Noise, least: f64, plain: f64, alike: f64) -> f64 {
    let (most, from, to) = WIDE;
    let wide = most * ((noise.deviation / least - from) / (to - from)).clamp(0.0, 1.0);
    let nights = noise.nights as f64;
    let few = FEW.0 / nights + FEW.1 / nights.powi(2);
    // Bartlett 1946.
    let correlation = noise.correlation + ((1.0 - noise.correlation.powi(2)) / nights).sqrt();
    (plain + wide) * (1.0 + few + alike * correlation.powi(3) + HEAVY * noise.tails)
}

/// The nights of a level as at one temperature.
struct Nights<'a> {
    points: &'a [Point],
    noise: &'a Noise,
    values: Vec<f64>,
    /// Middle of the level, about which nights before a step are bounded.
    middle: f64,
    regular: bool,
}

impl<'a> Nights<'a> {
    fn of(points: &'a [Point], noise: &'a Noise, regular: bool) -> Self {
        let celsius = mean_celsius(points);
        let values: Vec<f64> = points.iter().map(|point| noise.adjusted(point, celsius)).collect();
        let middle = median(&mut values.clone());
        Self { points, noise, values, middle, regular }
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
        let warmer = match (mean_celsius(points), mean_celsius(&self.points[from..at])) {
            (Some(now), Some(before)) => now - before,
            _ => 0.0,
        };
        let fit = self.fit(at, before_mean);
        let of_before = (inflation(noise.correlation) / before.len() as f64).min(1.0);
        let of_heat = (noise.per_kelvin_error * warmer / noise.deviation).powi(2);
        let error = (1.0 / fit.weight + fit.lever.powi(2) * of_before + of_heat).sqrt();
        let excess = fit.size.abs() / error / threshold;
        if excess < 1.0 {
            return None;
        }
        let mut changes: Vec<f64> = window.iter().map(|x| x - before_mean).collect();
        let log = median(&mut changes);
        let beyond = |x: &f64, share: f64| (x - before_mean) * log.signum() >= log.abs() * share;
        let held = window.iter().filter(|x| beyond(x, HALF)).count();
        let least_nights = if noise.correlation > LASTING { LASTING_NIGHTS } else { 3 };
        let enough = ((window.len() as f64 * HOLDS) as usize + 1).max(least_nights);
        let holds = held >= enough && window.last().is_some_and(|x| beyond(x, NEWEST));
        let first = window.iter().position(|x| beyond(x, HALF)).unwrap_or_default();
        (holds && log.abs() >= least && log * fit.size > 0.0).then(|| Step {
            first_day: points[first].day,
            log,
            error: error * noise.deviation * OF_MEDIAN,
            before: before_mean,
            excess,
        })
    }

    /// The step that begins at the night `at`, by generalised least squares: of each night counts what the night before it does
    /// not tell, bounded.
    fn fit(&self, at: usize, before_mean: f64) -> Fit {
        let noise = self.noise;
        let far = far(self.values.len() - at, self.regular);
        let residual = |of: usize| ((self.values[of] - before_mean) / noise.deviation).clamp(-FARTHEST, FARTHEST);
        let (mut sum, mut weight, mut lever) = (0.0, 0.0, 0.0);
        for night in at..self.values.len() {
            let gap = (self.points[night].day - self.points[night - 1].day).clamp(1, 60) as i32;
            let told = noise.correlation.powi(gap);
            let excess = 1.0 / noise.weight(&self.points[night]) - 1.0;
            let deviation = (1.0 - told * told + excess).sqrt();
            let news = ((residual(night) - told * residual(night - 1)) / deviation).clamp(-far, far);
            let change = if night == at { 1.0 } else { 1.0 - told };
            let of_step = change / deviation;
            sum += of_step * news;
            weight += of_step * of_step;
            lever += of_step * (1.0 - told) / deviation;
        }
        Fit { size: sum / weight, weight, lever: lever / weight }
    }
}

/// A step as it fits best, in deviations of a night.
struct Fit {
    size: f64,
    /// One over its variance, if the level before were known.
    weight: f64,
    /// By how much it moves where the level before moves by one.
    lever: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::night::Kind;

    fn points(values: impl Iterator<Item = f64>) -> Vec<Point> {
        values
            .enumerate()
            .map(|(day, x)| Point { day: day as i64, x, error: 0.0, celsius: None, level: 0, shared: None })
            .collect()
    }

    fn noise() -> Noise {
        Noise { deviation: 0.03, correlation: 0.0, nights: 60, ..Noise::assumed(Kind::Rate) }
    }

    #[test]
    fn a_step_is_placed_at_its_first_night_and_two_nights_are_none() {
        let all = points((0..64).map(|day| if day >= 60 { 0.12 } else { 0.0 }));
        let found = step(&all, &noise(), 0.05, 4.5, Known::default()).unwrap();
        assert_eq!(found.first_day, 60);
        assert!((found.log - 0.12).abs() < 1e-9, "{found:?}");
        let all = points((0..62).map(|day| if day >= 60 { 5.0 } else { 0.0 }));
        assert_eq!(step(&all, &noise(), 0.05, 4.5, Known::default()), None);
    }

    #[test]
    fn a_small_step_is_none_however_sure_it_is() {
        let all = points((0..90).map(|day| if day >= 60 { 0.04 } else { 0.0 }));
        let sure = Noise { deviation: 0.005, ..noise() };
        assert!(step(&all, &sure, 0.03, 4.5, Known::default()).is_some());
        assert_eq!(step(&all, &sure, 0.05, 4.5, Known::default()), None);
    }

    #[test]
    fn a_correlation_that_figures_tell_together_needs_less() {
        let alike = Noise { correlation: 0.6, ..noise() };
        let all = points((0..65).map(|day| if day >= 60 { 0.13 } else { 0.0 }));
        let excess = |known| step(&all, &alike, 0.05, 3.0, known).map_or(0.0, |step| step.excess);
        let of = |no_rare_nights, together| excess(Known { no_rare_nights, together });
        assert!(of(false, false) > 1.0 && of(false, true) > 1.2 * of(false, false));
        assert!(of(true, true) > 1.02 * of(true, false) && of(true, false) > of(false, true));
    }

    #[test]
    fn what_got_better_is_found_with_its_sign() {
        let all = points((0..70).map(|day| if day >= 65 { -0.2 } else { 0.0 }));
        assert!(step(&all, &noise(), 0.05, 4.5, Known::default()).unwrap().log < -0.1);
    }

    #[test]
    fn a_shock_that_dies_away_is_no_step_and_missed_nights_are_counted() {
        let alike = Noise { correlation: 0.6, ..noise() };
        let shock = |day: i32| if day >= 60 { 0.18 * 0.6f64.powi(day - 60) } else { 0.0 };
        for last in 63..75 {
            assert_eq!(step(&points((0..last).map(shock)), &alike, 0.05, 4.2, Known::default()), None, "night {last}");
        }
        // Each of five nights that follow nights that were missed tells more than if it followed at once.
        let mut apart = points((0..65).map(|day| if day >= 60 { 0.11 } else { 0.0 }));
        let near = step(&apart, &alike, 0.05, 3.0, Known::default()).unwrap();
        for (at, point) in apart.iter_mut().enumerate().skip(60) {
            point.day += 3 * (at as i64 - 60);
        }
        assert!(step(&apart, &alike, 0.05, 3.0, Known::default()).unwrap().excess > near.excess);
    }
}
