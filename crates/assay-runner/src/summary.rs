//! From repeats to a measurement.

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::outcome::Outcome;
use assay_core::record::{Batching, Latency, Measurement, Repeat, Sample, Sensor};
use assay_core::soak::{Cliff, Soak};
use assay_core::suite::LEAST_REPEATS;
use assay_core::units::{nanoseconds, span};
use assay_engine::{LiveSample, RepeatReport, Stretch};
use assay_stats::soak::{analyse, cause};
use assay_stats::steady::Bin;

/// A repeat for the record. `started_ns` is when it began within the run.
pub(crate) fn repeat_of_window(
    report: &RepeatReport,
    started: &str,
    started_ns: u64,
    proof_ratio: Option<f64>,
    outcome: Outcome,
) -> Repeat {
    Repeat {
        elapsed_ns: report.window_ns,
        operations: report.operations,
        bytes: report.bytes,
        iops: report.iops,
        bytes_per_second: report.bytes_per_second,
        issued_bytes: report.read_bytes + report.written_bytes,
        durable_bytes_per_second: report.durable_bytes_per_second,
        in_flight: report.in_flight,
        proof_ratio,
        samples: report.samples.iter().map(|s| sample_of_second(s, started_ns)).collect(),
        histogram: StoredHistogram::from(&report.histogram).into(),
        service_histogram: report.service.as_ref().map(|times| Box::new(StoredHistogram::from(times))),
        unserved: report.service.as_ref().map(|_| report.unserved),
        first_done_ns: report.first_done_ns,
        last_done_ns: report.last_done_ns,
        original: report.original.clone().map(Box::new),
        ..Repeat::empty(started, outcome)
    }
}

/// What trying several completions at once showed, for the record; `None` where it was not tried.
pub(crate) fn batching(engine: &assay_engine::Batching) -> Option<Batching> {
    let trial = engine.trial.as_ref()?;
    let (one, several) = (&trial.by_one, &trial.by_several);
    let ratio = |of: &dyn Fn(&Stretch) -> Option<f64>| Some(of(several)? / of(one)?);
    Some(Batching {
        wait_for: engine.wait_for,
        tried: trial.several,
        iops_ratio: ratio(&|s| {
            (s.operations > 0 && s.elapsed_ns > 0).then(|| s.operations as f64 / s.elapsed_ns as f64)
        })?,
        p50_ratio: ratio(&|s| s.histogram.quantile(0.5)),
        p99_ratio: ratio(&|s| s.histogram.quantile(0.99)),
    })
}

/// A sample for the record, on the clock of the run.
pub(crate) fn sample_of_second(live: &LiveSample, started_ns: u64) -> Sample {
    Sample {
        t_ns: started_ns + live.t_ns,
        interval_ns: live.interval_ns,
        operations: live.operations,
        bytes: live.bytes,
        p50_ns: live.p50_ns,
        p99_ns: live.p99_ns,
    }
}

/// The interval over repeats: plain, or of as many repeats as it took.
pub(crate) type Interval = fn(&[f64]) -> Option<Estimate>;

/// How well the operations per second are known by the repeats so far: the relative half width of their interval, where
/// there are enough of them to say anything.
pub(crate) fn half_width(measurement: &Measurement, interval: Interval) -> Option<f64> {
    let iops: Vec<f64> = counted(measurement).map(|r| r.iops).collect();
    interval(&iops).filter(|e| e.n >= LEAST_REPEATS)?.relative_half_width()
}

fn counted(measurement: &Measurement) -> impl Iterator<Item = &Repeat> {
    measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0)
}

/// Fills in the estimates of a measurement from its completed repeats.
pub(crate) fn estimate(measurement: &mut Measurement, interval: &dyn Fn(&[f64]) -> Option<Estimate>) {
    let counted: Vec<&Repeat> = counted(measurement).collect();
    let of = |value: &dyn Fn(&Repeat) -> Option<f64>| -> Option<Estimate> {
        let values: Vec<f64> = counted.iter().filter_map(|r| value(r)).collect();
        (values.len() == counted.len()).then(|| interval(&values)).flatten()
    };
    let histograms: Vec<Histogram> = counted.iter().map(|r| Histogram::from(&*r.histogram)).collect();
    let services: Vec<Histogram> =
        counted.iter().filter_map(|r| r.service_histogram.as_deref()).map(Histogram::from).collect();

    let estimates = (
        of(&|r| Some(r.iops)),
        of(&|r| Some(r.bytes_per_second)),
        of(&|r| r.durable_bytes_per_second),
        latency(&histograms, interval),
    );
    let service_ns = (!services.is_empty()).then(|| Box::new(latency(&services, interval)));
    let weight: f64 = counted.iter().map(|r| r.elapsed_ns as f64).sum();
    let in_flight =
        (weight > 0.0).then(|| counted.iter().map(|r| r.in_flight * r.elapsed_ns as f64).sum::<f64>() / weight);

    (measurement.iops, measurement.bytes_per_second, measurement.durable_bytes_per_second, measurement.latency_ns) =
        estimates;
    (measurement.in_flight, measurement.service_ns) = (in_flight, service_ns);
}

