//! Listens to a run for everybody: the store keeps the record as it grows, the progress view
//! shows what happens.

use std::path::Path;
use std::time::Duration;

use assay_core::event::Event;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_runner::Observer;
use assay_store::{Owner, RunState, SqliteStore, Store, StoreError};

use crate::progress::Progress;

/// How long a save waits for other processes.
const UNDER_WAY: Duration = Duration::from_millis(250);
const AT_THE_END: Duration = Duration::from_secs(5);

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

    /// Saves the record before anything is measured: a store that cannot be written is found here.
    pub(crate) fn begin(&mut self, record: &Record) -> Result<(), StoreError> {
        let Some(store) = self.store.as_mut() else { return Ok(()) };
        store.save(record, RunState::Running { owner: &self.owner, scratch: None })
    }

    /// Takes the record back of a run that could not start; puts that back which it was to go on
    /// with.
    pub(crate) fn withdraw(&mut self, record: &Record, before: Option<&Record>) {
        let Some(store) = self.store.as_mut() else { return };
        let _ = match before {
            Some(before) => store.save(before, RunState::Finished),
            None => store.save(record, RunState::Finished).and_then(|()| store.remove(&record.id)),
        };
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
        // Between repeats nobody waits for others; at the end the record is worth a while.
        let patience = if matches!(state, RunState::Finished) { AT_THE_END } else { UNDER_WAY };
        let _ = store.set_patience(patience);
        self.problem = store.save(record, state).err().map(|e| harmless(&e.to_string()));
    }
}
