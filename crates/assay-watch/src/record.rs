//! A night from the record of its run. Health counters become [`Counter`]s in one place, [`counters`].

use assay_core::health::{Bad, CounterKind, Unit};
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

#[cfg(test)]
mod tests {
    use assay_core::health::{self, HealthSource};

    use super::*;

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
