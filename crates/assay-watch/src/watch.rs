//! All that is known of a watched medium, night by night.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Manner, Moved, What};
use crate::medium::Medium;
use crate::night::{Condition, Conditions, Figure, Night};
use crate::noise::median;
use crate::series::{Found, Level, Series};

/// Kelvin from the mean temperature of a level that are another condition.
const OTHER_TEMPERATURE: f64 = 15.0;
/// Nights that have to be so in a row.
const NIGHTS_OF_TEMPERATURE: u32 = 3;
/// First nights whose temperature is that of the level.
const NIGHTS_OF_LEVEL: u32 = 60;
/// Figures that become worse within this number of days after the first are one event.
const ONE_EVENT_DAYS: i64 = 14;
/// So are steps that begin within this number of days of each other, as long as they are found within [`LATEST_JOIN_DAYS`].
const SAME_STEP_DAYS: i64 = 5;
/// See [`SAME_STEP_DAYS`].
const LATEST_JOIN_DAYS: i64 = 60;
/// Figures of other loads that tell what a night shares, at least.
const LEAST_OTHERS: usize = 3;
/// Most figures of a medium. A further one replaces the one that was not measured for the longest time.
const KEPT_FIGURES: usize = 256;
/// Days since 1970 that a clock shows: up to the year 9999.
const DAYS: std::ops::Range<i64> = 0..2_932_897;
/// Events that are kept.
const KEPT_EVENTS: usize = 500;

/// A watched medium. It holds what its nights left, and no more than that of some months.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    series: Vec<Series>,
    conditions: Conditions,
    /// Mean temperature of the first nights of the level, and how many.
    celsius: Option<(f64, u32)>,
    /// Nights in a row of another temperature.
    other_temperature: u32,
    counters: BTreeMap<String, i64>,
    events: Vec<Event>,
    numbers: u32,
    first_day: Option<i64>,
    last_day: Option<i64>,
    nights: u32,
}

/// What a night brought.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Taken {
    /// What happened.
    pub events: Vec<Event>,
    /// Whether something was suspected, so that a second run was asked for.
    pub suspected: bool,
}

impl Watch {
    /// Takes a night. `second` measures again, longer, where something is suspected; without a result there is no message, and
    /// the next night decides. A night that is not after the last one, or on a day that no clock shows, changes nothing.
    pub fn take(&mut self, night: &Night, second: &mut dyn FnMut() -> Option<Night>) -> Taken {
        let mut taken = Taken::default();
        if !self.follows(night.day) {
            return taken;
        }
        let mut night = night.clone();
        night.conditions.celsius = night.conditions.celsius.filter(|celsius| celsius.is_finite());
        let night = &night;
        self.begin(night.day, &mut taken);
        self.nights += 1;
        self.take_counters(night, &mut taken);
        if self.take_conditions(night, &mut taken) {
            self.take_figures(night, second, &mut taken);
        }
        taken
    }

    /// Takes a night in which the medium failed.
    pub fn take_failure(&mut self, day: i64) -> Taken {
        let mut taken = Taken::default();
        if self.follows(day) {
            self.begin(day, &mut taken);
            taken.events.push(self.event(day, What::Failed));
        }
        taken
    }

    fn follows(&self, day: i64) -> bool {
        DAYS.contains(&day) && self.last_day.is_none_or(|last| day > last)
    }

    fn begin(&mut self, day: i64, taken: &mut Taken) {
        if let Some(last) = self.last_day.filter(|last| day - last > 1) {
            let nights = u32::try_from(day - last - 1).unwrap_or(u32::MAX);
            taken.events.push(self.event(day, What::Missed { first_day: last + 1, nights }));
        }
        self.first_day.get_or_insert(day);
        self.last_day = Some(day);
    }

    fn event(&mut self, day: i64, what: What) -> Event {
        self.numbers += 1;
        let event = Event { number: self.numbers, day, acknowledged: !what.is_alarm(), what };
        if self.events.len() >= KEPT_EVENTS {
            self.events.remove(0);
        }
        self.events.push(event.clone());
        event
    }

    fn take_counters(&mut self, night: &Night, taken: &mut Taken) {
        for counter in &night.counters {
            let before = self.counters.insert(counter.name.clone(), counter.value);
            if let Some(before) = before.filter(|before| *before != counter.value) {
                let what = What::Counter { name: counter.name.clone(), before, now: counter.value };
                taken.events.push(self.event(night.day, what));
            }
        }
    }

