//! How a repeat or the run ended.

use std::sync::Arc;

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::workload::Workload;
use assay_engine::{RepeatReport, Target, Trouble};

use super::begin::Session;
use crate::budget::Budget;
use crate::emit::Emitter;

/// The failure with when and after how many bytes it came.
pub(super) fn failed(
    failure: RunFailure,
    detail: String,
    workload: Option<&str>,
    budget: &Budget,
    emitter: &Emitter<'_>,
) -> Outcome {
    Outcome::Failed {
        failure,
        detail,
        workload: workload.map(str::to_owned),
        elapsed_ns: emitter.elapsed_ns(),
        written_bytes: budget.written(),
    }
}

impl Session<'_> {
    /// The run ends with this failure, outside of a workload.
    pub(super) fn fail(&mut self, failure: RunFailure, detail: String) {
        let outcome = self.failed(failure, detail, None);
        self.draft.end(outcome);
    }

    pub(super) fn failed(&self, failure: RunFailure, detail: String, workload: Option<&str>) -> Outcome {
        failed(failure, detail, workload, &self.budget, &self.emitter)
    }

    /// How a repeat on `target` ended, by what the engine reports and what the kernel knows of the devices.
    pub(super) fn outcome_of(&self, report: &RepeatReport, workload: &Workload, target: &Arc<Target>) -> Outcome {
        let examined = |failure, write, words: String| match self.health.examine(failure, write, target) {
            (failure, Some(why)) => (failure, format!("{words}; {why}")),
            (failure, None) => (failure, words),
        };
        let system = |errno: i32| std::io::Error::from_raw_os_error(errno);
        let op = |write| if write { "write" } else { "read" };
        let (failure, detail) = match &report.trouble {
            None if self.control.stopped() => (RunFailure::Interrupted, String::new()),
            None => return Outcome::Completed,
            Some(Trouble::Io { write, offset, errno: 0 }) => {
                let words = format!("{} at offset {offset} moved fewer bytes than asked", op(*write));
                examined(RunFailure::IoError, *write, words)
            }
            Some(Trouble::Io { write, offset, errno }) => {
                let words = format!("{} at offset {offset}: {}", op(*write), system(*errno));
                examined(RunFailure::from_errno(*errno), *write, words)
            }
            Some(Trouble::Sync { errno }) => {
                examined(RunFailure::from_errno(*errno), true, format!("sync: {}", system(*errno)))
            }
            Some(Trouble::Hung { after }) => {
                (RunFailure::Hung, format!("nothing completed for {}", assay_core::units::span(*after)))
            }
            Some(Trouble::Setup(message)) => (RunFailure::Host, message.clone()),
            Some(Trouble::Peer(message)) => (RunFailure::Other, message.clone()),
        };
        self.failed(failure, detail, Some(&workload.name))
    }
}
