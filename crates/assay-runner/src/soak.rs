//! From the samples of a soak to what they show.

use assay_core::estimate::Estimate;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Sample, Sensor};
use assay_core::soak::{Cliff, Soak};
use assay_core::units::{nanoseconds, span};
use assay_stats::soak::{analyse, cause};
use assay_stats::steady::Bin;

/// Judges the first repeat: a later one does not begin cold. Where it was interrupted and resumed,
/// its parts together. `disks` are the kernel names of the medium's disks, whose sensors bear them.
pub(crate) fn judge(measurement: &Measurement, sensors: &[Sensor], disks: &[String], seed: u64) -> Option<Soak> {
    let whole = measurement.repeats.iter().position(|r| r.outcome == Outcome::Completed);
    let parts = &measurement.repeats[..whole.map_or(measurement.repeats.len(), |last| last + 1)];
    let samples: Vec<&Sample> = parts.iter().flat_map(|part| &part.samples).collect();
    let bins: Vec<Bin> = samples.iter().copied().map(bin).collect();
    let found = analyse(&bins, seed)?;
    let start_ns = samples.first().map_or(0, |s| s.t_ns.saturating_sub(s.interval_ns));
    let end_ns = samples.last().map_or(start_ns, |s| s.t_ns);
    let temperatures = temperatures(sensors, disks, start_ns, end_ns);
    let rate = |value: f64, seconds: f64, which: &str| {
        let method = format!("mean of the {which} {}", span(std::time::Duration::from_secs_f64(seconds)));
        (Estimate::bare(value, 1, &method), in_nanoseconds(seconds))
    };
    let (burst_bytes_per_second, burst_ns) = rate(found.burst, found.burst_seconds, "first");
    let (sustained_bytes_per_second, sustained_ns) = rate(found.sustained, found.sustained_seconds, "last");
    Some(Soak {
        burst_bytes_per_second,
        burst_ns,
        sustained_bytes_per_second,
        sustained_ns,
        bytes: samples.iter().map(|s| s.bytes).sum(),
        elapsed_ns: samples.iter().map(|s| s.interval_ns).sum(),
        cliff: found.cliff.map(|cliff| Cliff {
            time_ns: in_nanoseconds(cliff.seconds),
            bytes_at: cliff.bytes as u64,
            temperature_celsius: temperatures.iter().take_while(|t| t.0 <= cliff.seconds).last().map(|t| t.1),
            drop: cliff.drop,
            p_value: cliff.p_value,
            cause: cause(&bins, &temperatures, cliff.seconds),
        }),
    })
}

fn bin(sample: &Sample) -> Bin {
    Bin { seconds: sample.interval_ns as f64 / 1e9, operations: sample.operations, bytes: sample.bytes }
}

fn in_nanoseconds(seconds: f64) -> u64 {
    nanoseconds(std::time::Duration::from_secs_f64(seconds.max(0.0)))
}

/// Readings of the medium itself in seconds from the start. The processor's temperature says
/// nothing of a card, but a command of the user that is named for it does.
fn temperatures(sensors: &[Sensor], disks: &[String], start_ns: u64, end_ns: u64) -> Vec<(f64, f64)> {
    let of_the_medium = |s: &&Sensor| {
        s.kind == "temperature" && (disks.contains(&s.name) || matches!(s.source.as_str(), "drive" | "command"))
    };
    let inside = |t: &&(u64, f64)| (start_ns..=end_ns).contains(&t.0);
    let readings = sensors.iter().find(of_the_medium).map_or(&[][..], |s| &s.samples);
    readings.iter().filter(inside).map(|t| ((t.0 - start_ns) as f64 / 1e9, t.1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_medium_is_as_warm_as_its_own_sensor_says_while_the_soak_lasts() {
        const SECOND: u64 = 1_000_000_000;
        let series = |name: &str, kind: &str, samples: &[(u64, f64)]| Sensor {
            name: name.to_owned(),
            kind: kind.to_owned(),
            unit: String::new(),
            source: "hwmon".to_owned(),
            samples: samples.iter().map(|(second, value)| (second * SECOND, *value)).collect(),
        };
        let sensors = [
            series("cpu", "temperature", &[(101, 80.0)]),
            series("sda", "power", &[(101, 2.0)]),
            series("sda", "temperature", &[(99, 30.0), (100, 31.0), (160, 44.5), (200, 50.0), (201, 51.0)]),
        ];
        let disks = ["sda".to_owned()];
        let of = |sensors| temperatures(sensors, &disks, 100 * SECOND, 200 * SECOND);
        assert_eq!(of(&sensors), [(0.0, 31.0), (60.0, 44.5), (100.0, 50.0)], "seconds since the soak began");
        assert_eq!(of(&sensors[..2]), [], "the processor is not the medium");
    }
}
