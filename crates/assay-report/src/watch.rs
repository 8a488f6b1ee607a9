//! Watched media: levels, trends, events and the year as a picture, for people.

use assay_core::text::{clean, harmless};
use assay_core::units::{Bytes, counted, latency, percent, trimmed};
use assay_pictures::{Drawing, Year, YearLevel, YearMark, YearPanel, year};
use assay_watch::{Change, Condition, Course, DAY, Event, Kind, Level, Manner, Moved, Skip, Status, What};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right, wrapped};
use crate::health;

/// Media that are shown in full; of more, only those that a person has to look at.
const IN_FULL: usize = 6;
/// Days of a picture at most.
const YEAR: i64 = 366;

/// A watched medium, and its nights for a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// What is known of it.
    pub status: Status,
    /// Its nights; nothing where they are not in the store.
    pub courses: Vec<Course>,
}

/// What is said of watched media.
#[must_use]
pub fn document(media: &[Watched]) -> Document {
    let mut blocks = Vec::new();
    let is_overview = media.len() > IN_FULL;
    if is_overview {
        blocks.push(Block::Table(overview(media)));
    }
    for watched in media.iter().filter(|watched| !is_overview || !watched.status.is_quiet()) {
        let status = &watched.status;
        if media.len() > 1 {
            blocks.push(Block::Heading(title(status)));
        }
        blocks.extend(picture_of(watched).map(|drawing| Block::Picture(Box::new(drawing))));
        blocks.push(Block::Items(items(status)));
        if !status.levels.is_empty() {
            blocks.push(Block::Table(levels(status)));
        }
        for open in &status.open {
            let said = event(&status.name, &status.medium, &open.event);
            blocks.push(Block::Text(format!("! {said} → assay watch ack {}", open.id)));
        }
    }
    let about = match media {
        [one] => title(&one.status),
        several => format!("{} that are watched", counted(several.len(), "medium")),
    };
    Document { kind: "Watch", about, finding: finding(media), blocks, data: data(media) }
}

/// The year of a medium as a picture; `None` for several media.
#[must_use]
pub fn picture(media: &[Watched]) -> Option<Drawing> {
    match media {
        [one] => picture_of(one),
        _ => None,
    }
}

fn title(status: &Status) -> String {
    let place = if status.target.is_empty() { String::new() } else { format!(" at {}", harmless(&status.target)) };
    format!("{}: {}{place}", clean(&status.name), clean(&status.medium))
}

fn finding(media: &[Watched]) -> String {
    let open: usize = media.iter().map(|watched| watched.status.open.len()).sum();
    let late = media.iter().filter(|watched| watched.status.overdue).count();
    let alarms = match open {
        0 => None,
        1 => Some("1 alarm is open".to_owned()),
        _ => Some(format!("{open} alarms are open")),
    };
    let late = match (late, media.len()) {
        (0, _) => None,
        (_, 1) => Some("a night is late".to_owned()),
        (late, _) => Some(format!("{late} of {} are late", counted(media.len(), "medium"))),
    };
    let said: Vec<String> = alarms.into_iter().chain(late).collect();
    match media {
        [] => "No medium is watched; begin with: assay watch add DIR".to_owned(),
        [one] if said.is_empty() => format!("{}: no alarm is open", title(&one.status)),
        [one] => format!("{}: {}", title(&one.status), said.join(", ")),
        _ if said.is_empty() => format!("{} are watched, and no alarm is open", counted(media.len(), "medium")),
        _ => format!("{} are watched: {}", counted(media.len(), "medium"), said.join(", ")),
    }
}

fn items(status: &Status) -> Vec<(String, String)> {
    let mut items = Vec::new();
    let mut add = |label: &str, text: String| items.push((label.to_owned(), text));
    let last = status.last_night.map_or_else(|| "none yet".to_owned(), date);
    let next = status.next_night.map_or_else(|| format!("at {}", harmless(&status.nightly)), date);
    let late = if status.overdue { ", and a night is late" } else { "" };
    add("nights", format!("{}, the last {last}, the next {next}{late}", status.nights));
    let (written, budget) = (status.written_bytes_of_year, status.budget_bytes_of_year);
    add("written", format!("{} of {} a year", Bytes(written), Bytes(budget)));
    if let Some(skipped) = &status.skipped {
        let more = if skipped.detail.is_empty() { String::new() } else { format!(": {}", harmless(&skipped.detail)) };
        add("skipped", format!("{}, as {}{more}", date(skipped.at), skip(skipped.reason)));
    }
    if !status.counters.is_empty() {
        let counters = status.counters.iter().map(|(name, number)| {
            let (words, value) = health::by_name(name, *number);
            format!("{words} {value}")
        });
        add("health", counters.collect::<Vec<_>>().join(", "));
    }
    if let Some(last) = status.events.last() {
        add("last", event(&status.name, &status.medium, &last.event));
    }
    items
}

