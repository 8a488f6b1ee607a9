//! Figures against what they were computed from. The computation is the one of a run: nothing is decided here that a run
//! decides.

use std::mem::discriminant;

use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Validity};
use assay_core::histogram::{SCHEME, bounds_of, bucket_of};
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::text::clean;
use assay_core::workload::Workload;
use assay_runner::recomputed;

use crate::states::{Code, Reason};

/// A figure that was computed from the same numbers differs by rounding alone.
const ROUNDING: f64 = 1e-6;
/// The ends of an interval: the search for quantiles ends at about this share.
const INTERVAL_ROUNDING: f64 = 1e-3;
/// A rate is the sum over jobs, each by a window of its own, and the window of a repeat is their mean.
const SEVERAL_JOBS: f64 = 0.25;
/// The same of one job.
const ONE_JOB: f64 = 1e-3;
/// Shortest part of a repeat that readings have to cover before their sums say anything.
const COVERED: f64 = 0.8;
/// By how much sums of readings may fall short of the repeat's or exceed what was issued: edges of intervals.
const EDGES: f64 = 0.1;

pub(super) fn check(record: &Record) -> Vec<Reason> {
    let null_ns = record.settings().and_then(|settings| settings.null_ns_per_operation);
    let mut reasons = Vec::new();
    for measurement in &record.measurements {
        let name = clean(&measurement.workload.name);
        let found = of_measurement(measurement, &record.medium, null_ns);
        reasons.extend(found.into_iter().map(|(code, what)| Reason::new(code, format!("{name}: {what}"))));
    }
    let verdict = Validity::judge(record.all_warnings()).verdict;
    // A run may judge itself more strictly, never less.
    if record.validity.verdict < verdict {
        reasons.push(Reason::new(Code::EstimatesDiffer, "the verdict is better than the findings allow"));
    }
    reasons
}

type Found = (Code, String);

fn of_measurement(measurement: &Measurement, medium: &Medium, null_ns: Option<f64>) -> Vec<Found> {
    let completed = || measurement.repeats.iter().filter(|repeat| repeat.outcome == Outcome::Completed);
    let mut found: Vec<Found> =
        completed().filter_map(|repeat| of_repeat(repeat, &measurement.workload)).take(1).collect();
    let own = recomputed(measurement, medium, null_ns);
    found.extend(estimates(measurement, &own));
    for finding in own.warnings.iter().map(|warning| &warning.finding) {
        let told = |known: &Finding| discriminant(known) == discriminant(finding);
        if measurement.warnings.iter().any(|warning| told(&warning.finding)) {
            continue;
        }
        let code = match finding {
            Finding::LittlesLaw { .. } => Code::LittlesLaw,
            Finding::ServedFromCache { .. } => Code::ProofRatio,
            _ => Code::EstimatesDiffer,
        };
        found.push((code, "a finding that follows from the repeats is missing".to_owned()));
    }
    if (measurement.bus_limited, measurement.instrument_limited) != (own.bus_limited, own.instrument_limited) {
        found.push((Code::EstimatesDiffer, "a limit that follows from the figures is missing, or does not".to_owned()));
    }
    let proof = differs(measurement.proof_ratio, own.proof_ratio, 1e-3);
    if proof {
        found.push((Code::ProofRatio, "the bytes proven are not those of the repeats".to_owned()));
    }
    found
}

/// Whether one of two numbers is absent, or they differ by more than a share.
fn differs(a: Option<f64>, b: Option<f64>, share: f64) -> bool {
    match (a, b) {
        (None, None) => false,
        (Some(a), Some(b)) => (a - b).abs() > share * a.abs().max(b.abs()),
        _ => true,
    }
}

fn estimates(given: &Measurement, own: &Measurement) -> Option<Found> {
    let (a, b) = (&given.latency_ns, &own.latency_ns);
    let pairs: [(&str, Option<&Estimate>, Option<&Estimate>); 9] = [
        ("operations per second", given.iops.as_ref(), own.iops.as_ref()),
        ("bytes per second", given.bytes_per_second.as_ref(), own.bytes_per_second.as_ref()),
        ("durable rate", given.durable_bytes_per_second.as_ref(), own.durable_bytes_per_second.as_ref()),
        ("mean latency", a.mean.as_deref(), b.mean.as_deref()),
        ("p50", a.p50.as_deref(), b.p50.as_deref()),
        ("p90", a.p90.as_deref(), b.p90.as_deref()),
        ("p99", a.p99.as_deref(), b.p99.as_deref()),
        ("p99.9", a.p99_9.as_deref(), b.p99_9.as_deref()),
        ("longest latency", a.max.as_deref(), b.max.as_deref()),
    ];
    let unlike = |a: Option<&Estimate>, b: Option<&Estimate>| match (a, b) {
        (None, None) => false,
        (Some(a), Some(b)) => {
            differs(Some(a.point), Some(b.point), ROUNDING)
                || differs(a.low, b.low, INTERVAL_ROUNDING)
                || differs(a.high, b.high, INTERVAL_ROUNDING)
                || a.n != b.n
        }
        _ => true,
    };
    let (name, ..) = pairs.into_iter().find(|(_, a, b)| unlike(*a, *b))?;
    Some((Code::EstimatesDiffer, format!("the {name} is not what the repeats come to")))
}

