//! A night from the record of its run. Health counters become [`Counter`]s in one place, [`counters`].

use assay_core::histogram::Histogram;
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::sensor::SensorKind;

use crate::night::{Conditions, Counter, Figure, Kind, Night};

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

/// The temperature of the medium; of one that has none that of the host when the run began.
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

/// What a name of a health figure holds whose change somebody has to hear of.
const TELLING: [&str; 14] = [
    "life",
    "eol",
    "err",
    "realloc",
    "pending",
    "uncorrect",
    "spare",
    "bad",
    "crc",
    "wear",
    "fail",
    "percentage_used",
    "critical",
    "lost",
];
/// What moves every night.
const USUAL: [&str; 7] = ["temp", "hours", "written", "read_bytes", "cycles", "throttle_time", "lifetime_write"];

/// Health counters whose change is an event. A value that is a number, decimal or hexadecimal, counts; of several the name gets
/// their place.
#[must_use]
pub fn counters(medium: &Medium) -> Vec<Counter> {
    let mut counters = Vec::new();
    for (name, text) in &medium.health {
        let lower = name.to_lowercase();
        if !TELLING.iter().any(|word| lower.contains(word)) || USUAL.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let values: Vec<i64> = text.split_whitespace().map_while(number).collect();
        for (at, value) in values.iter().enumerate() {
            let name = if values.len() == 1 { name.clone() } else { format!("{name}[{at}]") };
            counters.push(Counter { name, value: *value });
        }
    }
    counters
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim_end_matches('%');
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_move_every_night_are_left_out() {
        let mut medium = Medium::unknown("/mnt");
        let health = [
            ("life_time", "0x01 0x02"),
            ("pre_eol_info", "0x01"),
            ("temperature", "31"),
            ("media_errors", "7"),
            ("power_on_hours", "900"),
            ("percentage_used", "3%"),
            ("serial", "12"),
        ];
        medium.health = health.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let found: Vec<(String, i64)> = counters(&medium).into_iter().map(|c| (c.name, c.value)).collect();
        let expected = [
            ("life_time[0]", 1),
            ("life_time[1]", 2),
            ("media_errors", 7),
            ("percentage_used", 3),
            ("pre_eol_info", 1),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