/// A line for each medium.
fn overview(media: &[Watched]) -> Table {
    let row = |watched: &Watched| {
        let status = &watched.status;
        let last = status.last_night.map_or_else(|| "–".to_owned(), date);
        let state = match (status.open.len(), status.overdue) {
            (0, false) => "quiet".to_owned(),
            (0, true) => "a night is late".to_owned(),
            (1, _) => "1 open alarm".to_owned(),
            (open, _) => format!("{open} open alarms"),
        };
        let cells: [Cell; 5] = [
            clean(&status.name).into(),
            clean(&status.medium).into(),
            status.nights.to_string().into(),
            last.into(),
            state.into(),
        ];
        TableRow::from(cells)
    };
    let columns = vec![left("watch"), left("medium"), right("nights"), left("last night"), left("state")];
    Table { caption: String::new(), columns, rows: media.iter().map(row).collect() }
}

fn levels(status: &Status) -> Table {
    let row = |one: &Level| {
        let trend = one.trend.as_ref().map_or_else(|| "–".to_owned(), |trend| change(&trend.per_year));
        let cells: [Cell; 4] =
            [figure_name(&one.load, one.figure).into(), level(one).into(), spread(one).into(), trend.into()];
        TableRow::from(cells)
    };
    let columns = vec![wrapped("load"), right("level"), right("nights ±"), right("trend a year")];
    Table { caption: String::new(), columns, rows: status.levels.iter().map(row).collect() }
}

fn data(media: &[Watched]) -> Data {
    let columns = vec![
        "watch",
        "medium",
        "load",
        "figure",
        "level",
        "level_low",
        "level_high",
        "spread",
        "trend_ratio_a_year",
        "trend_low",
        "trend_high",
    ];
    let rows = media.iter().flat_map(|watched| {
        let status = &watched.status;
        status.levels.iter().map(|level| {
            let trend = level.trend.as_ref().map(|trend| trend.per_year);
            let figure = match level.figure {
                Kind::Rate => "iops",
                Kind::Latency => "p99_ns",
            };
            vec![
                status.name.clone(),
                status.medium.clone(),
                level.load.clone(),
                figure.to_owned(),
                number(Some(level.value)),
                number(Some(level.low)),
                number(Some(level.high)),
                number(Some(level.spread)),
                number(trend.map(|trend| trend.ratio)),
                number(trend.map(|trend| trend.low)),
                number(trend.map(|trend| trend.high)),
            ]
        })
    });
    Data { columns, rows: rows.collect() }
}

// The picture.

fn picture_of(watched: &Watched) -> Option<Drawing> {
    let status = &watched.status;
    let nights = || watched.courses.iter().flat_map(|course| &course.nights).map(|(day, _)| *day);
    let (earliest, last) = (nights().min()?, nights().max()?);
    let first = earliest.max(last - YEAR);
    let panel = |course: &Course| {
        let is_it = |level: &&Level| level.load == course.load && level.figure == course.figure;
        let level = status.levels.iter().find(is_it).map(|level| YearLevel {
            since_day: level.since_day,
            value: level.value,
            low: level.low,
            high: level.high,
        });
        // Latencies in milliseconds.
        let (unit, divisor) = match course.figure {
            Kind::Rate => ("IOPS", 1.0),
            Kind::Latency => ("ms", 1e6),
        };
        let nights = course.nights.iter().filter(|(day, _)| *day >= first).map(|(day, value)| (*day, value / divisor));
        let level = level.map(|level| YearLevel {
            value: level.value / divisor,
            low: level.low / divisor,
            high: level.high / divisor,
            ..level
        });
        YearPanel {
            name: format!("{}, {unit}", figure_name(&course.load, course.figure)),
            nights: nights.collect(),
            level,
        }
    };
    let happened = status.events.iter().filter(|one| one.event.day >= first && one.event.day <= last);
    let marks = happened.map(|one| YearMark {
        day: one.event.day,
        number: one.event.number,
        is_alarm: one.event.what.is_alarm(),
    });
    year(&Year {
        title: finding(std::slice::from_ref(watched)),
        about: format!("Nights from {} to {}", date_of_day(first), date_of_day(last)),
        days: (first, last),
        dates: dates(first, last),
        panels: watched.courses.iter().map(panel).collect(),
        marks: marks.collect(),
    })
}

