//! What a run is asked to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assay_core::sensor::{SensorCommand, SensorNote};
use assay_core::suite::{Suite, leaders};
use assay_core::text::harmless;
use assay_device::Sysroot;
use assay_device::available_memory;
use assay_programs::Tree;

use crate::budget::least_budget;
use crate::choose::{EngineWish, Peer};
use crate::error::RunError;
use crate::manner;
use crate::memory::refuse_too_large;
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

    /// Refuses what cannot be done on any medium: too little time, or buffers that memory does not hold.
    pub(crate) fn check(&self, sysroot: &Sysroot) -> Result<(), RunError> {
        self.refuse_too_short()?;
        let open = self.suite.workloads.iter().find(|w| w.rate.is_some());
        if let (EngineWish::Fio, Some(open)) = (&self.engine, open) {
            return Err(RunError::OpenLoopByFio(open.name.clone()));
        }
        let special = self.suite.workloads.iter().find(|w| w.group.is_some() || w.think.is_some());
        if let (EngineWish::Fio, Some(special)) = (&self.engine, special) {
            return Err(RunError::TogetherByFio(special.name.clone()));
        }
        manner::refuse(self)?;
        refuse_too_large(&self.suite.workloads, available_memory(sysroot))
    }

    /// Refuses a budget in which some workloads would have no repeat. What is left of an interrupted run's is not
    /// refused.
    fn refuse_too_short(&self) -> Result<(), RunError> {
        let sides = if self.crosscheck.is_some() { 2 } else { 1 };
        let repeats = sides * u32::try_from(leaders(&self.suite.workloads).len()).unwrap_or(u32::MAX / 2);
        let least = least_budget(repeats);
        if self.resume.is_some() || self.suite.budget >= least {
            return Ok(());
        }
        let budget = assay_core::units::span(self.suite.budget);
        Err(RunError::Budget { budget, repeats, least: format!("{}s", least.as_secs()) })
    }
}
