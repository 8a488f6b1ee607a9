//! What a run is asked to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assay_core::sensor::{SensorCommand, SensorNote};
use assay_core::suite::Suite;
use assay_core::text::harmless;
use assay_programs::Tree;

use crate::choose::{EngineWish, Peer};
use crate::resume::Resumption;

/// Whether a raw device may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RawMode {
    /// It may not.
    #[default]
    Refused,
    /// It may, unless it holds data.
    Allowed,
    /// It may, and what it holds may be overwritten: the user named it twice.
    Overwrite,
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Request {
    /// Directory or raw device.
    pub path: PathBuf,
    /// By which suite.
    pub suite: Suite,
    /// Identity of the record to be.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Engine asked for.
    pub engine: EngineWish,
    /// Whether a raw device may be used.
    pub raw: RawMode,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
    /// Seed of data and offsets.
    pub seed: u64,
    /// Relative half width over the repeats to measure for; the suite's repeats are then the most.
    pub confidence: Option<f64>,
    /// By what every workload is run too, in turns.
    pub crosscheck: Option<Peer>,
    /// Without a completion for this long, the medium hangs ([`crate::HANG_AFTER`] by
    /// default).
    pub hang_after: Duration,
    /// Sensors that commands read.
    pub sensors: Vec<SensorCommand>,
    /// What was read by eye.
    pub notes: Vec<SensorNote>,
    /// The source tree of programs that need one.
    pub source_tree: Arc<Tree>,
    /// The interrupted run to resume; `suite`, `id` and `seed` are then those of its record.
    pub resume: Option<Box<Resumption>>,
}

impl Request {
    /// The path, for messages.
    pub(crate) fn shown(&self) -> String {
        harmless(&self.path.to_string_lossy())
    }
}
