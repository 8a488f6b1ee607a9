//! What is said of a watched medium: the document of `assay watch status`, and its figures for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::event::Event;
use crate::kept::{Kept, Measured, Skipped};
use crate::night::Kind;
use crate::series::Level;

/// Newest events that a status has.
const EVENTS: usize = 20;

/// A watched medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// Name of the watch.
    pub name: String,
    /// The medium, as it calls itself.
    pub medium: String,
    /// Its serial number or CID; null where it has none.
    pub unit: Option<String>,
    /// Directory on it, or the device.
    pub target: String,
    /// Name of the node that measures it; null where this machine does.
    pub node: Option<String>,
    /// Time of the night, as HH:MM.
    pub nightly: String,
    /// Nights with a result.
    pub nights: u32,
    /// The first night, in days since 1970; null before it.
    pub first_day: Option<i64>,
    /// The last night with a result, in seconds since 1970; null before it.
    pub last_night: Option<i64>,
    /// When the next night is due, in seconds since 1970; null before the first.
    pub next_night: Option<i64>,
    /// Whether a night is late by half a day.
    pub overdue: bool,
    /// The night that was skipped last, after the last result; null where there is none.
    pub skipped: Option<Skipped>,
    /// Bytes written in the last year.
    pub written_bytes_of_year: u64,
    /// Bytes that a year may write.
    pub budget_bytes_of_year: u64,
    /// Bytes that can be written in the life of the medium; null where its size is not known.
    pub endurance_bytes: Option<u64>,
    /// Whether the user stated them; else they are assumed.
    pub endurance_is_stated: bool,
    /// What is known of each figure.
    pub levels: Vec<Level>,
    /// Health counters as they were last read.
    pub counters: BTreeMap<String, i64>,
    /// Alarms that no person has acknowledged.
    pub open: Vec<StatusEvent>,
    /// The newest events, oldest first.
    pub events: Vec<StatusEvent>,
}

/// An event with its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusEvent {
    /// Its name for `assay watch ack`.
    pub id: String,
    /// The event.
    pub event: Event,
}

impl Status {
    /// The status at a time, in seconds since 1970.
    #[must_use]
    pub fn of(kept: &Kept, now: i64) -> Self {
        let named = |event: &Event| StatusEvent { id: kept.event_name(event), event: event.clone() };
        let events = kept.watch.events();
        let (endurance_bytes, endurance_is_stated) = kept.plan.endurance().unzip();
        Self {
            name: kept.plan.name.clone(),
            medium: kept.plan.title.clone(),
            unit: kept.plan.unit.clone(),
            target: kept.plan.target.clone(),
            node: match &kept.plan.measured {
                Measured::Here => None,
                Measured::Node { node, .. } => Some(node.clone()),
            },
            nightly: kept.plan.nightly.clone(),
            nights: kept.watch.nights(),
            first_day: kept.watch.first_day(),
            last_night: kept.last_at,
            next_night: kept.due(),
            overdue: kept.is_overdue(now),
            skipped: kept.skipped.clone(),
            written_bytes_of_year: kept.spent_bytes(now),
            budget_bytes_of_year: kept.plan.yearly_bytes(),
            endurance_bytes,
            endurance_is_stated: endurance_is_stated.unwrap_or(false),
            levels: kept.watch.levels(),
            counters: kept.watch.counters().clone(),
            open: kept.watch.open().map(named).collect(),
            events: events[events.len().saturating_sub(EVENTS)..].iter().map(named).collect(),
        }
    }

    /// Whether a person has nothing to do.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.open.is_empty() && !self.overdue
    }
}

/// A value between quotes of Prometheus' text.
fn label(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}

/// The figures of media as Prometheus' text. No line has a time of its own: node_exporter refuses files that have.
#[must_use]
pub fn metrics(media: &[Status]) -> String {
    let mut text = String::new();
    let watch = |status: &Status| format!("watch=\"{}\"", label(&status.name));
    let mut metric = |name: &str, help: &str, of: &dyn Fn(&Status) -> Vec<(String, f64)>| {
        let lines: Vec<(String, f64)> = media.iter().flat_map(of).collect();
        if lines.is_empty() {
            return;
        }
        let _ = writeln!(text, "# HELP assay_watch_{name} {help}\n# TYPE assay_watch_{name} gauge");
        for (labels, value) in lines {
            let _ = writeln!(text, "assay_watch_{name}{{{labels}}} {value}");
        }
    };
    let own = |value: fn(&Status) -> f64| move |status: &Status| vec![(watch(status), value(status))];
    let of_level = |status: &Status, level: &Level| {
        let figure = match level.figure {
            Kind::Rate => "rate",
            Kind::Latency => "latency",
        };
        format!("{},load=\"{}\",figure=\"{figure}\"", watch(status), label(&level.load))
    };
    let trends = |of: fn(&crate::trend::Trend) -> f64| {
        move |status: &Status| -> Vec<(String, f64)> {
            let levels = status.levels.iter();
            levels.filter_map(|level| Some((of_level(status, level), of(level.trend.as_ref()?)))).collect()
        }
    };
    metric("info", "The watched medium.", &|status| {
        vec![(format!("{},medium=\"{}\"", watch(status), label(&status.medium)), 1.0)]
    });
    let open = own(|status| status.open.len() as f64);
    metric("open_alarms", "Alarms that no person has acknowledged.", &open);
    metric("nights", "Nights with a result.", &own(|status| f64::from(status.nights)));
    metric("last_night_timestamp_seconds", "When the last night with a result was.", &|status| {
        status.last_night.map(|last| (watch(status), last as f64)).into_iter().collect()
    });
    let written = own(|status| status.written_bytes_of_year as f64);
    metric("written_bytes", "Bytes written by the watch in the last year.", &written);
    let budget = own(|status| status.budget_bytes_of_year as f64);
    metric("budget_bytes", "Bytes that the watch may write in a year.", &budget);
    let level = |status: &Status| -> Vec<(String, f64)> {
        status.levels.iter().map(|level| (of_level(status, level), level.value)).collect()
    };
    metric("level", "Operations a second, or nanoseconds of the 99th percentile, over the newest 30 nights.", &level);
    metric("trend_ratio", "Ratio to the figure of a year before, by the trend.", &trends(|trend| trend.per_year.ratio));
    metric("trend_ratio_low", "Lower bound of the trend.", &trends(|trend| trend.per_year.low));
    metric("trend_ratio_high", "Upper bound of the trend.", &trends(|trend| trend.per_year.high));
    metric("counter", "Health counters of the medium.", &|status| {
        let counters = status.counters.iter();
        counters
            .map(|(name, value)| (format!("{},counter=\"{}\"", watch(status), label(name)), *value as f64))
            .collect()
    });
    text
}