    /// Whether the figures of the night belong to the level, or to a new one.
    fn take_conditions(&mut self, night: &Night, taken: &mut Taken) -> bool {
        let mut changed = night.conditions.differ(&self.conditions);
        let hot = match (night.conditions.celsius, self.celsius) {
            (Some(now), Some((level, _))) => (now - level).abs() >= OTHER_TEMPERATURE,
            _ => false,
        };
        self.other_temperature = if hot { self.other_temperature + 1 } else { 0 };
        if self.other_temperature >= NIGHTS_OF_TEMPERATURE {
            changed.push(Condition::Temperature);
        }
        if !changed.is_empty() {
            taken.events.push(self.event(night.day, What::ConditionsChanged { changed }));
            self.series.iter_mut().for_each(Series::restart);
            self.conditions = night.conditions.clone();
            (self.celsius, self.other_temperature) = (None, 0);
        } else if hot {
            return false;
        } else {
            // Nights without a temperature are not compared with those that have one.
            if self.celsius.is_none() && night.conditions.celsius.is_some() {
                self.series.iter_mut().for_each(Series::restart);
            }
            self.conditions.complete(&night.conditions);
        }
        if let Some(now) = night.conditions.celsius {
            let (mean, nights) = self.celsius.unwrap_or((now, 0));
            if nights < NIGHTS_OF_LEVEL {
                self.celsius = Some((mean + (now - mean) / f64::from(nights + 1), nights + 1));
            }
        }
        true
    }

    fn take_figures(&mut self, night: &Night, second: &mut dyn FnMut() -> Option<Night>, taken: &mut Taken) {
        let mut pushed: Vec<(usize, bool)> = Vec::with_capacity(night.figures.len());
        for figure in night.figures.iter().filter(|figure| figure.log.is_finite()) {
            let at = self.series.iter().position(|series| series.is_of(figure)).unwrap_or_else(|| self.another(figure));
            let over = self.series[at].push(night.day, figure, night.conditions.celsius);
            pushed.push((at, over));
        }
        self.note_shared(&pushed);
        let medium = Medium::of(&self.series.iter().map(Series::noises).collect::<Vec<_>>());
        let found = |series: &[Series], places: &[(usize, bool)]| -> Vec<(usize, bool, Found)> {
            let each = places.iter().filter_map(|(at, over)| Some((*at, *over, series[*at].found(&medium, *over)?)));
            each.collect()
        };
        let mut all = found(&self.series, &pushed);
        if all.iter().any(|(.., found)| found.is_worse()) {
            taken.suspected = true;
            let suspects: Vec<(usize, bool)> = all.iter().map(|(at, over, _)| (*at, *over)).collect();
            let Some(second) = second() else { return };
            for (at, _) in &suspects {
                let series = &mut self.series[*at];
                let measured = |figure: &&Figure| series.is_of(figure) && figure.log.is_finite();
                if let Some(figure) = second.figures.iter().find(measured) {
                    series.confirm(figure);
                }
            }
            all = found(&self.series, &suspects);
        }
        let (mut worse, mut better) = (Vec::new(), Vec::new());
        for (at, _, found) in all {
            let moved = self.series[at].moved(&found);
            if found.is_worse() {
                worse.push(moved)
            } else {
                better.push(moved)
            }
            self.series[at].settle(&found);
        }
        self.report(night.day, worse, better, taken);
    }

    /// The place of a figure that is new.
    fn another(&mut self, figure: &Figure) -> usize {
        let new = Series::new(figure);
        let oldest = self.series.iter().enumerate().min_by_key(|(_, series)| series.newest_day());
        match oldest.map(|(at, _)| at).filter(|_| self.series.len() >= KEPT_FIGURES) {
            Some(at) => {
                self.series[at] = new;
                at
            }
            None => {
                self.series.push(new);
                self.series.len() - 1
            }
        }
    }

