//! How an observation is stored: three texts beside the document, derived from it when it is saved.
//!
//! [`Observation`] says what is kept, [`Head`], [`repeats_of`] and [`latencies_of`] how. After a
//! release, changing that needs a step in `sqlite/open.rs`, since older observations lack it.

use std::collections::BTreeMap;

use assay_core::cluster::{ClusterPart, CommonStart};
use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Severity, Validity, ValidityVerdict, Warning};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::Medium;
use assay_core::observation::{Observation, ObservedHost, ObservedMeasurement, ObservedOrigin, ObservedRepeat};
use assay_core::outcome::Outcome;
use assay_core::record::{Batching, Latency, Origin, Record, Score, Source, SuiteRef, Tool};
use assay_core::shared::Shared;
use assay_core::verification::Verification;
use assay_core::workload::Workload;
use serde::{Deserialize, Serialize};

use crate::document::to_json;

/// How much of a record is read. Each level includes the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObservationDetail {
    /// Everything except repeats: enough for a list.
    Estimates,
    /// The rates of each repeat.
    Repeats,
    /// The percentiles of the latencies of each repeat, as histograms of a few buckets.
    Latencies,
}

/// The texts of an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredTexts {
    pub(crate) head: String,
    pub(crate) repeats: String,
    pub(crate) latencies: String,
}

impl StoredTexts {
    /// Writes an observation.
    pub(crate) fn of(observation: &Observation) -> Result<Self, String> {
        Ok(Self {
            head: to_json(&Head::of(observation))?,
            repeats: to_json(&of_each(observation, repeats_of))?,
            latencies: to_json(&of_each(observation, latencies_of))?,
        })
    }

    /// Reads the observation; `None` if its texts are damaged. Workloads in `known` are shared with the observations that
    /// they are from.
    pub(crate) fn observation(&self, detail: ObservationDetail, known: &mut Workloads) -> Option<Observation> {
        let head: Head = serde_json::from_str(&self.head).ok()?;
        let mut observation = head.observation();
        observation.measurements.iter_mut().for_each(|measurement| known.share(&mut measurement.workload));
        if detail >= ObservationDetail::Repeats {
            let repeats: Vec<Vec<Rates>> = serde_json::from_str(&self.repeats).ok()?;
            for (measurement, repeats) in observation.measurements.iter_mut().zip(repeats) {
                measurement.repeats = repeats.into_iter().map(repeat).collect();
            }
        }
        if detail == ObservationDetail::Latencies {
            let latencies: Vec<Vec<StoredHistogram>> = serde_json::from_str(&self.latencies).ok()?;
            let all = observation.measurements.iter_mut().zip(latencies);
            let repeats = all.flat_map(|(m, all)| m.repeats.iter_mut().zip(all));
            repeats.for_each(|(repeat, histogram)| repeat.histogram = histogram.into());
        }
        Some(observation)
    }
}

/// Workloads of previous records: a suite's workloads are the same in all of its records.
#[derive(Debug, Default)]
pub(crate) struct Workloads(Vec<Shared<Workload>>);

/// Most workloads that are remembered. Each is compared with those of a record: suites have fewer.
const MOST_WORKLOADS: usize = 64;

impl Workloads {
    fn share(&mut self, workload: &mut Shared<Workload>) {
        match self.0.iter().find(|known| *known == workload) {
            Some(known) => *workload = known.clone(),
            None if self.0.len() < MOST_WORKLOADS => self.0.push(workload.clone()),
            None => {}
        }
    }
}

/// What [`crate::Store::observations`] would return for a record.
///
/// # Errors
/// Where it contains something that is not JSON, such as a number that is not finite.
pub fn observed(record: &Record, detail: ObservationDetail) -> Result<Observation, String> {
    StoredTexts::of(&Observation::from(record))?
        .observation(detail, &mut Workloads::default())
        .ok_or_else(|| "its observation cannot be read back".to_owned())
}

fn of_each<T>(observation: &Observation, of: impl Fn(&[ObservedRepeat]) -> T) -> Vec<T> {
    observation.measurements.iter().map(|measurement| of(&measurement.repeats)).collect()
}

