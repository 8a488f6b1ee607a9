//! The record: one run on one medium, versioned and self-contained.
//!
//! Readers accept newer minor versions and ignore fields they do not know (the store keeps the
//! document as it came); writers never change the meaning of a field. See `docs/record.md`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::cluster::{ClusterPart, CommonStart};
use crate::estimate::Estimate;
use crate::finding::{Finding, Validity, Warning};
use crate::histogram::StoredHistogram;
use crate::medium::Medium;
pub use crate::origin::{Layout, Origin, Settings, Source};
use crate::original::Crosscheck;
pub use crate::original::OriginalRun;
use crate::outcome::Outcome;
use crate::program::ProgramRun;
use crate::shared::Shared;
use crate::soak::{Soak, Steady};
use crate::text::clean;
use crate::verification::Verification;
use crate::workload::Workload;

/// Version of the format: readers of `1.x` read every `1.y`.
pub const SCHEMA: &str = "1.0";

/// Major version that this code reads.
pub const SCHEMA_MAJOR: u32 = 1;

/// Major part of a schema version like `1.4`; `None` where it is no version.
#[must_use]
pub fn schema_major(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    minor.parse::<u32>().ok()?;
    major.parse().ok()
}

/// One run on one medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Format version, `major.minor`.
    pub schema: String,
    /// Identity of the record: ten characters, unique within a store and very likely beyond.
    pub id: String,
    /// When the run started, RFC 3339, UTC.
    pub created: String,
    /// What measured.
    pub tool: Tool,
    /// Where it measured.
    pub host: Host,
    /// What was measured.
    pub medium: Medium,
    /// Free labels of the user (`model`, `unit`, `slot`, `price`, `power`, …).
    pub labels: BTreeMap<String, String>,
    /// By which suite.
    pub suite: SuiteRef,
    /// Who made the figures: a run of assay with its settings, another tool, or an article.
    #[serde(flatten)]
    pub origin: Origin,
    /// Results, one a workload.
    pub measurements: Vec<Measurement>,
    /// Figures that are none of a load: the score of a suite, the speed of processor or memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// Readings taken through the run.
    pub sensors: Vec<Sensor>,
    /// The same workloads by another instrument, where that was asked for.
    pub crosscheck: Vec<Crosscheck>,
    /// Result of a genuineness check, when one was made.
    pub verification: Option<Verification>,
    /// Its part in a run on a cluster; null where it ran by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Box<ClusterPart>>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the numbers can be trusted.
    pub validity: Validity,
    /// Findings about the run as a whole; those about one workload stand with it.
    pub warnings: Vec<Warning>,
}

impl Record {
    /// A record from its JSON text. Readers of a record are long: they are made here, once, and for texts alone.
    ///
    /// # Errors
    /// The text is not a record.
    pub fn from_json(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    /// Its JSON text. Writers of a record are as long: they are made here, once, and for texts alone.
    ///
    /// # Errors
    /// None: a record has string keys only, and numbers that JSON lacks become null.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Its JSON document, by way of the text.
    ///
    /// # Errors
    /// None, as of the text.
    pub fn to_value(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&self.to_json()?)
    }

    /// All warnings, of the run and of its measurements.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().chain(self.measurements.iter().flat_map(|m| &m.warnings))
    }

    /// The measurement of the workload with this name.
    #[must_use]
    pub fn measurement(&self, name: &str) -> Option<&Measurement> {
        self.measurements.iter().find(|m| m.workload.name == name)
    }

    /// The title of one of this record's loads; with the workload's name where one before it has the same title, as the
    /// write and the rewrite of one source.
    #[must_use]
    pub fn load_title(&self, measurement: &Measurement) -> String {
        told_apart(self.measurements.iter().map(|m| &*m.workload), &measurement.workload, Workload::title)
    }

    /// [`Record::load_title`] where the pattern is said elsewhere.
    #[must_use]
    pub fn load_title_without_pattern(&self, measurement: &Measurement) -> String {
        let all = self.measurements.iter().map(|m| &*m.workload);
        told_apart(all, &measurement.workload, Workload::title_without_pattern)
    }

    /// Whether the figures were printed by another tool or an article: how they came about was not checked.
    #[must_use]
    pub fn is_printed(&self) -> bool {
        !matches!(self.origin, Origin::Run(_))
    }

    /// Whether they were published in an article that ships with the program.
    #[must_use]
    pub fn is_published(&self) -> bool {
        matches!(self.origin, Origin::Published { .. })
    }

    /// The settings of a run of assay; figures that were printed elsewhere have none.
    #[must_use]
    pub fn settings(&self) -> Option<&Settings> {
        match &self.origin {
            Origin::Run(settings) => Some(settings),
            Origin::Imported(_) | Origin::Published { .. } => None,
        }
    }

    /// Changes the settings of a run of assay; figures that were printed elsewhere have none.
    pub fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        if let Origin::Run(settings) = &mut self.origin {
            change(settings);
        }
    }

    /// Label `model`, or what the medium says of itself.
    #[must_use]
    pub fn model(&self) -> String {
        model_of(&self.labels, &self.medium)
    }

    /// [`Record::model`] as one line to be shown; the kind of the medium where nothing is left of it.
    #[must_use]
    pub fn title(&self) -> String {
        title_of(&self.labels, &self.medium)
    }
}