/// Percentiles over the repeats; each repeat has one of the histograms.
fn latency(histograms: &[Histogram], interval: &dyn Fn(&[f64]) -> Option<Estimate>) -> Latency {
    let of = |value: &dyn Fn(&Histogram) -> Option<f64>| -> Option<Box<Estimate>> {
        let values: Vec<f64> = histograms.iter().filter_map(value).collect();
        (values.len() == histograms.len()).then(|| interval(&values)).flatten().map(Box::new)
    };
    let largest = histograms.iter().filter_map(Histogram::max).max();
    let n = u32::try_from(histograms.len()).unwrap_or(u32::MAX);
    Latency {
        mean: of(&Histogram::mean),
        p50: of(&|h| h.quantile(0.5)),
        p90: of(&|h| h.quantile(0.9)),
        p99: of(&|h| h.quantile(0.99)),
        p99_9: of(&|h| h.quantile(0.999)),
        max: largest.map(|ns| Estimate::bare(ns as f64, n, "largest of all repeats").into()),
    }
}

/// Replaces findings that depend on the figures: called after every repeat.
pub(crate) fn replace_findings(measurement: &mut Measurement, kind: impl Fn(&Finding) -> bool, fresh: Option<Finding>) {
    measurement.warnings.retain(|w| !kind(&w.finding));
    if let Some(finding) = fresh {
        measurement.warn(finding);
    }
}

// From the samples of a soak to what they show.

/// Judges the first repeat: a later one does not begin cold. Where it was interrupted and resumed,
/// its parts together. `disks` are the kernel names of the medium's disks, whose sensors bear them.
pub(crate) fn judge_soak(measurement: &Measurement, sensors: &[Sensor], disks: &[String], seed: u64) -> Option<Soak> {
    let whole = measurement.repeats.iter().position(|r| r.outcome == Outcome::Completed);
    let parts = &measurement.repeats[..whole.map_or(measurement.repeats.len(), |last| last + 1)];
    let samples: Vec<&Sample> = parts.iter().flat_map(|part| &part.samples).collect();
    let bins: Vec<Bin> = samples.iter().copied().map(soak_bin).collect();
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

fn soak_bin(sample: &Sample) -> Bin {
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
    use assay_engine::Trial;

    use super::*;

    #[test]
    fn a_trial_of_waits_is_kept_as_ratios_and_none_as_nothing() {
        let stretch = |operations, latency_ns| {
            let mut histogram = Histogram::default();
            (0..operations).for_each(|_| histogram.add(latency_ns));
            Stretch { operations, elapsed_ns: 1_000_000, histogram }
        };
        let trial = Trial { several: 8, by_one: stretch(100, 200), by_several: stretch(110, 150) };
        let kept = batching(&assay_engine::Batching { wait_for: 8, trial: Some(trial) }).unwrap();
        assert_eq!((kept.wait_for, kept.tried), (8, 8));
        assert!((kept.iops_ratio - 1.1).abs() < 1e-9 && kept.p50_ratio == Some(0.75), "{kept:?}");
        assert_eq!(batching(&assay_engine::Batching { wait_for: 1, trial: None }), None);
    }

    const SECOND: u64 = 1_000_000_000;

    /// The first sample ends a second after the soak began: readings during it count, and times are from its beginning.
    #[test]
    fn a_soak_begins_where_its_first_sample_does() {
        // Fast for 30 s, then slow for 60 s, with the sample of the warm-up.
        let rates: Vec<f64> = (0..90).map(|second| if second < 30 { 9e9 } else { 1e9 }).collect();
        let mut measurement = crate::evidence::measurement(&[&rates[1..]]);
        measurement.repeats[0].samples.iter_mut().for_each(|sample| sample.t_ns += 100 * SECOND);
        let degrees = |second: u64| if second <= 130 { 40.0 } else { 50.0 };
        let sensor = Sensor {
            name: "sda".to_owned(),
            kind: "temperature".to_owned(),
            unit: String::new(),
            source: "hwmon".to_owned(),
            samples: (99..=190).map(|second| (second * SECOND, degrees(second))).collect(),
        };
        let soak = judge_soak(&measurement, &[sensor], &["sda".to_owned()], 1).unwrap();
        assert_eq!((soak.elapsed_ns, soak.bytes), (90 * SECOND, 4096 * (30 * 9_000_000_000 + 60 * 1_000_000_000)));
        let cliff = soak.cliff.unwrap();
        assert_eq!((cliff.time_ns, cliff.temperature_celsius), (30 * SECOND, Some(40.0)), "{cliff:?}");
    }

    #[test]
    fn the_medium_is_as_warm_as_its_own_sensor_says_while_the_soak_lasts() {
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
