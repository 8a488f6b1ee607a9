//! Listens to a run for everybody: the store keeps the record as it grows, or the spool where the
//! store cannot, and the progress view shows what happens.

use std::path::Path;
use std::time::Duration;

use assay_core::event::Event;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_runner::Observer;
use assay_store::{Keeper, Kept, Owner, RunState, Store, StoreError};

use crate::output;
use crate::progress::Progress;

/// How long a save waits for other processes.
const UNDER_WAY: Duration = Duration::from_millis(250);
const AT_THE_END: Duration = Duration::from_secs(5);

/// Where the record of a run is in the end.
#[derive(Debug)]
pub(crate) enum Saved {
    /// In the store, or not asked for.
    Yes,
    /// In the spool, and why.
    Later(String),
    /// Nowhere, and why.
    No(String),
}

/// Store and progress of one run.
pub(crate) struct Recorder<'a> {
    keeper: Option<&'a mut Keeper>,
    owner: Owner,
    progress: &'a mut dyn Progress,
    /// Where the record is, and why not in the store; the run continues without.
    saved: Saved,
    failure_reported: bool,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(keeper: Option<&'a mut Keeper>, progress: &'a mut dyn Progress) -> Self {
        Self { keeper, owner: Owner::current(), progress, saved: Saved::Yes, failure_reported: false }
    }

    /// Saves the record before anything is measured: a store that cannot be written is found here.
    /// One that is only locked is no reason to wait for: the spool has the record until it is not.
    pub(crate) fn begin(&mut self, record: &Record) -> Result<(), StoreError> {
        let Some(keeper) = self.keeper.as_mut() else { return Ok(()) };
        let state = RunState::Running { owner: &self.owner, scratch: None };
        match keeper.keep(record, state, AT_THE_END) {
            Kept::Stored => Ok(()),
            kept @ Kept::Spooled(StoreError::Locked { .. }) => {
                self.note(kept);
                Ok(())
            }
            Kept::Spooled(error) => {
                keeper.drop_spooled(&record.id);
                Err(error)
            }
            Kept::Nowhere(error, _) => Err(error),
        }
    }

    /// Takes the record back of a run that could not start; puts that back which it was to go on
    /// with.
    pub(crate) fn withdraw(&mut self, record: &Record, before: Option<&Record>) {
        let Some(keeper) = self.keeper.as_mut() else { return };
        keeper.drop_spooled(&record.id);
        let Some(store) = keeper.store() else { return };
        let _ = match before {
            Some(before) => store.save(before, RunState::Finished),
            None => store.save(record, RunState::Finished).and_then(|()| store.remove(&record.id)),
        };
    }

    /// Where the record is.
    pub(crate) fn finish(self) -> Saved {
        self.saved
    }

    fn note(&mut self, kept: Kept) {
        let place = self.keeper.as_ref().map(|keeper| output::shown(keeper.spool())).unwrap_or_default();
        let line = match &kept {
            Kept::Stored => None,
            Kept::Spooled(error) => {
                Some(format!("warning: {error}; the record is kept in {place} until the next command can save it"))
            }
            Kept::Nowhere(error, spool) => {
                Some(format!("warning: {error}; nor can it be kept in {place}: {spool}; the record is only in memory"))
            }
        };
        let saved = saved_as(kept, &place);
        // At the first failure, and where it gets worse.
        let worse = matches!((&self.saved, &saved), (Saved::Later(_), Saved::No(_)));
        if let Some(line) = line.filter(|_| worse || !self.failure_reported) {
            self.failure_reported = true;
            self.progress.tell(&line);
        }
        self.saved = saved;
    }
}

/// Where a record is, in words.
fn saved_as(kept: Kept, place: &str) -> Saved {
    match kept {
        Kept::Stored => Saved::Yes,
        Kept::Spooled(error) => Saved::Later(harmless(&format!(
            "{error}; it is kept in {place}, and the next command takes it into the store"
        ))),
        Kept::Nowhere(error, spool) => Saved::No(harmless(&format!(
            "{error}; nor can it be kept in {place}: {spool}; --json or -o FILE.json write it elsewhere"
        ))),
    }
}

/// Keeps a record that is over when it is first saved.
pub(crate) fn keep_finished(keeper: &mut Keeper, record: &Record) -> Saved {
    let kept = keeper.keep(record, RunState::Finished, AT_THE_END);
    saved_as(kept, &output::shown(keeper.spool()))
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) {
        self.progress.event(event);
    }

    fn checkpoint(&mut self, record: &Record, scratch: Option<&Path>) {
        let Some(keeper) = self.keeper.as_mut() else { return };
        let state = match record.outcome {
            Outcome::Running => RunState::Running { owner: &self.owner, scratch },
            // The medium failed, but the directory is still to be removed.
            _ if scratch.is_some() => RunState::Running { owner: &self.owner, scratch },
            _ => RunState::Finished,
        };
        // Between repeats other processes are not waited for; at the end the record is worth a while.
        let busy_timeout = if matches!(state, RunState::Finished) { AT_THE_END } else { UNDER_WAY };
        let kept = keeper.keep(record, state, busy_timeout);
        self.note(kept);
    }
}
