//! The nights of one figure of one medium.

use serde::{Deserialize, Serialize};

use crate::event::{Change, Manner, Moved};
use crate::medium::{Medium, Together};
use crate::night::{Figure, Kind};
use crate::noise::{Noise, Point, inflation, mean_celsius, median, share};
use crate::step::{Known, LOOKED_AT, Step, step};
use crate::trend::{MOST_WEEKS, Slope, Trend, Week, slope, trend};

/// Newest nights that the noise is learned from, at most.
const KEPT: usize = 200;
/// Newest nights that take no part in that: they may be beyond a step that is not found yet.
const OPEN: usize = 8;
/// Nights after which the noise is learned anew.
const LEARNED_EVERY: i64 = 7;
/// Thresholds in standard errors for eight figures of a medium. Simulated years chose them: `docs/watch.md`.
const STEP_THRESHOLD: f64 = 4.15;
/// See [`STEP_THRESHOLD`].
const SLOPE_THRESHOLD: f64 = 4.35;
const FIGURES: f64 = 8.0;
/// Nights of the level that a night is compared with for what loads share, at most and at least.
const MIDDLE_OF: (usize, usize) = (60, 10);
/// Without what it shares with other loads a figure is looked at once more where its deviation falls below this share.
const QUIETER: f64 = 0.93;
/// The share of a step found in this way that the figure as it is has to show.
const SHOWN: f64 = 0.5;

/// A threshold that keeps the rate of false alarms of a medium, whatever the number of its figures.
fn for_figures(threshold: f64, figures: usize) -> f64 {
    // The tail of a normal distribution falls as exp(-z²/2).
    (threshold * threshold + 2.0 * (figures.max(1) as f64 / FIGURES).ln()).max(1.0).sqrt()
}

/// The nights of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) load: String,
    pub(crate) kind: Kind,
    /// The newest nights, in their order.
    points: Vec<Point>,
    level: u32,
    /// The first night of the level.
    since_day: Option<i64>,
    /// Nights of the week under way.
    week: Vec<Point>,
    /// The figure as it is.
    own: Look,
    /// The figure without what it shares with other loads.
    apart: Look,
    /// By how much the logarithm moves for each deviation of the other loads.
    share: f64,
    learned_day: i64,
    /// The trend over the weeks, and how many there were when it was drawn.
    trend: Option<Trend>,
    drawn_through: usize,
}

/// A way to look at the nights of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Look {
    noise: Noise,
    /// Whole weeks since the last change of the medium, across levels that only conditions changed.
    weeks: Vec<Week>,
}

impl Look {
    fn new(kind: Kind) -> Self {
        Self { noise: Noise::assumed(kind), weeks: Vec::new() }
    }

    fn close_week(&mut self, nights: &[Point]) {
        if let Some(week) = Week::of(nights) {
            if self.weeks.len() >= MOST_WEEKS {
                self.weeks.remove(0);
            }
            self.weeks.push(week);
        }
    }

    /// What is found in the newest night of a level; a slow change only at the end of a week.
    fn found(&self, nights: (&[Point], bool), kind: Kind, medium: &Medium, together: Together) -> Option<Found> {
        let (recent, week_is_over) = nights;
        let least = kind.least();
        let threshold = for_figures(STEP_THRESHOLD, medium.figures);
        let noise = together.noise(&self.noise);
        let known = Known { no_rare_nights: medium.no_rare_nights, together: together.lasts() };
        if let Some(step) = step(recent, &noise, least, threshold, known) {
            return Some(Found::Step(step));
        }
        if !week_is_over {
            return None;
        }
        let threshold = for_figures(SLOPE_THRESHOLD, medium.figures);
        let found = slope(&self.weeks, &noise, least, threshold)?;
        // The newest night has to show at least half of it.
        let reached = recent.last().is_some_and(|point| point.x >= found.before + found.log / 2.0);
        reached.then_some(Found::Slope(found))
    }
}

/// What is known of a figure now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// The load.
    pub load: String,
    /// What the figure is.
    pub figure: Kind,
    /// The first night of the level, in days since 1970.
    pub since_day: i64,
    /// Its nights, of those that are kept.
    pub nights: usize,
    /// Geometric mean of its newest 30 nights: operations per second, or nanoseconds.
    pub value: f64,
    /// Lower bound of it, with 95 %.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Deviation between nights, as a share.
    pub spread: f64,
    /// Correlation of one night with the next.
    pub correlation: f64,
    /// Trend since the last change of the medium; null before eight weeks.
    pub trend: Option<Trend>,
}