/// The first of each month; of a shorter time each Monday, or each day.
fn dates(first: i64, last: i64) -> Vec<(i64, String)> {
    let civil = |day: i64| -> Option<Date> {
        let time = Timestamp::from_second(day.checked_mul(DAY)?).ok()?;
        Some(time.to_zoned(TimeZone::UTC).date())
    };
    let span = last - first;
    let is_named = |date: &Date| match span {
        0..15 => true,
        15..70 => date.weekday() == jiff::civil::Weekday::Monday,
        _ => date.day() == 1,
    };
    (first..=last.min(first + 2 * YEAR))
        .filter_map(|day| Some((day, civil(day).filter(is_named)?.to_string())))
        .collect()
}

// Words.

/// A figure of a load: `random read`, `p99 of random read`.
#[must_use]
pub fn figure_name(load: &str, figure: Kind) -> String {
    match figure {
        Kind::Rate => harmless(load),
        Kind::Latency => format!("p99 of {}", harmless(load)),
    }
}

/// The date of a time, in UTC.
fn date(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| "–".to_owned(), |time| time.to_string().chars().take(10).collect())
}

/// The date of a night.
fn date_of_day(day: i64) -> String {
    date(day.saturating_mul(DAY))
}

/// What happened, in one line.
#[must_use]
pub fn event(watch: &str, medium: &str, event: &Event) -> String {
    let medium = clean(medium);
    let what = match &event.what {
        What::Worse { figures } => format!("got worse: {}", figures.iter().map(moved).collect::<Vec<_>>().join("; ")),
        What::Better { figures } => format!("got better: {}", figures.iter().map(moved).collect::<Vec<_>>().join("; ")),
        What::ConditionsChanged { changed } => {
            let names: Vec<&str> = changed.iter().map(|one| condition(*one)).collect();
            format!("is measured under other conditions: {}", names.join(", "))
        }
        What::Missed { first_day, nights } => {
            format!("was not measured for {} from {} on", counted(*nights as usize, "night"), date_of_day(*first_day))
        }
        What::Counter { name, before, now } => {
            let ((words, before), (_, now)) = (health::by_name(name, *before), health::by_name(name, *now));
            format!("{words}: {before} → {now}")
        }
        What::Failed => "failed while it was measured".to_owned(),
    };
    format!("{} {medium} ({}): {what}", date_of_day(event.day), clean(watch))
}

fn moved(moved: &Moved) -> String {
    let figure = figure_name(&moved.load, moved.figure);
    let manner = match moved.manner {
        Manner::Step => "since",
        Manner::Slowly => "slowly, since",
    };
    format!("{figure} {} {manner} {}", change(&moved.change), date_of_day(moved.since_day))
}

/// A ratio with its interval: `−15 % (−17 … −13 %)`.
fn change(change: &Change) -> String {
    let of = |ratio: f64| {
        let text = trimmed((ratio - 1.0) * 100.0, 1);
        if ratio > 1.0 { format!("+{text}") } else { text.replace('-', "−") }
    };
    format!("{} % ({} … {} %)", of(change.ratio), of(change.low), of(change.high))
}

fn condition(condition: Condition) -> &'static str {
    match condition {
        Condition::Host => "another host",
        Condition::Kernel => "another kernel",
        Condition::Program => "another version of assay",
        Condition::Slot => "another slot",
        Condition::Bus => "another mode of the bus",
        Condition::Fill => "another fill level",
        Condition::Temperature => "another temperature",
    }
}