/// Everything except repeats.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    id: String,
    created: String,
    tool: Tool,
    host: HostHead,
    medium: Medium,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    suite: SuiteRef,
    until_known: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suite_text: Option<String>,
    measurements: Vec<Measured>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<Score>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hottest_celsius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    medium_celsius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster: Option<Box<ClusterPart>>,
    outcome: Outcome,
    validity: Judged,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WeighedFinding>,
}

/// Where it was measured; board and processor distinguish computers.
#[derive(Debug, Serialize, Deserialize)]
struct HostHead {
    hostname: Option<String>,
    board: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu: Option<String>,
    slot: Option<String>,
}

/// A measurement without its repeats.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    workload: Shared<Workload>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iops: Option<Figure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<Figure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    durable_bytes_per_second: Option<Figure>,
    /// p50, p90, p99 and p99.9 in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latency: Option<[Option<f64>; 4]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batching: Option<Box<Batching>>,
    bus_limited: bool,
    instrument_limited: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WeighedFinding>,
}

/// Point, low, high, and number of values.
type Figure = (f64, Option<f64>, Option<f64>, u32);

/// Operations and bytes per second, durable rate, operations, outcome unless completed, and times if nodes began the
/// repeat together.
type Rates = (f64, f64, Option<f64>, u64, Option<Outcome>, Option<Box<Timed>>);

/// The common start of the nodes, and the length and the time of the last completion in nanoseconds.
type Timed = (CommonStart, u64, u64);

impl Head {
    fn of(observation: &Observation) -> Self {
        let Observation {
            id,
            created,
            tool,
            host,
            medium,
            labels,
            suite,
            origin,
            measurements,
            scores,
            hottest_celsius,
            medium_celsius,
            verification,
            cluster,
            outcome,
            validity,
            warnings,
        } = observation;
        let (until_known, suite_text) = match origin {
            ObservedOrigin::Run { until_known, suite_text } => (*until_known, suite_text.clone()),
            ObservedOrigin::Imported(_) | ObservedOrigin::Published { .. } => (false, None),
        };
        let ObservedHost { hostname, board, cpu, slot } = host.clone();
        Self {
            id: id.clone(),
            created: created.clone(),
            tool: tool.clone(),
            host: HostHead { hostname, board, cpu, slot },
            medium: medium.clone(),
            labels: labels.clone(),
            suite: suite.clone(),
            until_known,
            suite_text,
            measurements: measurements.iter().map(Measured::of).collect(),
            scores: scores.clone(),
            hottest_celsius: *hottest_celsius,
            medium_celsius: *medium_celsius,
            verification: verification.clone(),
            // The source of figures is shown; the text that they were read from is not.
            source: origin.source(),
            cluster: cluster.clone(),
            outcome: outcome.clone(),
            validity: Judged::from_validity(validity),
            warnings: warnings.iter().map(WeighedFinding::from_warning).collect(),
        }
    }

    fn observation(mut self) -> Observation {
        let HostHead { hostname, board, cpu, slot } = self.host;
        // A vector that was deserialised has room for four.
        self.warnings.shrink_to_fit();
        Observation {
            id: self.id,
            created: self.created,
            tool: self.tool,
            host: ObservedHost { hostname, board, cpu, slot },
            medium: self.medium,
            labels: self.labels,
            suite: self.suite,
            origin: match self.source.map(Origin::printed) {
                Some(Origin::Imported(source)) => ObservedOrigin::Imported(source),
                Some(Origin::Published { article }) => ObservedOrigin::Published { article },
                Some(Origin::Run(_)) | None => {
                    ObservedOrigin::Run { until_known: self.until_known, suite_text: self.suite_text }
                }
            },
            measurements: self.measurements.into_iter().map(Measured::measurement).collect(),
            scores: self.scores,
            hottest_celsius: self.hottest_celsius,
            medium_celsius: self.medium_celsius,
            verification: self.verification,
            cluster: self.cluster,
            outcome: self.outcome,
            validity: self.validity.validity(),
            warnings: self.warnings.into_iter().map(WeighedFinding::warning).collect(),
        }
    }
}

