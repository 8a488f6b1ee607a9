//! Records that are brought here: each once, by run, node and attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_store::{Keeper, Store, StoreError};

use super::records::Guard;
use crate::failure::Failure;
use crate::recorder::{Saved, keep_finished};
use crate::state;

/// What became of a record that was brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FetchResult {
    /// It is in the store now.
    Taken,
    /// It was there before.
    Here,
}

/// The store of this machine, and what it has of a run.
pub(super) struct Home {
    run: String,
    guard: Option<Guard>,
    inner: Mutex<Inner>,
}

struct Inner {
    keeper: Keeper,
    /// Identifiers of the records of the run.
    ids: BTreeSet<String>,
    /// The same by node and attempt, where there was a coordinator.
    attempts: BTreeMap<(String, u32), String>,
}

impl Home {
    pub(super) fn of(run: &str, guard: Option<Guard>) -> Result<Self, Failure> {
        let mut keeper = state::keeper()?;
        let mut attempts = BTreeMap::new();
        let mut ids = BTreeSet::new();
        if let Some(store) = keeper.store() {
            let found = match store.resolve(&format!("fleet={run}")) {
                Err(StoreError::NoMatch { .. }) => Vec::new(),
                found => found?,
            };
            for id in found {
                let record = store.load(&id)?.record;
                if let Some(part) = record.cluster.filter(|part| part.run == run) {
                    attempts.insert((part.node, part.attempt), id.clone());
                }
                ids.insert(id);
            }
        }
        Ok(Self { run: run.to_owned(), guard, inner: Mutex::new(Inner { keeper, ids, attempts }) })
    }

    /// What judges whether a medium is the one that was to be there.
    pub(super) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Identifiers of what is here.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).ids.clone()
    }

    /// Takes what a node is said to have measured in the run.
    pub(super) fn take(&self, node: &str, id: &str, document: &[u8]) -> Result<FetchResult, String> {
        let text = std::str::from_utf8(document).map_err(|_| "it is not text".to_owned())?;
        let record = Record::from_json(text).map_err(|error| format!("it is not a record: {error}"))?;
        if record.id != id || !self.is_of(node, &record) {
            return Err("it is a record of something else".to_owned());
        }
        if record.outcome == Outcome::Running {
            return Err("it is not finished".to_owned());
        }
        self.guard.as_ref().map_or(Ok(()), |guard| guard(node, &record))?;
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let attempt = record.cluster.as_ref().map(|part| (part.node.clone(), part.attempt));
        if let Some(other) =
            attempt.as_ref().and_then(|attempt| inner.attempts.get(attempt)).filter(|other| *other != id)
        {
            return Err(format!("{other} is here of the same attempt"));
        }
        if let Some(there) = inner.keeper.store().and_then(|store| store.load(id).ok()) {
            let same = self.is_of(node, &there.record) && there.record.cluster == record.cluster;
            return if same { Ok(FetchResult::Here) } else { Err(format!("another record here is called {id}")) };
        }
        match keep_finished(&mut inner.keeper, &record) {
            Saved::Yes | Saved::Later(_) => {}
            Saved::No(reason) => return Err(reason),
        }
        inner.ids.insert(id.to_owned());
        attempt.map(|attempt| inner.attempts.insert(attempt, id.to_owned()));
        Ok(FetchResult::Taken)
    }

    fn is_of(&self, node: &str, record: &Record) -> bool {
        let label = |name: &str| record.labels.get(name).map(String::as_str);
        match &record.cluster {
            Some(part) => part.run == self.run && part.node == node,
            // Each of them began by itself.
            None => label("fleet") == Some(&self.run) && label("node") == Some(node),
        }
    }
}

/// Whether it can be the identifier of a record, as names of files and arguments are made of it.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}
