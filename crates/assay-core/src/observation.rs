//! An observation: what results about many records read of one of them.
//!
//! Samples, readings of sensors and full histograms make a record of megabytes. A list, a ranking, a comparison, a plan
//! and advice do not need them. They take observations, so they cannot read a part that was not
//! loaded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cluster::{ClusterPart, CommonStart};
use crate::estimate::Estimate;
use crate::finding::{Validity, Warning};
use crate::health::HealthReadings;
use crate::histogram::StoredHistogram;
use crate::medium::Medium;
use crate::origin::{Origin, Source};
use crate::outcome::Outcome;
use crate::record::{
    Batching, Latency, Measurement, Record, Repeat, Score, SuiteRef, Tool, model_of, no_latencies, title_of, told_apart,
};
use crate::sensor::SensorKind;
use crate::shared::Shared;
use crate::verification::{Pass, Verification};
use crate::workload::Workload;

/// What results about many records read of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Identity of the record.
    pub id: String,
    /// When the run started, RFC 3339, UTC.
    pub created: String,
    /// What measured, without the reason for its engine.
    pub tool: Tool,
    /// Where it measured.
    pub host: ObservedHost,
    /// What was measured, without the devices below it.
    pub medium: Medium,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
    /// By which suite.
    pub suite: SuiteRef,
    /// Who made the figures.
    pub origin: ObservedOrigin,
    /// Results, one a workload.
    pub measurements: Vec<ObservedMeasurement>,
    /// Scores of suites, processors and memory, without the runs of their programs.
    pub scores: Vec<Score>,
    /// The highest temperature in degrees Celsius that any sensor of the host or of the medium showed in the run.
    pub hottest_celsius: Option<f64>,
    /// The highest temperature of the medium itself, as [`Record::medium_celsius`].
    pub medium_celsius: Option<f64>,
    /// Result of a genuineness check, without its map and without the speed by address.
    pub verification: Option<Verification>,
    /// Its part in a run on a cluster.
    pub cluster: Option<Box<ClusterPart>>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the numbers can be trusted.
    pub validity: Validity,
    /// Findings about the run as a whole.
    pub warnings: Vec<Warning>,
}

/// Where it was measured: what tells one computer from another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ObservedHost {
    /// Name of the host.
    pub hostname: Option<String>,
    /// Its board.
    pub board: Option<String>,
    /// Its processor.
    pub cpu: Option<String>,
    /// Slot or port of the medium.
    pub slot: Option<String>,
}

/// Who made the figures of an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "made_by", rename_all = "snake_case")]
pub enum ObservedOrigin {
    /// A run or a check of assay.
    Run {
        /// Whether repeats ended when they agreed: their spread is then smaller than that of the medium.
        until_known: bool,
        /// The suite as it ran; absent where no plan or round is named, as only plans compare it.
        suite_text: Option<String>,
    },
    /// The printed result of another tool; without the text itself.
    Imported(Source),
    /// An article whose figures ship with the program.
    Published {
        /// Its name.
        article: String,
    },
}

/// A measurement of an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedMeasurement {
    /// What was asked of the medium.
    pub workload: Shared<Workload>,
    /// Its repeats; none where they were not loaded, or where only figures were printed.
    pub repeats: Vec<ObservedRepeat>,
    /// Operations per second over the repeats.
    pub iops: Option<Estimate>,
    /// Bytes per second over the repeats.
    pub bytes_per_second: Option<Estimate>,
    /// Bytes per second until all are on the medium.
    pub durable_bytes_per_second: Option<Estimate>,
    /// p50, p90, p99 and p99.9 in nanoseconds, where they were printed; those of repeats follow from their histograms.
    pub latency_ns: Latency,
    /// What waiting for several completions changes.
    pub batching: Option<Box<Batching>>,
    /// Whether the bus held the medium back.
    pub bus_limited: bool,
    /// Whether the instrument held it back.
    pub instrument_limited: bool,
    /// Findings about it.
    pub warnings: Vec<Warning>,
}

