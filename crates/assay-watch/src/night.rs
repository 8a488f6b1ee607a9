//! What a night brings, from the record of its run: figures with their own errors, the conditions under which they came about,
//! and health counters, which become [`Counter`]s in one place, [`counters`].

use assay_core::health::{Bad, CounterKind, Unit};
use assay_core::histogram::Histogram;
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::sensor::SensorKind;
use serde::{Deserialize, Serialize};

/// A measured night of a medium.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Night {
    /// Number of the night: whole days since 1970 at its beginning.
    pub day: i64,
    /// How it was measured.
    pub conditions: Conditions,
    /// What was measured; none where only counters were read.
    pub figures: Vec<Figure>,
    /// Health counters of the medium.
    pub counters: Vec<Counter>,
}

/// A figure of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The load, by the name that all nights give it.
    pub load: String,
    /// What the figure is.
    pub kind: Kind,
    /// Mean of the natural logarithms over the repeats of the night.
    pub log: f64,
    /// Standard error of this mean within the night; none where one repeat does not show it.
    pub error: Option<f64>,
    /// Repeats.
    pub n: u32,
}

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Operations per second: less is worse.
    Rate,
    /// The 99th percentile of the latency: more is worse.
    Latency,
}

impl Kind {
    /// Turns a change of the logarithm into one that is worse the larger it is, and back.
    #[must_use]
    pub fn worse(self, change: f64) -> f64 {
        match self {
            Self::Rate => -change,
            Self::Latency => change,
        }
    }

    /// The least change of the logarithm that is worth a message: 5 % of a rate, 20 % of a latency.
    #[must_use]
    pub fn least(self) -> f64 {
        match self {
            Self::Rate => 0.05,
            Self::Latency => 0.20,
        }
    }

    /// The deviation between nights that is assumed until nights show their own.
    pub(crate) fn assumed(self) -> f64 {
        match self {
            Self::Rate => 0.04,
            Self::Latency => 0.10,
        }
    }

    /// The least deviation between nights: figures are no more exact than that.
    pub(crate) fn floor(self) -> f64 {
        match self {
            Self::Rate => 0.005,
            Self::Latency => 0.02,
        }
    }
}

/// What else changes figures beside the medium. What is unknown is no change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Name of the host.
    pub host: Option<String>,
    /// Release of its kernel.
    pub kernel: Option<String>,
    /// Version of the program that measured.
    pub program: Option<String>,
    /// Slot or port.
    pub slot: Option<String>,
    /// Mode of the bus.
    pub bus: Option<String>,
    /// How full the medium is, in percent.
    pub fill_percent: Option<f64>,
    /// Temperature of the medium, or of the host where it has none, in degrees Celsius.
    pub celsius: Option<f64>,
}

/// One of the conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Another host.
    Host,
    /// Another kernel.
    Kernel,
    /// Another version of the program.
    Program,
    /// Another slot.
    Slot,
    /// Another mode of the bus.
    Bus,
    /// 10 percentage points fuller or emptier.
    Fill,
    /// 15 K hotter or colder for three nights.
    Temperature,
}

/// Percentage points of the fill level that are another condition.
const OTHER_FILL: f64 = 10.0;

impl Conditions {
    /// What differs from those of the level, apart from the temperature.
    pub(crate) fn differ(&self, level: &Self) -> Vec<Condition> {
        let other = |a: &Option<String>, b: &Option<String>| matches!((a, b), (Some(a), Some(b)) if a != b);
        let fuller =
            matches!((self.fill_percent, level.fill_percent), (Some(a), Some(b)) if (a - b).abs() >= OTHER_FILL);
        let all = [
            (Condition::Host, other(&self.host, &level.host)),
            (Condition::Kernel, other(&self.kernel, &level.kernel)),
            (Condition::Program, other(&self.program, &level.program)),
            (Condition::Slot, other(&self.slot, &level.slot)),
            (Condition::Bus, other(&self.bus, &level.bus)),
            (Condition::Fill, fuller),
        ];
        all.into_iter().filter(|(_, differs)| *differs).map(|(condition, _)| condition).collect()
    }

    /// Takes over what is known now and was not before.
    pub(crate) fn complete(&mut self, other: &Self) {
        let known = |own: &mut Option<String>, other: &Option<String>| *own = own.take().or_else(|| other.clone());
        known(&mut self.host, &other.host);
        known(&mut self.kernel, &other.kernel);
        known(&mut self.program, &other.program);
        known(&mut self.slot, &other.slot);
        known(&mut self.bus, &other.bus);
        self.fill_percent = self.fill_percent.or(other.fill_percent);
    }
}

/// A health counter of the medium whose change is an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// Label of a record with the name of its watch.
pub const WATCH_LABEL: &str = "watch";
/// Label of a record with the run of the night: [`FIRST`] or [`SECOND`].
pub const RUN_LABEL: &str = "watch-run";
/// The usual run of a night.
pub const FIRST: &str = "first";
/// The longer run that confirms.
pub const SECOND: &str = "second";
/// Label of a record with how full the medium was, in whole percent.
pub const FILL_LABEL: &str = "fill";

/// The night that a record is of.
#[must_use]
pub fn night_of(record: &Record, day: i64) -> Night {
    Night {
        day,
        conditions: conditions(record),
        figures: record.measurements.iter().flat_map(figures).collect(),
        counters: counters(&record.medium),
    }
}

