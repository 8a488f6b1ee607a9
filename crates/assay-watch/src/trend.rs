//! A slow change: Theil and Sen's slope over medians of weeks, with a moving-block bootstrap.

use assay_stats::random::Generator;
use serde::{Deserialize, Serialize};

use crate::event::Change;
use crate::noise::{Noise, Point, mean_celsius, median};
use crate::step::LASTING;

/// Nights of a week that has a median, at least.
const LEAST_NIGHTS: usize = 3;
/// Weeks that a trend is drawn through, at least and at most: two years.
const LEAST_WEEKS: usize = 8;
/// See [`LEAST_WEEKS`].
pub(crate) const MOST_WEEKS: usize = 104;
/// Numbers of newest weeks that a slow change is looked for in.
const SPANS: [usize; 5] = [13, 17, 26, 52, MOST_WEEKS];
/// Length of the blocks in weeks.
const BLOCK: usize = 4;
/// Draws of the bootstrap.
const DRAWS: usize = 199;
/// How much the error of a median is larger than that of a mean.
const OF_MEDIAN: f64 = 1.2;
/// How much higher the threshold is for few weeks: this many over their number.
const FEW: f64 = 2.0;
/// Nights wider than this many times the least change are so wide that many spans reach it by chance; where they are alike, too,
/// the threshold is higher.
const WIDE: f64 = 1.3;
const DAYS_OF_YEAR: f64 = 365.25;

/// The nights of a week.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Week {
    /// Its middle, in days.
    pub(crate) day: f64,
    /// Median of the logarithms, more is worse.
    pub(crate) x: f64,
    /// Mean temperature.
    pub(crate) celsius: Option<f64>,
    /// Level of its nights.
    pub(crate) level: u32,
}

impl Week {
    /// From its nights; none of too few.
    pub(crate) fn of(nights: &[Point]) -> Option<Self> {
        let (first, last) = (nights.first()?, nights.last()?);
        let mut values: Vec<f64> = nights.iter().map(|night| night.x).collect();
        (nights.len() >= LEAST_NIGHTS).then(|| Self {
            day: (first.day + last.day) as f64 / 2.0,
            x: median(&mut values),
            celsius: mean_celsius(nights),
            level: last.level,
        })
    }
}

/// The trend of a figure, as a ratio a year.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// Ratio of a figure to that of a year before, by this trend; the interval is that of a moving-block bootstrap.
    pub per_year: Change,
    /// Weeks that it rests on.
    pub weeks: usize,
    /// Days from the first to the last of them.
    pub days: f64,
}

/// A slow change that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slope {
    /// By how much the logarithm changed over all weeks; above zero is worse.
    pub(crate) log: f64,
    /// Standard error of that.
    pub(crate) error: f64,
    /// The first week.
    pub(crate) first_day: i64,
    /// The level there.
    pub(crate) before: f64,
}

/// A place on the line: its time, its value, and its level; lines through levels are parallel.
type Place = (f64, f64, u32);

/// Median of the slopes through all pairs of places with the same level (Theil 1950, Sen 1968).
fn theil_sen(places: &[Place]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(places.len() * places.len() / 2);
    for (at, (t, x, level)) in places.iter().enumerate() {
        let earlier = places[..at].iter().filter(|(before, _, other)| other == level && before < t);
        slopes.extend(earlier.map(|(before, y, _)| (x - y) / (t - before)));
    }
    (!slopes.is_empty()).then(|| median(&mut slopes))
}

fn places(weeks: &[Week], noise: &Noise) -> Vec<Place> {
    let with: Vec<f64> = weeks.iter().filter_map(|week| week.celsius).collect();
    let reference = (!with.is_empty()).then(|| with.iter().sum::<f64>() / with.len() as f64);
    let adjusted = |week: &Week| match (week.celsius, reference) {
        (Some(celsius), Some(reference)) => week.x - noise.per_kelvin * (celsius - reference),
        _ => week.x,
    };
    weeks.iter().map(|week| (week.day, adjusted(week), week.level)).collect()
}

/// Middle of what is left of each level without the slope.
fn middles(places: &[Place], slope: f64) -> Vec<f64> {
    let mut middles = Vec::with_capacity(places.len());
    for level in places.chunk_by(|a, b| a.2 == b.2) {
        let mut rest: Vec<f64> = level.iter().map(|(t, x, _)| x - slope * t).collect();
        let middle = median(&mut rest);
        middles.extend(level.iter().map(|_| middle));
    }
    middles
}