/// A repeat of an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedRepeat {
    /// How long it took, in nanoseconds; 0 where nodes did not begin together.
    pub elapsed_ns: u64,
    /// When the last operation was done, in nanoseconds from its start; 0 as above.
    pub last_done_ns: u64,
    /// Operations.
    pub operations: u64,
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Bytes per second until all are on the medium.
    pub durable_bytes_per_second: Option<f64>,
    /// Latencies; empty where they were not loaded.
    pub histogram: Shared<StoredHistogram>,
    /// When nodes began it together.
    pub common_start: Option<Box<CommonStart>>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Default for ObservedOrigin {
    fn default() -> Self {
        Self::Run { until_known: false, suite_text: None }
    }
}

impl From<&Record> for Observation {
    /// Every field of the record is named, so that a new one cannot be forgotten.
    fn from(record: &Record) -> Self {
        let Record {
            schema: _,
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
            sensors,
            crosscheck: _,
            verification,
            cluster,
            outcome,
            validity,
            warnings,
        } = record;
        let of_a_plan = ["plan", "round"].iter().any(|label| labels.contains_key(*label));
        let temperatures = sensors.iter().filter(|sensor| sensor.kind == SensorKind::Temperature.name());
        let degrees = temperatures.flat_map(|sensor| sensor.samples.iter().map(|(_, value)| *value));
        Self {
            id: id.clone(),
            created: created.clone(),
            tool: Tool { engine_reason: String::new(), ..tool.clone() },
            host: ObservedHost {
                hostname: host.hostname.clone(),
                board: host.board.clone(),
                cpu: host.cpu.clone(),
                slot: host.slot.clone(),
            },
            medium: observed_medium(medium),
            labels: labels.clone(),
            suite: suite.clone(),
            origin: match origin {
                Origin::Run(settings) => ObservedOrigin::Run {
                    until_known: settings.until_known(),
                    suite_text: Some(&settings.suite_text).filter(|text| of_a_plan && !text.is_empty()).cloned(),
                },
                Origin::Imported(source) => ObservedOrigin::Imported(Source { text: None, ..source.clone() }),
                Origin::Published { article } => ObservedOrigin::Published { article: article.clone() },
            },
            measurements: measurements.iter().map(ObservedMeasurement::from).collect(),
            scores: scores.iter().map(|score| Score { program: None, ..score.clone() }).collect(),
            hottest_celsius: degrees.filter(|value| value.is_finite()).max_by(f64::total_cmp),
            medium_celsius: record.medium_celsius(),
            verification: verification.as_ref().map(without_map),
            cluster: cluster.clone(),
            outcome: outcome.clone(),
            validity: validity.clone(),
            warnings: warnings.clone(),
        }
    }
}

impl From<Record> for Observation {
    fn from(record: Record) -> Self {
        Self::from(&record)
    }
}

impl ObservedMeasurement {
    /// One with nothing measured.
    #[must_use]
    pub fn new(workload: impl Into<Shared<Workload>>) -> Self {
        Self {
            workload: workload.into(),
            repeats: Vec::new(),
            iops: None,
            bytes_per_second: None,
            durable_bytes_per_second: None,
            latency_ns: Latency::default(),
            batching: None,
            bus_limited: false,
            instrument_limited: false,
            warnings: Vec::new(),
        }
    }
}

impl ObservedRepeat {
    /// One with nothing done.
    #[must_use]
    pub fn new(outcome: Outcome) -> Self {
        Self {
            elapsed_ns: 0,
            last_done_ns: 0,
            operations: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            durable_bytes_per_second: None,
            histogram: no_latencies(),
            common_start: None,
            outcome,
        }
    }
}

