//! What the runner tells everybody: terminal, `--events`, recorder, fleet.

use serde::{Deserialize, Serialize};

use crate::finding::{Validity, Warning};
use crate::medium::Medium;
use crate::outcome::Outcome;
use crate::workload::Workload;

/// Something happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Wall clock, RFC 3339, UTC.
    pub at: String,
    /// Monotonic time since the start of the run in nanoseconds.
    pub elapsed_ns: u64,
    /// What.
    pub event: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// The run begins; nothing was written yet.
    Started {
        /// Record that will come of it.
        id: String,
        /// Medium it is about.
        medium: Box<Medium>,
        /// Suite that will run.
        suite: String,
        /// Time budget in nanoseconds.
        budget_ns: u64,
        /// Most bytes that will be written.
        planned_write_bytes: u64,
    },
    /// A step outside of measuring.
    Phase {
        /// `layout`, `calibrate`, `cleanup`.
        phase: String,
    },
    /// How far a step has come.
    Progress {
        /// Bytes done.
        done_bytes: u64,
        /// Bytes to do.
        total_bytes: u64,
        /// Bytes per second lately.
        bytes_per_second: f64,
    },
    /// A repeat of a workload begins.
    RepeatStarted {
        /// Name of the workload.
        workload: String,
        /// Workload in words.
        title: String,
        /// Repeat, from 1.
        repeat: u32,
        /// Planned repeats.
        repeats: u32,
        /// Planned length with its warm-up, in nanoseconds.
        planned_ns: u64,
        /// Repeats of all workloads done so far.
        done: u32,
        /// Repeats of all workloads planned.
        total: u32,
        /// Estimated time left for the whole run in nanoseconds.
        left_ns: u64,
    },
    /// One interval of a repeat.
    Sample {
        /// Name of the workload.
        workload: String,
        /// Length of the interval in nanoseconds.
        interval_ns: u64,
        /// Operations per second.
        iops: f64,
        /// Bytes per second.
        bytes_per_second: f64,
        /// 99th percentile of the latency in nanoseconds; null where nothing completed.
        p99_ns: Option<f64>,
        /// Hottest temperature in °C; null without a sensor.
        temperature_celsius: Option<f64>,
        /// Estimated time left for the whole run in nanoseconds.
        left_ns: u64,
    },
    /// A repeat is done.
    RepeatFinished {
        /// Name of the workload.
        workload: String,
        /// Repeat, from 1.
        repeat: u32,
        /// Operations per second.
        iops: f64,
        /// Bytes per second.
        bytes_per_second: f64,
        /// 99th percentile of the latency in nanoseconds.
        p99_ns: Option<f64>,
        /// Bytes that crossed the device over bytes issued.
        proof_ratio: Option<f64>,
        /// Relative half width of the interval of operations per second over the repeats so far; null of fewer than three.
        half_width: Option<f64>,
    },
    /// A repeat of a program is done. It began with `repeat_started`.
    ProgramFinished {
        /// Name of the program.
        program: String,
        /// Repeat, from 1.
        repeat: u32,
        /// Its figure.
        value: f64,
        /// Unit of the figure.
        unit: String,
    },
    /// Something that may falsify a number.
    Warning {
        /// Name of the workload it is about; null for the run.
        workload: Option<String>,
        /// That workload in words.
        title: Option<String>,
        /// What was found.
        warning: Warning,
    },
    /// The run is over and the test file is gone.
    Finished {
        /// Record of the run.
        id: String,
        /// How it ended.
        outcome: Outcome,
        /// Whether the numbers can be trusted.
        validity: Validity,
        /// Bytes written.
        written_bytes: u64,
    },
}

impl EventKind {
    /// A finding about a workload.
    #[must_use]
    pub fn warning(workload: &Workload, warning: &Warning) -> Self {
        Self::Warning { workload: Some(workload.name.clone()), title: Some(workload.title()), warning: warning.clone() }
    }
}