/// A change that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Found {
    Step(Step),
    Slope(Slope),
}

impl Found {
    pub(crate) fn is_worse(&self) -> bool {
        match self {
            Self::Step(step) => step.log > 0.0,
            Self::Slope(_) => true,
        }
    }
}

impl Series {
    pub(crate) fn new(figure: &Figure) -> Self {
        Self {
            load: figure.load.clone(),
            kind: figure.kind,
            points: Vec::new(),
            level: 0,
            since_day: None,
            week: Vec::new(),
            own: Look::new(figure.kind),
            apart: Look::new(figure.kind),
            share: 0.0,
            learned_day: i64::MIN,
            trend: None,
            drawn_through: 0,
        }
    }

    pub(crate) fn is_of(&self, figure: &Figure) -> bool {
        self.load == figure.load && self.kind == figure.kind
    }

    /// Takes a night; whether a week is over.
    pub(crate) fn push(&mut self, day: i64, figure: &Figure, celsius: Option<f64>) -> bool {
        let own = |error: Option<f64>| error.filter(|error| error.is_finite()).unwrap_or(0.0);
        let x = self.kind.worse(figure.log);
        let point = Point { day, x, error: own(figure.error), celsius, level: self.level, shared: None };
        let closed = self.week.last().is_some_and(|last| last.day.div_euclid(7) != day.div_euclid(7));
        if closed {
            self.close_week();
        }
        self.week.push(point);
        self.since_day.get_or_insert(day);
        if self.points.len() >= KEPT {
            self.points.remove(0);
        }
        self.points.push(point);
        if day - self.learned_day.max(i64::MIN / 2) >= LEARNED_EVERY {
            self.learn();
            self.learned_day = day;
        }
        closed
    }

    fn learn(&mut self) {
        let settled = &self.points[..self.points.len().saturating_sub(OPEN)];
        self.own.noise = Noise::of(settled, self.kind);
        self.share = share(settled, self.own.noise.deviation);
        self.apart.noise = Noise::of(&apart(settled, self.share), self.kind);
    }

    /// How far the newest night is from its level, in deviations; none where few nights tell.
    pub(crate) fn distance(&self) -> Option<f64> {
        let (newest, before) = self.recent().split_last()?;
        let before = &before[before.len().saturating_sub(MIDDLE_OF.0)..];
        if before.len() < MIDDLE_OF.1 {
            return None;
        }
        let celsius = mean_celsius(before);
        let middle =
            median(&mut before.iter().map(|point| self.own.noise.adjusted(point, celsius)).collect::<Vec<f64>>());
        Some((self.own.noise.adjusted(newest, celsius) - middle) / self.own.noise.deviation)
    }

    /// Notes what the other loads show in the newest night.
    pub(crate) fn note_shared(&mut self, shared: Option<f64>) {
        let Some(last) = self.points.last_mut() else { return };
        last.shared = shared;
        let last = *last;
        self.renew(last);
    }

    /// The same night in the week under way.
    fn renew(&mut self, night: Point) {
        if let Some(copy) = self.week.last_mut().filter(|copy| copy.day == night.day) {
            *copy = night;
        }
    }

    fn close_week(&mut self) {
        let nights = std::mem::take(&mut self.week);
        self.own.close_week(&nights);
        self.apart.close_week(&apart(&nights, self.share));
        self.drawn_through = 0;
    }

    /// Puts the result of a second, longer run beside that of the night: it counts three times.
    pub(crate) fn confirm(&mut self, figure: &Figure) {
        let second = self.kind.worse(figure.log);
        let Some(last) = self.points.last_mut() else { return };
        last.x = (last.x + 3.0 * second) / 4.0;
        let last = *last;
        self.renew(last);
    }

    /// The newest nights of the level.
    fn recent(&self) -> &[Point] {
        let from = self.points.len().saturating_sub(LOOKED_AT);
        let newest = &self.points[from..];
        let first = newest.iter().rposition(|point| point.level != self.level).map_or(0, |other| other + 1);
        &newest[first..]
    }

    /// What is found in the newest night; a slow change only at the end of a week.
    pub(crate) fn found(&self, medium: &Medium, week_is_over: bool) -> Option<Found> {
        let own = self.own.found((self.recent(), week_is_over), self.kind, medium, medium.own);
        let quieter = self.apart.noise.deviation < QUIETER * self.own.noise.deviation;
        let tells = quieter && self.points.last().is_some_and(|newest| newest.shared.is_some());
        let nights = || apart(self.recent(), self.share);
        let other = || self.apart.found((&nights(), week_is_over), self.kind, medium, medium.apart);
        own.or_else(|| other().filter(|found| tells && self.shows(found)))
    }