/// Label `model`, or what the medium says of itself.
pub(crate) fn model_of(labels: &BTreeMap<String, String>, medium: &Medium) -> String {
    labels.get("model").cloned().unwrap_or_else(|| medium.title())
}

/// [`model_of`] as one line to be shown; the kind of the medium where nothing is left of it.
pub(crate) fn title_of(labels: &BTreeMap<String, String>, medium: &Medium) -> String {
    let name = clean(&model_of(labels, medium));
    if name.is_empty() { medium.kind.title().to_owned() } else { name }
}

/// The words of one of several loads; with the workload's name where one before it has the same title.
pub(crate) fn told_apart<'a>(
    all: impl IntoIterator<Item = &'a Workload>,
    own: &Workload,
    words: fn(&Workload) -> String,
) -> String {
    let first = all.into_iter().find(|workload| workload.title() == own.title());
    let is_first = first.is_none_or(|workload| workload.name == own.name);
    if is_first { words(own) } else { format!("{} ({})", words(own), clean(&own.name)) }
}

/// What measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Name of the program.
    pub name: String,
    /// Exact version.
    pub version: String,
    /// Commit of its source, as the build names it; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Engine asked for or chosen.
    pub engine: String,
    /// Why this engine.
    pub engine_reason: String,
}

impl Tool {
    /// This program.
    #[must_use]
    pub fn assay(version: &str, engine: &str, engine_reason: &str) -> Self {
        Self {
            name: "assay".to_owned(),
            version: version.to_owned(),
            commit: None,
            engine: engine.to_owned(),
            engine_reason: engine_reason.to_owned(),
        }
    }
}

/// Where it measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// Host name.
    pub hostname: Option<String>,
    /// Board or machine model.
    pub board: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors online.
    pub cores: Option<u32>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Operating system, as it names itself.
    pub os: Option<String>,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Machine architecture.
    pub arch: Option<String>,
    /// Place the unit was in; from the label `slot`.
    pub slot: Option<String>,
}

/// By which suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteRef {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
}

impl SuiteRef {
    /// A suite by its name and version.
    #[must_use]
    pub fn new(name: &str, version: u32) -> Self {
        Self { name: name.to_owned(), version }
    }
}

/// Result of one workload.
///
/// What most measurements lack, or an observation of them, is boxed: programs hold many thousands of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measurement {
    /// The workload as it ran.
    pub workload: Shared<Workload>,
    /// The workload as the suite has it, where it had to be scaled down.
    pub requested: Option<Box<Workload>>,
    /// Engine that ran it.
    pub engine: String,
    /// Its executions.
    pub repeats: Vec<Repeat>,
    /// Operations per second.
    pub iops: Option<Estimate>,
    /// Bytes per second, acknowledged.
    pub bytes_per_second: Option<Estimate>,
    /// Bytes per second with the final sync in the clock; null for reads.
    pub durable_bytes_per_second: Option<Estimate>,
    /// Latency of one operation.
    pub latency_ns: Latency,
    /// Time from submission to completion, in an open loop, whose `latency_ns` counts from the planned time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ns: Option<Box<Latency>>,
    /// Bytes that crossed the device over bytes issued, over all repeats; null without a device.
    pub proof_ratio: Option<f64>,
    /// Mean operations in flight.
    pub in_flight: Option<f64>,
    /// For how many completions at once was waited, where the host and not the medium might have been the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batching: Option<Box<Batching>>,
    /// Within 5 % of what the bus reaches, or above.
    pub bus_limited: bool,
    /// Within a factor of three of what the null engine does here.
    pub instrument_limited: bool,
    /// What it shows over time, where it is a soak.
    pub soak: Option<Box<Soak>>,
    /// Bytes moved for a joule; null without a sensor of power.
    pub bytes_per_joule: Option<Box<Estimate>>,
    /// Operations for a joule; null without a sensor of power.
    pub operations_per_joule: Option<Box<Estimate>>,
    /// Findings about this workload.
    pub warnings: Vec<Warning>,
}