    /// Notes for each figure of the night what the figures of other loads show: the median of their distances.
    fn note_shared(&mut self, pushed: &[(usize, bool)]) {
        let distances: Vec<(usize, f64)> =
            pushed.iter().filter_map(|(at, _)| Some((*at, self.series[*at].distance()?))).collect();
        for (at, _) in pushed {
            let load = self.series[*at].load.clone();
            let others = distances.iter().filter(|(other, _)| self.series[*other].load != load);
            let mut others: Vec<f64> = others.map(|(_, distance)| *distance).collect();
            let shared = (others.len() >= LEAST_OTHERS).then(|| median(&mut others));
            self.series[*at].note_shared(shared);
        }
    }

    fn report(&mut self, day: i64, mut worse: Vec<Moved>, better: Vec<Moved>, taken: &mut Taken) {
        // What belongs to an event that is open joins it, without another message. What follows after somebody has seen the
        // event is news.
        let open = self.events.iter_mut().rev().filter(|event| !event.acknowledged);
        let open = open.filter(|event| day - event.day <= LATEST_JOIN_DAYS);
        let open = open.filter_map(|event| match &mut event.what {
            What::Worse { figures } => Some((event.day, figures)),
            _ => None,
        });
        for (begun, figures) in open {
            let (joins, news): (Vec<_>, Vec<_>) =
                worse.into_iter().partition(|moved| joins(moved, day, begun, figures));
            figures.extend(joins);
            worse = news;
        }
        if !worse.is_empty() {
            taken.events.push(self.event(day, What::Worse { figures: worse }));
        }
        if !better.is_empty() {
            taken.events.push(self.event(day, What::Better { figures: better }));
        }
    }

    /// Draws the trends of [`Watch::levels`] anew where a week is new. That takes longer than a night, and no event needs it.
    pub fn draw_trends(&mut self) {
        self.series.iter_mut().for_each(Series::draw_trend);
    }

    /// Marks an event as seen; false where there is none of this number.
    pub fn acknowledge(&mut self, number: u32) -> bool {
        let found = self.events.iter_mut().find(|event| event.number == number);
        found.map(|event| event.acknowledged = true).is_some()
    }

    /// Events, oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Alarms that no person has seen.
    pub fn open(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| !event.acknowledged)
    }

    /// What is known of each figure.
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        self.series.iter().filter_map(Series::level).collect()
    }

    /// Health counters as they were last read.
    #[must_use]
    pub fn counters(&self) -> &BTreeMap<String, i64> {
        &self.counters
    }

    /// The first night, in days since 1970.
    #[must_use]
    pub fn first_day(&self) -> Option<i64> {
        self.first_day
    }

    /// The last night.
    #[must_use]
    pub fn last_day(&self) -> Option<i64> {
        self.last_day
    }

    /// Nights with a result.
    #[must_use]
    pub fn nights(&self) -> u32 {
        self.nights
    }
}