fn conditions(record: &Record) -> Conditions {
    let label = |key: &str| record.labels.get(key).filter(|value| !value.is_empty());
    Conditions {
        host: record.host.hostname.clone(),
        kernel: record.host.kernel.clone(),
        program: Some(record.tool.version.clone()),
        slot: label("slot").or(record.host.slot.as_ref()).cloned(),
        bus: record.medium.bus.as_ref().map(|bus| format!("{} {}", bus.kind, bus.mode)),
        fill_percent: label(FILL_LABEL).and_then(|percent| percent.parse().ok()),
        celsius: temperature(record),
    }
}

/// The temperature of the medium, or if it reports none, that of the host when the run began.
fn temperature(record: &Record) -> Option<f64> {
    let of_host = || {
        let sensors = record.sensors.iter().filter(|sensor| sensor.kind == SensorKind::Temperature.name());
        let first = sensors.filter_map(|sensor| sensor.samples.first().map(|(_, value)| *value));
        first.filter(|value| value.is_finite()).min_by(f64::total_cmp)
    };
    record.medium_celsius().or_else(of_host)
}

/// The rate of a load, and the 99th percentile of its latencies where it has enough of them.
fn figures(measurement: &Measurement) -> Vec<Figure> {
    let load = &measurement.workload.name;
    let of = |kind: Kind, value: &dyn Fn(&Repeat) -> Option<f64>| {
        let whole = measurement.repeats.iter().filter(|repeat| repeat.outcome == Outcome::Completed);
        let logs: Vec<f64> =
            whole.filter_map(value).filter(|value| *value > 0.0 && value.is_finite()).map(f64::ln).collect();
        let n = logs.len() as f64;
        let log = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|one| (one - log).powi(2)).sum();
        let error = (logs.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
        (!logs.is_empty()).then(|| Figure { load: load.clone(), kind, log, error, n: logs.len() as u32 })
    };
    let rate = of(Kind::Rate, &|repeat| Some(repeat.iops));
    // A percentile of fewer operations is the largest of them.
    let latency = of(Kind::Latency, &|repeat| {
        Some(Histogram::from(&*repeat.histogram)).filter(|histogram| histogram.total() >= 1000)?.quantile(0.99)
    });
    rate.into_iter().chain(latency).collect()
}

/// Health counters whose change is an event: signs of failure, and shares of life and spare blocks. What moves every night,
/// such as bytes written or erase cycles, is none.
#[must_use]
pub fn counters(medium: &Medium) -> Vec<Counter> {
    let tells = |kind: CounterKind| {
        kind.is_error() || kind.bad() != Bad::Neither && matches!(kind.unit(), Unit::Percent | Unit::Tenths)
    };
    let counted = medium.readings.counters.iter().filter(|counter| tells(counter.kind));
    counted.filter_map(|counter| Some(Counter { name: counter.kind.name(), value: counter.last()? })).collect()
}

/// A figure over the nights, for a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// The load.
    pub load: String,
    /// What the figure is.
    pub figure: Kind,
    /// Day, in days since 1970, and value of each night: operations per second, or nanoseconds.
    pub nights: Vec<(i64, f64)>,
}

/// The course of each figure over these nights, which are in their order. Figures stand in the order in which they came first.
#[must_use]
pub fn courses(nights: &[Night]) -> Vec<Course> {
    let mut courses: Vec<Course> = Vec::new();
    for night in nights {
        for figure in &night.figures {
            let value = (night.day, figure.log.exp());
            match courses.iter_mut().find(|one| one.load == figure.load && one.figure == figure.kind) {
                Some(course) => course.nights.push(value),
                None => courses.push(Course { load: figure.load.clone(), figure: figure.kind, nights: vec![value] }),
            }
        }
    }
    courses
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::health::{self, HealthSource};

    #[test]
    fn what_is_unknown_is_no_change() {
        let level = Conditions { kernel: Some("6.1".into()), fill_percent: Some(40.0), ..Conditions::default() };
        let now = Conditions { host: Some("pi".into()), fill_percent: Some(49.0), ..Conditions::default() };
        assert_eq!(now.differ(&level), []);
        let now = Conditions { kernel: Some("6.6".into()), fill_percent: Some(50.0), ..now };
        assert_eq!(now.differ(&level), [Condition::Kernel, Condition::Fill]);
    }

    #[test]
    fn counters_that_move_every_night_are_left_out() {
        let mut medium = Medium::unknown("/mnt");
        let read = [
            (CounterKind::LifeUsedATenths, 1),
            (CounterKind::PreEndOfLife, 1),
            (CounterKind::TemperatureCelsius, 31),
            (CounterKind::MediaErrors, 7),
            (CounterKind::PowerOnHours, 900),
            (CounterKind::PercentageUsed, 3),
            (CounterKind::MeanEraseCycles, 12),
            (CounterKind::WrittenBytes, 1 << 40),
        ];
        medium.readings.counters =
            read.map(|(kind, value)| health::Counter::read(kind, HealthSource::ExtCsd, value)).to_vec();
        let found: Vec<(String, i64)> = counters(&medium).into_iter().map(|c| (c.name, c.value)).collect();
        let expected = [("life_used_a_tenths", 1), ("pre_end_of_life", 1), ("media_errors", 7), ("percentage_used", 3)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