    /// Whether the figure as it is shows half of a step that was found without what loads share: where most loads moved, the
    /// others only seem to.
    fn shows(&self, found: &Found) -> bool {
        let Found::Step(step) = found else { return true };
        let middle = |points: &[Point]| median(&mut points.iter().map(|point| point.x).collect::<Vec<_>>());
        let recent = self.recent();
        let first = recent.partition_point(|point| point.day < step.first_day);
        let (before, since) = recent.split_at(first);
        let before = &before[before.len().saturating_sub(MIDDLE_OF.0)..];
        (middle(since) - middle(before)) * step.log.signum() >= SHOWN * step.log.abs()
    }

    /// Its noise as it is, and without what it shares with other loads.
    pub(crate) fn noises(&self) -> (Noise, Noise) {
        (self.own.noise, self.apart.noise)
    }

    pub(crate) fn newest_day(&self) -> i64 {
        self.points.last().map_or(i64::MIN, |point| point.day)
    }

    /// What is reported of a change.
    pub(crate) fn moved(&self, found: &Found) -> Moved {
        let (manner, since_day, before, log, error) = match found {
            Found::Step(step) => (Manner::Step, step.first_day, step.before, step.log, step.error),
            Found::Slope(slope) => (Manner::Slowly, slope.first_day, slope.before, slope.log, slope.error),
        };
        let value = |x: f64| self.kind.worse(x).exp();
        let (load, figure) = (self.load.clone(), self.kind);
        let change = Change::of(self.kind.worse(log), error);
        Moved { load, figure, manner, since_day, change, before: value(before), now: value(before + log) }
    }

    /// Begins a new level with what was found: a step's own nights, or the last two weeks of a slow change.
    pub(crate) fn settle(&mut self, found: &Found) {
        let newest = self.points.last().map_or(0, |point| point.day);
        let first_day = match found {
            Found::Step(step) => step.first_day,
            Found::Slope(_) => newest - 13,
        };
        self.level += 1;
        let level = self.level;
        self.points.iter_mut().filter(|point| point.day >= first_day).for_each(|point| point.level = level);
        self.since_day = Some(first_day);
        self.own.weeks.clear();
        self.apart.weeks.clear();
        self.drawn_through = 0;
        self.week.retain(|point| point.day >= first_day);
        self.week.iter_mut().for_each(|point| point.level = level);
    }

    /// Begins a new level under other conditions, with the next night.
    pub(crate) fn restart(&mut self) {
        self.close_week();
        self.level += 1;
        self.since_day = None;
    }

    /// Draws the trend anew where a week is new.
    pub(crate) fn draw_trend(&mut self) {
        if self.drawn_through == 0 {
            self.trend = trend(&self.own.weeks, &self.own.noise, |log| self.kind.worse(log));
            self.drawn_through = self.own.weeks.len().max(1);
        }
    }

    pub(crate) fn level(&self) -> Option<Level> {
        let recent = self.recent();
        let recent = &recent[recent.len().saturating_sub(30)..];
        if recent.is_empty() {
            return None;
        }
        let celsius = mean_celsius(recent);
        let mean =
            recent.iter().map(|point| self.own.noise.adjusted(point, celsius)).sum::<f64>() / recent.len() as f64;
        let of_mean = self.own.noise.of_mean(recent.len()).min(inflation(self.own.noise.correlation));
        let half = 1.96 * self.own.noise.deviation * of_mean.sqrt();
        let value = |x: f64| self.kind.worse(x).exp();
        let (one, other) = (value(mean - half), value(mean + half));
        Some(Level {
            load: self.load.clone(),
            figure: self.kind,
            since_day: self.since_day?,
            nights: self.points.iter().filter(|point| point.level == self.level).count(),
            value: value(mean),
            low: one.min(other),
            high: one.max(other),
            spread: self.own.noise.deviation,
            correlation: self.own.noise.correlation,
            trend: self.trend,
        })
    }
}

/// The nights without what other loads show, of those in which they tell it.
fn apart(nights: &[Point], share: f64) -> Vec<Point> {
    let without = |point: &Point| Some(Point { x: point.x - share * point.shared?, ..*point });
    nights.iter().filter_map(without).collect()
}
