//! Listens to a run for everybody: the store keeps the record as it grows, the progress view
//! shows what happens.

use std::path::Path;

use assay_core::event::Event;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_runner::Observer;
use assay_store::{Owner, RunState, SqliteStore, Store};

use crate::progress::Progress;

/// Store and progress of one run.
pub(crate) struct Recorder<'a> {
    store: Option<&'a mut SqliteStore>,
    owner: Owner,
    progress: &'a mut dyn Progress,
    /// Why the store does not have the record; the run goes on without.
    problem: Option<String>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(store: Option<&'a mut SqliteStore>, progress: &'a mut dyn Progress) -> Self {
        Self { store, owner: Owner::current(), progress, problem: None }
    }

    /// Why the record is not in the store, if it is not.
    pub(crate) fn finish(self) -> Option<String> {
        self.problem
    }
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) {
        self.progress.event(event);
    }

    fn checkpoint(&mut self, record: &Record, scratch: Option<&Path>) {
        let Some(store) = self.store.as_mut() else { return };
        let state = match record.outcome {
            assay_core::outcome::Outcome::Running => RunState::Running { owner: &self.owner, scratch },
            // The medium failed, but the directory is still to be removed.
            _ if scratch.is_some() => RunState::Running { owner: &self.owner, scratch },
            _ => RunState::Finished,
        };
        self.problem = store.save(record, state).err().map(|e| harmless(&e.to_string()));
    }
}
