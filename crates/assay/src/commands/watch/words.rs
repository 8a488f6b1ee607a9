//! Events and levels in words.

use assay_core::text::{clean, harmless};
use assay_core::units::{counted, latency, percent, trimmed};
use assay_watch::{Change, Condition, DAY, Event, Kind, Level, Manner, Moved, Plan, Skip, What};
use jiff::Timestamp;

/// The date of a time, in UTC.
pub(super) fn date(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| "–".to_owned(), |time| time.to_string().chars().take(10).collect())
}

/// The date of a night.
pub(super) fn date_of_day(day: i64) -> String {
    date(day.saturating_mul(DAY))
}

/// What happened, in one line.
pub(super) fn event(plan: &Plan, event: &Event) -> String {
    let medium = clean(&plan.title);
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
        What::Counter { name, before, now } => format!("{} went from {before} to {now}", harmless(name)),
        What::Failed => "failed while it was measured".to_owned(),
    };
    format!("{} {medium} ({}): {what}", date_of_day(event.day), plan.name)
}

fn moved(moved: &Moved) -> String {
    let load = harmless(&moved.load);
    let figure = match moved.figure {
        Kind::Rate => load,
        Kind::Latency => format!("p99 of {load}"),
    };
    let manner = match moved.manner {
        Manner::Step => "since",
        Manner::Slowly => "slowly, since",
    };
    format!("{figure} {} {manner} {}", change(&moved.change), date_of_day(moved.since_day))
}

/// A ratio with its interval: `−15 % (−17 to −13 %)`.
pub(super) fn change(change: &Change) -> String {
    let of = |ratio: f64| {
        let text = trimmed((ratio - 1.0) * 100.0, 1);
        if ratio > 1.0 { format!("+{text}") } else { text.replace('-', "−") }
    };
    format!("{} % ({} to {} %)", of(change.ratio), of(change.low), of(change.high))
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
pub(super) fn skip(skip: Skip) -> &'static str {
    match skip {
        Skip::Absent => "the medium is not there",
        Skip::Busy => "something else uses the medium",
        Skip::Budget => "the bytes of the year are used up",
        Skip::Failed => "the run could not be made",
        Skip::Invalid => "the result is invalid",
        Skip::Done => "this night has its result already",
    }
}

/// The level of a figure with its interval.
pub(super) fn level(level: &Level) -> String {
    let of = |value: f64| match level.figure {
        Kind::Rate => trimmed(value, if value < 100.0 { 1 } else { 0 }),
        Kind::Latency => latency(value),
    };
    let unit = if level.figure == Kind::Rate { " IOPS" } else { "" };
    format!("{} ({}–{}){unit}", of(level.value), of(level.low), of(level.high))
}

/// The spread between nights.
pub(super) fn spread(level: &Level) -> String {
    percent(level.spread, 1)
}