impl Measurement {
    /// A measurement before its first repeat.
    #[must_use]
    pub fn empty(workload: impl Into<Shared<Workload>>, engine: &str) -> Self {
        Self {
            workload: workload.into(),
            requested: None,
            engine: engine.to_owned(),
            repeats: Vec::new(),
            iops: None,
            bytes_per_second: None,
            durable_bytes_per_second: None,
            latency_ns: Latency::default(),
            service_ns: None,
            proof_ratio: None,
            in_flight: None,
            batching: None,
            bus_limited: false,
            instrument_limited: false,
            soak: None,
            bytes_per_joule: None,
            operations_per_joule: None,
            warnings: Vec::new(),
        }
    }

    /// Adds a finding unless it stands there already.
    pub fn warn(&mut self, finding: Finding) {
        let warning = Warning::from(finding);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Latency of one operation in nanoseconds, each an estimate over the repeats.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Mean.
    pub mean: Option<Box<Estimate>>,
    /// Median.
    pub p50: Option<Box<Estimate>>,
    /// 90th percentile.
    pub p90: Option<Box<Estimate>>,
    /// 99th percentile.
    pub p99: Option<Box<Estimate>>,
    /// 99.9th percentile.
    pub p99_9: Option<Box<Estimate>>,
    /// Largest of all.
    pub max: Option<Box<Estimate>>,
}

/// For how many completions at once a job waited, by what the warm-up of the first repeat showed. Each ratio is that of
/// waiting for several by waiting for one, in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batching {
    /// Completions that were waited for at once in all repeats; fewer than this can be done and not yet seen.
    pub wait_for: u32,
    /// Completions that were waited for in turns with one, before that was chosen.
    pub tried: u32,
    /// Ratio of operations per second.
    pub iops_ratio: f64,
    /// Ratio of median latencies, which hold the time up to the end of the wait.
    pub p50_ratio: Option<f64>,
    /// Ratio of the 99th percentiles.
    pub p99_ratio: Option<f64>,
}

/// One execution of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeat {
    /// When it started, RFC 3339, UTC.
    pub started: String,
    /// Length of the measured window in nanoseconds, from the first completion after the warm-up
    /// to the first completion after the end; the mean over the jobs.
    pub elapsed_ns: u64,
    /// Operations completed in the window.
    pub operations: u64,
    /// Bytes moved in the window.
    pub bytes: u64,
    /// Operations per second: the sum over the jobs of each one's operations by its own window.
    pub iops: f64,
    /// Bytes per second, acknowledged.
    pub bytes_per_second: f64,
    /// Bytes issued from start to drained, warm-up included.
    pub issued_bytes: u64,
    /// The bytes written in the window by the window and its part of the final sync, which all bytes written since
    /// the start share alike; of mixed work, the writes alone. Never above the acknowledged rate. Null for reads.
    pub durable_bytes_per_second: Option<f64>,
    /// Mean operations in flight within the window, by its own integral over time.
    pub in_flight: f64,
    /// Bytes that crossed the device over bytes issued; null without a device.
    pub proof_ratio: Option<f64>,
    /// Readings, one a second, from the start of the repeat.
    pub samples: Vec<Sample>,
    /// Latencies of all operations in the window.
    pub histogram: Shared<StoredHistogram>,
    /// When the first job finished, from the start of the repeat, in nanoseconds.
    pub first_done_ns: u64,
    /// When the last job finished, from the start of the repeat, in nanoseconds.
    pub last_done_ns: u64,
    /// Times from submission to completion, in an open loop, whose `histogram` counts from the planned time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_histogram: Option<Box<StoredHistogram>>,
    /// Operations that were due in the window of an open loop and were not begun in time to be waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unserved: Option<u64>,
    /// How steady it was, where that decided its length.
    pub steady: Option<Box<Steady>>,
    /// How another tool was called that made it, and what that printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Box<OriginalRun>>,
    /// When it was to begin together with other nodes, and did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_start: Option<Box<CommonStart>>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The histogram that all repeats without latencies share.
static NO_LATENCIES: LazyLock<Shared<StoredHistogram>> = LazyLock::new(Shared::default);

/// The latencies of a repeat for which there are none.
#[must_use]
pub fn no_latencies() -> Shared<StoredHistogram> {
    NO_LATENCIES.clone()
}