/// Slopes of series whose residuals were drawn again in blocks (Künsch 1989), sorted.
fn drawn(places: &[Place], slope: f64) -> Vec<f64> {
    let middles = middles(places, slope);
    let residuals: Vec<f64> = places.iter().zip(&middles).map(|((t, x, _), middle)| x - slope * t - middle).collect();
    let mut random = Generator::new(places.len() as u64);
    let starts = residuals.len().saturating_sub(BLOCK) + 1;
    let mut slopes: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let mut again = Vec::with_capacity(places.len());
            while again.len() < places.len() {
                let start = random.below(starts);
                let block = residuals[start..].iter().take(BLOCK);
                for residual in block {
                    let Some(((t, _, level), middle)) = places.get(again.len()).zip(middles.get(again.len())) else {
                        break;
                    };
                    again.push((*t, slope * t + middle + residual, *level));
                }
            }
            theil_sen(&again)
        })
        .collect();
    slopes.sort_by(f64::total_cmp);
    slopes
}

/// The error of the slope that the noise alone leaves, without a bootstrap.
fn plain_error(places: &[Place], noise: &Noise) -> f64 {
    let mut squares = 0.0;
    for level in places.chunk_by(|a, b| a.2 == b.2) {
        let mean = level.iter().map(|(t, ..)| t).sum::<f64>() / level.len() as f64;
        squares += level.iter().map(|(t, ..)| (t - mean).powi(2)).sum::<f64>();
    }
    let of_week = noise.deviation.powi(2) * noise.of_mean(7) * OF_MEDIAN;
    if squares > 0.0 { (of_week / squares).sqrt() } else { f64::INFINITY }
}

/// What temperature may have added to the slope.
fn error_of_heat(weeks: &[Week], noise: &Noise) -> f64 {
    let heat: Vec<Place> = weeks.iter().filter_map(|week| Some((week.day, week.celsius?, week.level))).collect();
    theil_sen(&heat).map_or(0.0, |slope| slope * noise.per_kelvin_error)
}

/// Whether the figure became slowly worse by `least` over some of the newest weeks; the clearest change.
pub(crate) fn slope(weeks: &[Week], noise: &Noise, least: f64, threshold: f64) -> Option<Slope> {
    let spans = SPANS.into_iter().enumerate().take_while(|(at, _)| *at == 0 || weeks.len() > SPANS[at - 1]);
    let found =
        spans.filter_map(|(_, span)| of_span(&weeks[weeks.len().saturating_sub(span)..], noise, least, threshold));
    found.max_by(|a, b| (a.log / a.error).total_cmp(&(b.log / b.error)))
}

/// By how much the error of a slope is larger where nights are alike, since weeks are, too.
fn of_alike(noise: &Noise) -> f64 {
    if noise.correlation > LASTING { (1.0 + 2.0 * noise.of_weeks()).sqrt() } else { 1.0 }
}

fn of_span(weeks: &[Week], noise: &Noise, least: f64, threshold: f64) -> Option<Slope> {
    if weeks.len() < LEAST_WEEKS {
        return None;
    }
    let alike = if noise.deviation > WIDE * least { of_alike(noise) } else { 1.0 };
    let threshold = threshold * (1.0 + FEW / weeks.len() as f64) * alike;
    let places = places(weeks, noise);
    let slope = theil_sen(&places)?;
    let days = weeks.last()?.day - weeks.first()?.day;
    let heat = error_of_heat(weeks, noise);
    let plain = plain_error(&places, noise).hypot(heat);
    if slope * days < least || slope < threshold * plain {
        return None;
    }
    let drawn = drawn(&places, slope);
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    let variance = drawn.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / drawn.len().max(1) as f64;
    let error = variance.sqrt().hypot(heat).max(plain);
    let before = middles(&places, slope).last()? + slope * weeks.first()?.day;
    (slope >= threshold * error).then(|| Slope {
        log: slope * days,
        error: error * days,
        first_day: weeks[0].day as i64,
        before,
    })
}