/// What a repeat says against itself.
fn of_repeat(repeat: &Repeat, workload: &Workload) -> Option<Found> {
    let sums = |what: &str| Some((Code::SumsDiffer, what.to_owned()));
    let Repeat { operations, bytes, iops, bytes_per_second, elapsed_ns, .. } = repeat;
    let (operations_f, elapsed) = (*operations as f64, *elapsed_ns as f64 / 1e9);
    let tolerance = if workload.jobs > 1 { SEVERAL_JOBS } else { ONE_JOB };
    // Several nodes or jobs that did not begin together have no common window.
    if *elapsed_ns > 0 && *operations > 0 {
        if differs(Some(iops * elapsed), Some(operations_f), tolerance) {
            return sums("operations, time and operations per second contradict each other");
        }
        if differs(Some(bytes_per_second * elapsed), Some(*bytes as f64), tolerance) {
            return sums("bytes, time and bytes per second contradict each other");
        }
    }
    let one_size = workload.blocks.is_empty() && workload.refined.is_empty();
    if one_size && workload.block_bytes > 0 && operations.checked_mul(workload.block_bytes) != Some(*bytes) {
        return sums("operations times the block are not the bytes");
    }
    if repeat.issued_bytes > 0 && repeat.issued_bytes < *bytes {
        return sums("more bytes were moved than issued");
    }
    latencies(repeat).or_else(|| samples(repeat, workload))
}

fn latencies(repeat: &Repeat) -> Option<Found> {
    let sums = |what: &str| Some((Code::SumsDiffer, what.to_owned()));
    let histogram = &repeat.histogram;
    let total: u64 = histogram.counts.iter().map(|(_, count)| *count).sum();
    if total == 0 || histogram.scheme != SCHEME {
        return None;
    }
    if total != repeat.operations {
        return sums("the latencies are of another number of operations");
    }
    let bounds = |pick: fn((u64, u64)) -> u64| -> u128 {
        let of = |(low, count): &(u64, u64)| u128::from(pick(bounds_of(bucket_of(*low)))) * u128::from(*count);
        histogram.counts.iter().map(of).sum()
    };
    let sum = u128::from(histogram.sum_ns);
    if sum < bounds(|(low, _)| low) || sum > bounds(|(_, high)| high) {
        return sums("the sum of the latencies is not that of their histogram");
    }
    let occupied = || histogram.counts.iter().filter(|(_, count)| *count > 0).map(|(low, _)| bucket_of(*low));
    let ends = (occupied().min(), occupied().max());
    if ends != (Some(bucket_of(histogram.min_ns)), Some(bucket_of(histogram.max_ns))) {
        return sums("the shortest or longest latency is not in the histogram");
    }
    None
}

/// Readings are from the start of the repeat: what they count includes the warm-up and the end.
fn samples(repeat: &Repeat, workload: &Workload) -> Option<Found> {
    let sums = |what: &str| Some((Code::SumsDiffer, what.to_owned()));
    let of = |pick: fn(&assay_core::record::Sample) -> u64| repeat.samples.iter().map(pick).sum::<u64>() as f64;
    let (seconds, operations, bytes) = (of(|s| s.interval_ns) / 1e9, of(|s| s.operations), of(|s| s.bytes));
    let elapsed = repeat.elapsed_ns as f64 / 1e9;
    if repeat.samples.is_empty() || elapsed <= 0.0 || seconds < COVERED * elapsed {
        return None;
    }
    let depth = workload.depth() as f64;
    if operations < repeat.operations as f64 * (1.0 - EDGES) * (seconds / elapsed).min(1.0) - depth {
        return sums("the readings count fewer operations than the repeat");
    }
    let issued = repeat.issued_bytes as f64;
    if issued > 0.0 && bytes > issued * (1.0 + EDGES) + depth * workload.block_bytes as f64 {
        return sums("the readings count more bytes than were issued");
    }
    None
}