impl Repeat {
    /// A repeat in which nothing was done yet.
    #[must_use]
    pub fn empty(started: &str, outcome: Outcome) -> Self {
        Self {
            started: started.to_owned(),
            elapsed_ns: 0,
            operations: 0,
            bytes: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            issued_bytes: 0,
            durable_bytes_per_second: None,
            in_flight: 0.0,
            proof_ratio: None,
            samples: Vec::new(),
            histogram: no_latencies(),
            first_done_ns: 0,
            last_done_ns: 0,
            service_histogram: None,
            unserved: None,
            steady: None,
            original: None,
            common_start: None,
            outcome,
        }
    }
}

/// One interval of a repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// End of the interval since the start of the run, in nanoseconds.
    pub t_ns: u64,
    /// Length of the interval in nanoseconds.
    pub interval_ns: u64,
    /// Operations completed in it.
    pub operations: u64,
    /// Bytes moved in it.
    pub bytes: u64,
    /// Median latency in nanoseconds; null where nothing completed.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the latency in nanoseconds; null where nothing completed.
    pub p99_ns: Option<f64>,
}

/// Readings of one sensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sensor {
    /// Its name.
    pub name: String,
    /// `temperature` (°C), `frequency` (Hz), `power` (W).
    pub kind: String,
    /// Unit of the values.
    pub unit: String,
    /// Where the values come from: `thermal zone`, `drive`, `hwmon`, `cpufreq`, `rapl`, `command`,
    /// `note` (read by eye); empty where it was not kept.
    pub source: String,
    /// Pairs of time since the start of the run in nanoseconds and value.
    pub samples: Vec<(u64, f64)>,
}

/// A figure that is none of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Score {
    /// What it is of, as its tool calls it: `sysbench cpu`, `PiBenchmarks score`.
    pub name: String,
    /// Its value.
    pub value: Estimate,
    /// Unit of the value: `events/s`, `Mflop/s`, `MB/s`; empty for a score without one.
    pub unit: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// The runs that it was taken from, where a program of the suite made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Box<ProgramRun>>,
}

/// JSON Schema of [`Record`], as committed in `schemas/record-v1.json`.
#[cfg(feature = "schema")]
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Record).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), "assay record, schema version 1".into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Op, Pattern, Unknown};

    #[test]
    fn versions_are_read() {
        assert_eq!(schema_major("1.0"), Some(1));
        assert_eq!(schema_major("12.34"), Some(12));
        for bad in ["", "1", "x.y", "1.", "1.2.3"] {
            assert_eq!(schema_major(bad), None, "{bad}");
        }
    }

    #[test]
    fn loads_of_one_title_are_told_apart_by_name() {
        let record = |measurements| {
            let (tool, suite) = (Tool::assay("1.0", "sync", "asked for"), SuiteRef::new("s", 1));
            let draft = crate::draft::Draft::begin("id", "", tool, suite, Medium::unknown("/mnt"));
            Record { measurements, ..draft.close(Outcome::Completed) }
        };
        let bare = |name: &str| Workload {
            unknown: vec![Unknown::Pattern, Unknown::BlockBytes, Unknown::QueueDepth],
            ..Workload::new(name, Op::Write, Pattern::Sequential, 0)
        };
        let measured = |w: Workload| Measurement::empty(w, "");
        let alone = record(vec![measured(bare("write"))]);
        let unknown = "write, unknown block size, unknown queue depth";
        assert_eq!(alone.load_title(&alone.measurements[0]), unknown);
        let known = Workload::new("w", Op::Read, Pattern::Random, 4096);
        assert_eq!((known.title_without_pattern().as_str(), known.shape().as_str()), ("read 4 KiB", "4 KiB"));
        assert_eq!((bare("write").shape().as_str(), bare("write").pattern_is(Pattern::Sequential)), ("", false));
        let both = record(vec![measured(bare("write")), measured(bare("rewrite"))]);
        assert_eq!(both.load_title(&both.measurements[0]), unknown);
        assert_eq!(both.load_title(&both.measurements[1]), format!("{unknown} (rewrite)"));
    }

    #[test]
    fn a_finding_is_told_once() {
        let workload = Workload { queue_depth: 8, jobs: 4, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
        assert_eq!(workload.depth(), 32, "over all jobs");
        let mut measurement = Measurement::empty(workload, "sync");
        measurement.warn(Finding::OverlayHidesMedium);
        measurement.warn(Finding::OverlayHidesMedium);
        assert_eq!(measurement.warnings.len(), 1);
    }
}