/// Why there is no night.
#[must_use]
pub fn skip(skip: Skip) -> &'static str {
    match skip {
        Skip::Absent => "the medium is not there",
        Skip::Exchanged => "another medium is in its place",
        Skip::Busy => "something else uses the medium",
        Skip::UnderWay => "another night of it is under way",
        Skip::Budget => "the bytes of the year are used up",
        Skip::Failed => "the run could not be made",
        Skip::NotReady => "too few nodes were ready in time",
        Skip::Interrupted => "the run was interrupted",
        Skip::Invalid => "the result is invalid",
        Skip::Done => "this night has its result already",
    }
}

/// The level of a figure with its interval.
fn level(level: &Level) -> String {
    let of = |value: f64| match level.figure {
        Kind::Rate => trimmed(value, if value < 100.0 { 1 } else { 0 }),
        Kind::Latency => latency(value),
    };
    let unit = if level.figure == Kind::Rate { " IOPS" } else { "" };
    format!("{} ({}–{}){unit}", of(level.value), of(level.low), of(level.high))
}

/// The spread between nights.
fn spread(level: &Level) -> String {
    percent(level.spread, 1)
}

#[cfg(test)]
mod tests {
    use assay_watch::{Conditions, Figure, Kept, Measured, Night, Plan, courses};

    use super::*;

    /// A year of nights at 1 000 IOPS ± 2 %, and 850 from the 200th on.
    fn watched() -> Watched {
        let plan = Plan {
            name: "card".into(),
            title: "Card 64 GB".into(),
            unit: None,
            target: "/mnt/card".into(),
            raw: false,
            measured: Measured::Here,
            nightly: "03:30".into(),
            suite: "quick".into(),
            budget_seconds: 60,
            max_write_bytes: 256 << 20,
            endurance_bytes: None,
            capacity_bytes: Some(64_000_000_000),
            notify: Vec::new(),
            webhooks: Vec::new(),
            mail: Vec::new(),
            mqtt: None,
            textfile: None,
        };
        let mut kept = Kept::new(plan, 20_000 * DAY);
        let night = |day: i64| {
            let rate: f64 = if day < 20_200 { 1000.0 } else { 850.0 };
            let log = rate.ln() + 0.02 * ((day * 37 % 17) as f64 / 8.0 - 1.0);
            let figure = Figure { load: "random read".into(), kind: Kind::Rate, log, error: Some(0.001), n: 3 };
            Night { day, conditions: Conditions::default(), figures: vec![figure], counters: Vec::new() }
        };
        let nights: Vec<Night> = (20_000..20_300).map(night).collect();
        for night in &nights {
            kept.watch.take(night, &mut || Some(night.clone()));
        }
        kept.last_at = Some(20_299 * DAY);
        Watched { status: Status::of(&kept, 20_300 * DAY), courses: courses(&nights) }
    }

    #[test]
    fn an_alarm_stands_in_the_finding_in_the_text_and_in_the_picture() {
        let watched = watched();
        let document = document(std::slice::from_ref(&watched));
        assert!(document.finding.ends_with("1 alarm is open"), "{}", document.finding);
        let text = document.markdown();
        assert!(text.contains("got worse: random read −1") && text.contains("assay watch ack card/1"), "{text}");
        let svg = picture(std::slice::from_ref(&watched)).unwrap().svg();
        assert!(svg.contains("random read, IOPS") && svg.contains("2025-01-01"), "{svg}");
        // Its line is red, as those of the other events are not.
        assert!(svg.contains("#b02318"), "{svg}");
        assert_eq!(picture(&[watched.clone(), watched]), None);
    }

    #[test]
    fn of_many_media_those_with_an_alarm_are_shown_in_full() {
        let mut media = vec![watched(); 8];
        media[1..].iter_mut().for_each(|watched| watched.status.open.clear());
        let text = document(&media).markdown();
        assert_eq!(text.matches("| quiet").count(), 7, "{text}");
        assert_eq!(text.matches("assay watch ack").count(), 1, "{text}");
    }

    #[test]
    fn a_year_has_its_months_and_a_week_its_days() {
        let months = dates(20_000, 20_365);
        assert_eq!((months.len(), months[0].1.as_str()), (12, "2024-11-01"));
        assert_eq!(dates(20_000, 20_006).len(), 7);
        assert_eq!(dates(20_000, 20_028).len(), 4);
    }
}
