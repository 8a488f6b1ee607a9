//! Sensors as text: work per watt, and values that a user noted.

use assay_core::record::{Measurement, Record, Sensor};
use assay_core::sensor::SensorKind;
use assay_core::text::{clean, harmless};
use assay_core::units::{figures, rate};
use assay_core::workload::Pattern;

use crate::headline::Headline;

/// Sensors that were read through the run; a value read by eye is no line in a chart.
pub(crate) fn drawn(record: &Record) -> impl Iterator<Item = &Sensor> {
    record.sensors.iter().filter(|s| s.source != "note" && !s.samples.is_empty())
}

/// Unit for people and what the values are multiplied with for it.
pub(crate) fn unit(sensor: &Sensor) -> (String, f64) {
    match sensor.kind.as_str() {
        "temperature" => (SensorKind::Temperature.unit().to_owned(), 1.0),
        "frequency" => ("MHz".to_owned(), 1e-6),
        "power" => (SensorKind::Power.unit().to_owned(), 1.0),
        // Of a newer version or another program.
        _ => (harmless(&clean(&sensor.unit)), 1.0),
    }
}

/// `temperature 46.0 °C, plug 3.10 W`: values that a user noted.
pub(crate) fn noted(record: &Record) -> Option<String> {
    let notes = record.sensors.iter().filter(|s| s.source == "note");
    let words: Vec<String> = notes
        .flat_map(|s| s.samples.iter().map(move |(_, value)| (s, value)))
        .map(|(s, value)| {
            let (unit, factor) = unit(s);
            format!("{} {} {unit}", clean(&s.name), figures(value * factor))
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The highest temperature of the medium in °C: reported by the medium, read by a command, or noted by a user. The
/// temperature of the processor does not count.
pub(crate) fn warmest(record: &Record) -> Option<f64> {
    let temperature = SensorKind::Temperature.name();
    let of_medium = |s: &&Sensor| match s.source.as_str() {
        "drive" | "command" => true,
        "note" => s.name == temperature,
        _ => record.medium.stack.iter().any(|node| node.name == s.name),
    };
    let sensors = record.sensors.iter().filter(|s| s.kind == temperature).filter(of_medium);
    let readings = sensors.flat_map(|s| s.samples.iter().map(|(_, value)| *value));
    readings.filter(|value| value.is_finite()).reduce(f64::max)
}

/// `sequential read 20.1 MB/s, random read 410 operations/s`: what the headline workloads did for
/// a watt.
pub(crate) fn per_watt(record: &Record) -> Option<String> {
    let headline = Headline::of(record);
    let all = [headline.sequential_read, headline.sequential_write, headline.random_read, headline.random_write];
    let words: Vec<String> = all.into_iter().flatten().filter_map(one).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn one(m: &Measurement) -> Option<String> {
    let op = if m.workload.writes() { "write" } else { "read" };
    // Bytes for a joule are bytes a second for a watt.
    Some(match m.workload.pattern {
        Pattern::Sequential => format!("sequential {op} {}", rate(m.bytes_per_joule.as_ref()?.point)),
        Pattern::Random => format!("random {op} {} IOPS", figures(m.operations_per_joule.as_ref()?.point)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_people() {
        let of = |kind: SensorKind| unit(&kind.series("s", "hwmon"));
        assert_eq!(of(SensorKind::Frequency), ("MHz".to_owned(), 1e-6));
        assert_eq!(of(SensorKind::Power), ("W".to_owned(), 1.0));
        let odd = Sensor { kind: "humidity".into(), unit: "%\u{1b}".into(), ..SensorKind::Power.series("s", "x") };
        assert_eq!(unit(&odd), ("%\u{fffd}".to_owned(), 1.0));
    }
}