impl Measured {
    fn of(measurement: &ObservedMeasurement) -> Self {
        let ObservedMeasurement {
            workload,
            repeats,
            iops,
            bytes_per_second,
            durable_bytes_per_second,
            latency_ns: Latency { mean: _, p50, p90, p99, p99_9, max: _ },
            batching,
            bus_limited,
            instrument_limited,
            warnings,
        } = measurement;
        let figure = |estimate: &Option<Estimate>| estimate.as_ref().map(|e| (e.point, e.low, e.high, e.n));
        let points = [p50, p90, p99, p99_9].map(|estimate| estimate.as_ref().map(|e| e.point));
        Self {
            workload: workload.clone(),
            iops: figure(iops),
            bytes_per_second: figure(bytes_per_second),
            durable_bytes_per_second: figure(durable_bytes_per_second),
            // If there are repeats, percentiles are computed from them.
            latency: (repeats.is_empty() && points.iter().any(Option::is_some)).then_some(points),
            batching: batching.clone(),
            bus_limited: *bus_limited,
            instrument_limited: *instrument_limited,
            warnings: warnings.iter().map(WeighedFinding::from_warning).collect(),
        }
    }

    fn measurement(self) -> ObservedMeasurement {
        let estimate =
            |(point, low, high, n): Figure| Estimate { point, low, high, level: None, n, method: String::new() };
        let bare = |point: Option<f64>| point.map(|point| Estimate::bare(point, 1, "").into());
        let [p50, p90, p99, p99_9] = self.latency.unwrap_or_default().map(bare);
        ObservedMeasurement {
            iops: self.iops.map(estimate),
            bytes_per_second: self.bytes_per_second.map(estimate),
            durable_bytes_per_second: self.durable_bytes_per_second.map(estimate),
            latency_ns: Latency { p50, p90, p99, p99_9, ..Latency::default() },
            batching: self.batching,
            bus_limited: self.bus_limited,
            instrument_limited: self.instrument_limited,
            warnings: self.warnings.into_iter().map(WeighedFinding::warning).collect(),
            ..ObservedMeasurement::new(self.workload)
        }
    }
}

/// A warning without its sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct WeighedFinding {
    finding: Finding,
    severity: Severity,
}

/// A verdict with what it rests on.
#[derive(Debug, Serialize, Deserialize)]
struct Judged {
    verdict: ValidityVerdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<WeighedFinding>,
}

impl Judged {
    fn from_validity(validity: &Validity) -> Self {
        Self { verdict: validity.verdict, reasons: validity.reasons.iter().map(WeighedFinding::from_warning).collect() }
    }

    fn validity(self) -> Validity {
        Validity { verdict: self.verdict, reasons: self.reasons.into_iter().map(WeighedFinding::warning).collect() }
    }
}

impl WeighedFinding {
    fn from_warning(warning: &Warning) -> Self {
        Self { finding: warning.finding.clone(), severity: warning.severity }
    }

    fn warning(self) -> Warning {
        Warning::read(self.finding, self.severity)
    }
}

fn repeats_of(repeats: &[ObservedRepeat]) -> Vec<Rates> {
    let rates = |repeat: &ObservedRepeat| {
        let outcome = Some(&repeat.outcome).filter(|outcome| **outcome != Outcome::Completed).cloned();
        let ObservedRepeat { iops, bytes_per_second, durable_bytes_per_second, operations, .. } = repeat;
        let timed = |start: &CommonStart| Box::new((start.clone(), repeat.elapsed_ns, repeat.last_done_ns));
        let timed = repeat.common_start.as_deref().map(timed);
        (*iops, *bytes_per_second, *durable_bytes_per_second, *operations, outcome, timed)
    };
    repeats.iter().map(rates).collect()
}

fn repeat(rates: Rates) -> ObservedRepeat {
    let (iops, bytes_per_second, durable_bytes_per_second, operations, outcome, timed) = rates;
    let (common_start, elapsed_ns, last_done_ns) = timed.map_or((None, 0, 0), |timed| {
        let (start, elapsed_ns, last_done_ns) = *timed;
        (Some(Box::new(start)), elapsed_ns, last_done_ns)
    });
    ObservedRepeat {
        elapsed_ns,
        last_done_ns,
        operations,
        iops,
        bytes_per_second,
        durable_bytes_per_second,
        common_start,
        ..ObservedRepeat::new(outcome.unwrap_or(Outcome::Completed))
    }
}

fn latencies_of(repeats: &[ObservedRepeat]) -> Vec<StoredHistogram> {
    repeats.iter().map(|repeat| StoredHistogram::from(&Histogram::from(&*repeat.histogram).thinned())).collect()
}