/// Whether a figure that became worse belongs to an event of the night `begun` with these figures: it is soon after, or what
/// changed in it did so in the same days; a figure that the event has already is news.
fn joins(moved: &Moved, day: i64, begun: i64, figures: &[Moved]) -> bool {
    let known = figures.iter().any(|one| one.load == moved.load && one.figure == moved.figure);
    let together = |one: &Moved| {
        let steps = one.manner == Manner::Step && moved.manner == Manner::Step;
        steps && (one.since_day - moved.since_day).abs() <= SAME_STEP_DAYS
    };
    !known && (day - begun <= ONE_EVENT_DAYS || figures.iter().any(together))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Change;
    use crate::night::Kind;

    fn moved(load: &str) -> Moved {
        let change = Change { ratio: 0.8, low: 0.7, high: 0.9 };
        let figure = Kind::Rate;
        Moved { load: load.to_owned(), figure, manner: Manner::Step, since_day: 1, change, before: 10.0, now: 8.0 }
    }

    #[test]
    fn what_follows_an_event_that_was_seen_is_told() {
        let mut watch = Watch::default();
        let told = |watch: &mut Watch, day, load| {
            let mut taken = Taken::default();
            watch.report(day, vec![moved(load)], Vec::new(), &mut taken);
            taken.events.len()
        };
        assert_eq!(told(&mut watch, 10, "read"), 1);
        assert_eq!(told(&mut watch, 12, "write"), 0, "it belongs to the open event");
        assert!(watch.acknowledge(1));
        assert_eq!(told(&mut watch, 14, "mixed"), 1, "the event was seen before this load fell");
        assert_eq!(watch.open().count(), 1);
    }

    #[test]
    fn steps_of_the_same_days_are_one_event_however_late_one_is_found() {
        let mut watch = Watch::default();
        let told = |watch: &mut Watch, day, moved| {
            let mut taken = Taken::default();
            watch.report(day, vec![moved], Vec::new(), &mut taken);
            taken.events.len()
        };
        let since = |load, since_day| Moved { since_day, ..moved(load) };
        assert_eq!(told(&mut watch, 100, since("read", 97)), 1);
        assert_eq!(told(&mut watch, 125, since("write", 101)), 0, "it fell in the same days");
        assert_eq!(told(&mut watch, 125, since("read", 120)), 1, "it fell again");
        assert_eq!(told(&mut watch, 130, since("mixed", 103)), 0, "within two weeks of the second event");
        assert_eq!(told(&mut watch, 150, since("other", 140)), 1, "another step");
    }

    #[test]
    fn nights_with_a_temperature_are_not_compared_with_those_without() {
        let mut watch = Watch::default();
        for day in 0..40 {
            let figure = crate::night::Figure { load: "read".into(), kind: Kind::Rate, log: 7.0, error: None, n: 3 };
            let conditions = Conditions { celsius: (day >= 30).then_some(25.0), ..Conditions::default() };
            let night = Night { day, conditions, figures: vec![figure], counters: Vec::new() };
            assert_eq!(watch.take(&night, &mut || None).events, []);
        }
        assert_eq!(watch.levels()[0].since_day, 30);
    }

    fn night(day: i64, logs: &[f64]) -> Night {
        let figure = |(at, log): (usize, &f64)| Figure {
            load: format!("load {at}"),
            kind: Kind::Rate,
            log: *log,
            error: None,
            n: 3,
        };
        let figures = logs.iter().enumerate().map(figure).collect();
        Night { day, conditions: Conditions::default(), figures, counters: Vec::new() }
    }

    #[test]
    fn a_load_that_stays_where_most_move_is_no_change() {
        for seed in 0..40 {
            let mut random = assay_stats::random::Generator::new(seed);
            let mut watch = Watch::default();
            let mut moved = Vec::new();
            for day in 20_000..20_150 {
                let host = 0.02 * random.normal();
                let log = |at: usize, random: &mut assay_stats::random::Generator| {
                    let better = if at > 0 && day >= 20_090 { 1.25f64.ln() } else { 0.0 };
                    7.0 + host + 0.01 * random.normal() + better
                };
                let logs: Vec<f64> = (0..4).map(|at| log(at, &mut random)).collect();
                let night = night(day, &logs);
                for event in watch.take(&night, &mut || Some(night.clone())).events {
                    match event.what {
                        What::Worse { figures } | What::Better { figures } => moved.extend(figures),
                        _ => {}
                    }
                }
            }
            assert!(moved.len() >= 3, "{seed}: {moved:?}");
            assert!(moved.iter().all(|moved| moved.load != "load 0"), "{seed}: {moved:?}");
        }
    }

    #[test]
    fn what_is_no_number_or_no_day_changes_nothing_and_figures_are_bounded() {
        let mut watch = Watch::default();
        for day in [i64::MIN, -1, i64::MAX] {
            assert_eq!(watch.take(&night(day, &[7.0]), &mut || None), Taken::default());
            assert_eq!(watch.take_failure(day), Taken::default());
        }
        for day in 1..60 {
            let log = if day > 50 { 6.0 } else { 7.0 };
            let mut first = night(day, &[log, f64::NAN]);
            first.conditions.celsius = Some(f64::NAN);
            let taken = watch.take(&first, &mut || Some(night(day, &[f64::NAN])));
            let text = serde_json::to_string(&watch).unwrap();
            assert_eq!(serde_json::from_str::<Watch>(&text).unwrap(), watch, "night {day}");
            assert!(taken.events.iter().all(|event| matches!(event.what, What::Worse { .. })));
        }
        assert_eq!(watch.open().count(), 1, "the night decides alone");
        for day in 60..400 {
            let mut renamed = night(day, &[7.0]);
            renamed.figures[0].load = format!("load of {day}");
            watch.take(&renamed, &mut || None);
        }
        assert_eq!(watch.series.len(), KEPT_FIGURES);
        assert!(watch.series.iter().any(|series| series.load == "load of 399"));
    }
}