/// The trend, for people: `sign` turns it into that of the figure.
pub(crate) fn trend(weeks: &[Week], noise: &Noise, sign: impl Fn(f64) -> f64) -> Option<Trend> {
    let places = places(weeks, noise);
    let slope = theil_sen(&places).filter(|_| weeks.len() >= LEAST_WEEKS)?;
    let drawn = drawn(&places, slope);
    let quantile = |share: f64| drawn.get(((drawn.len() - 1) as f64 * share).round() as usize).copied();
    let year = |slope: f64| (sign(slope) * DAYS_OF_YEAR).exp();
    // About the slope, as far as the draws went from it, and never narrower than the noise of the nights alone.
    let plain = 1.96 * plain_error(&places, noise).hypot(error_of_heat(weeks, noise));
    let (low, high) = (quantile(0.025)?.min(slope - plain), quantile(0.975)?.max(slope + plain));
    let (one, other) = (year(low), year(high));
    Some(Trend {
        per_year: Change { ratio: year(slope), low: one.min(other), high: one.max(other) },
        weeks: weeks.len(),
        days: weeks.last()?.day - weeks.first()?.day,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::night::Kind;

    fn weeks(values: impl Iterator<Item = (f64, u32)>) -> Vec<Week> {
        let week = |(at, (x, level)): (usize, (f64, u32))| Week { day: at as f64 * 7.0, x, celsius: None, level };
        values.enumerate().map(week).collect()
    }

    #[test]
    fn the_slope_is_the_median_of_all_pairs_and_levels_are_apart() {
        let places = [(0.0, 0.0, 0), (1.0, 1.0, 0), (2.0, 2.0, 0), (3.0, 90.0, 0)];
        assert_eq!(theil_sen(&places), Some((1.0 + 30.0) / 2.0));
        // A jump between levels is no slope.
        let places = [(0.0, 0.0, 0), (1.0, 1.0, 0), (2.0, 50.0, 1), (3.0, 51.0, 1)];
        assert_eq!(theil_sen(&places), Some(1.0));
        assert_eq!(theil_sen(&places[..1]), None);
    }

    #[test]
    fn the_error_of_a_slope_is_that_of_weeks_that_are_alike() {
        // Of 4,000 series: the slope through the means of 26 weeks of nights that are alike by 0.6.
        let noise = Noise { deviation: 1.0, correlation: 0.6, ..Noise::assumed(Kind::Rate) };
        let (mut random, mut squares) = (Generator::new(8), 0.0);
        let mut stated = 0.0;
        for _ in 0..4000 {
            let mut night = random.normal();
            let mut week = |at: i32| {
                let mut mean = 0.0;
                for _ in 0..7 {
                    night = 0.6 * night + 0.8 * random.normal();
                    mean += night / 7.0;
                }
                (f64::from(at) * 7.0, mean, 0)
            };
            let places: Vec<Place> = (0..26).map(&mut week).collect();
            squares += theil_sen(&places).unwrap().powi(2) / 4000.0;
            stated = plain_error(&places, &noise) * of_alike(&noise);
        }
        // Medians of weeks have up to 1.2 times the variance of means; lines by pairs have 1.05 times that of least squares.
        assert!((0.95..1.1).contains(&(stated / squares.sqrt())), "{stated} {}", squares.sqrt());
    }

    #[test]
    fn of_wide_nights_that_are_alike_more_is_needed() {
        let least = 0.05;
        let found = |of_least: f64, correlation: f64| {
            let noise = Noise { deviation: of_least * least, correlation, ..Noise::assumed(Kind::Rate) };
            let mut weeks = weeks((0..26).map(|_| (0.0, 0)));
            let places = places(&weeks, &noise);
            // A line that exceeds the threshold of narrow nights by 8 %.
            let slope = 1.08 * 4.0 * (1.0 + FEW / 26.0) * plain_error(&places, &noise);
            weeks.iter_mut().for_each(|week| week.x = slope * week.day);
            of_span(&weeks, &noise, least, 4.0).is_some()
        };
        assert!(found(WIDE - 0.01, 0.6) && found(WIDE + 0.01, LASTING) && !found(WIDE + 0.01, 0.6));
    }

    #[test]
    fn a_slow_fall_is_found_and_a_jump_between_levels_is_not() {
        let noise = Noise { deviation: 0.02, nights: 100, ..Noise::assumed(Kind::Rate) };
        let falling = weeks((0..30).map(|week| (0.004 * f64::from(week), 0)));
        let found = slope(&falling, &noise, 0.05, 3.5).unwrap();
        assert!((found.log - 0.116).abs() < 1e-6 && found.first_day == 0, "{found:?}");
        let jump = weeks((0..30).map(|week| if week < 15 { (0.0, 0) } else { (0.5, 1) }));
        assert_eq!(slope(&jump, &noise, 0.05, 3.5), None);
        let trend = trend(&falling, &noise, |log| -log).unwrap();
        assert!(trend.per_year.low < trend.per_year.ratio && trend.per_year.ratio < trend.per_year.high);
        assert!((trend.per_year.ratio - (-0.004f64 / 7.0 * DAYS_OF_YEAR).exp()).abs() < 1e-9);
    }
}