impl From<&Measurement> for ObservedMeasurement {
    fn from(measurement: &Measurement) -> Self {
        let Measurement {
            workload,
            requested: _,
            engine: _,
            repeats,
            iops,
            bytes_per_second,
            durable_bytes_per_second,
            latency_ns,
            service_ns: _,
            proof_ratio: _,
            in_flight: _,
            batching,
            bus_limited,
            instrument_limited,
            soak: _,
            bytes_per_joule: _,
            operations_per_joule: _,
            warnings,
        } = measurement;
        Self {
            workload: workload.clone(),
            repeats: repeats.iter().map(ObservedRepeat::from).collect(),
            iops: iops.clone(),
            bytes_per_second: bytes_per_second.clone(),
            durable_bytes_per_second: durable_bytes_per_second.clone(),
            latency_ns: latency_ns.clone(),
            batching: batching.clone(),
            bus_limited: *bus_limited,
            instrument_limited: *instrument_limited,
            warnings: warnings.clone(),
        }
    }
}

impl From<&Repeat> for ObservedRepeat {
    fn from(repeat: &Repeat) -> Self {
        Self {
            elapsed_ns: repeat.elapsed_ns,
            last_done_ns: repeat.last_done_ns,
            operations: repeat.operations,
            iops: repeat.iops,
            bytes_per_second: repeat.bytes_per_second,
            durable_bytes_per_second: repeat.durable_bytes_per_second,
            histogram: repeat.histogram.clone(),
            common_start: repeat.common_start.clone(),
            outcome: repeat.outcome.clone(),
        }
    }
}

/// Paths and mount options are kept: redaction removes the identities in them from other text too.
#[must_use]
pub fn observed_medium(medium: &Medium) -> Medium {
    Medium {
        stack: Vec::new(),
        queue: BTreeMap::new(),
        // Bytes whose meaning is not known are not compared.
        readings: HealthReadings { raw: Vec::new(), ..medium.readings.clone() },
        ..medium.clone()
    }
}

/// Only the page of the check shows the parts of the medium and the speed by address.
#[must_use]
pub fn without_map(verification: &Verification) -> Verification {
    let without_speed = |pass: &Option<Pass>| pass.as_ref().map(|pass| Pass { speed: Vec::new(), ..*pass });
    Verification {
        holds: Vec::new(),
        map: Vec::new(),
        write: without_speed(&verification.write),
        read: without_speed(&verification.read),
        ..verification.clone()
    }
}

impl Observation {
    /// All warnings, of the run and of its measurements.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().chain(self.measurements.iter().flat_map(|m| &m.warnings))
    }

    /// The title of one of its loads, as [`Record::load_title`].
    #[must_use]
    pub fn load_title(&self, measurement: &ObservedMeasurement) -> String {
        told_apart(self.measurements.iter().map(|m| &*m.workload), &measurement.workload, Workload::title)
    }

    /// Whether repeats ended when they agreed: their spread is then smaller than that of the medium.
    #[must_use]
    pub fn until_known(&self) -> bool {
        matches!(self.origin, ObservedOrigin::Run { until_known: true, .. })
    }

    /// The suite as it ran, of a record that names a plan or a round.
    #[must_use]
    pub fn suite_text(&self) -> Option<&str> {
        match &self.origin {
            ObservedOrigin::Run { suite_text, .. } => suite_text.as_deref(),
            ObservedOrigin::Imported(_) | ObservedOrigin::Published { .. } => None,
        }
    }

    /// Whether the figures were printed by another tool or an article: how they came about was not checked.
    #[must_use]
    pub fn is_printed(&self) -> bool {
        !matches!(self.origin, ObservedOrigin::Run { .. })
    }

    /// Whether they were published in an article that ships with the program.
    #[must_use]
    pub fn is_published(&self) -> bool {
        matches!(self.origin, ObservedOrigin::Published { .. })
    }

    /// Label `model`, or what the medium says of itself.
    #[must_use]
    pub fn model(&self) -> String {
        model_of(&self.labels, &self.medium)
    }

    /// [`Observation::model`] as one line to be shown; the kind of the medium where nothing is left of it.
    #[must_use]
    pub fn title(&self) -> String {
        title_of(&self.labels, &self.medium)
    }
}

impl ObservedOrigin {
    /// The source of printed figures, without their text.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        match self {
            Self::Run { .. } => None,
            Self::Imported(source) => Some(source.clone()),
            Self::Published { article } => Origin::Published { article: article.clone() }.source(),
        }
    }
}
