//! From repeats to a measurement.

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::outcome::Outcome;
use assay_core::record::{Batching, Latency, Measurement, Repeat, Sample};
use assay_core::suite::LEAST_REPEATS;
use assay_engine::{LiveSample, RepeatReport, Stretch};

/// A repeat for the record. `started_ns` is when it began within the run.
pub(crate) fn repeat(
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
        samples: report.samples.iter().map(|s| sample(s, started_ns)).collect(),
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
pub(crate) fn sample(live: &LiveSample, started_ns: u64) -> Sample {
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
pub(crate) fn estimate(measurement: &mut Measurement, interval: Interval) {
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
fn latency(histograms: &[Histogram], interval: Interval) -> Latency {
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
}
