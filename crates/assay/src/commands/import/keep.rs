//! What becomes of records in the store, or would become where nothing is kept.

use std::path::PathBuf;

use assay_core::finding::Finding;
use assay_core::record::Record;
use assay_import::Given;
use assay_store::{Change, Rehearsal, Saved, SqliteStore, Store, StoreError};

use crate::failure::Failure;
use crate::state;

/// Where records go.
pub(super) enum ImportPlace {
    /// Into the store.
    Store(SqliteStore),
    /// Into a rehearsal, after which the store is as before.
    Rehearsed(Rehearsal),
}

impl ImportPlace {
    /// The store, made where it is missing; of a rehearsal what is there.
    pub(super) fn open(rehearsal: bool) -> Result<Self, Failure> {
        Ok(if rehearsal {
            Self::Rehearsed(Rehearsal::beside(state::at_hand()?)?)
        } else {
            Self::Store(state::opened()?)
        })
    }

    fn save(&mut self, documents: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError> {
        match self {
            Self::Store(store) => store.save_documents(documents),
            Self::Rehearsed(rehearsal) => rehearsal.save_documents(documents),
        }
    }

    /// The record with exactly this id.
    pub(super) fn load(&self, id: &str) -> Result<Record, StoreError> {
        let stored = match self {
            Self::Store(store) => store.load(id),
            Self::Rehearsed(rehearsal) => rehearsal.load(id),
        };
        Ok(stored?.record)
    }
}

/// A record that is to be saved.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) file: PathBuf,
    /// The same as its record tells it, behind which a member of an archive is named.
    pub(super) member: String,
    pub(super) record: Record,
    pub(super) document: String,
    /// What was said of it beside its text.
    pub(super) given: Given,
}

/// What became of it, or would become.
pub(super) enum Kept {
    Added,
    Known,
    Conflict(String),
}

/// Saves records. One that was made of the same text before is known, though a later version of assay may read more of
/// it, and labels may have been added since; with other labels it is another claim about the same figures.
pub(super) fn keep(place: &mut ImportPlace, waiting: &[Waiting]) -> Result<Vec<Kept>, Failure> {
    let documents: Vec<&str> = waiting.iter().map(|one| one.document.as_str()).collect();
    let saved = place.save(&documents)?;
    let kept = saved.into_iter().zip(waiting).map(|(saved, one)| match saved {
        Ok(saved) if saved.change == Change::Unchanged => Ok(Kept::Known),
        Ok(_) => Ok(Kept::Added),
        Err(StoreError::Conflict { id }) => Ok(conflict(one, &place.load(&id)?)),
        Err(error) => Err(error.into()),
    });
    kept.collect()
}

/// What a record is beside one of the same id that is in the store.
fn conflict(Waiting { record, given, .. }: &Waiting, there: &Record) -> Kept {
    let id = &there.id;
    let text = |of: &Record| of.origin.imported().map(|source| source.original_text_sha256.clone());
    if !record.is_printed() && *there == (Record { labels: there.labels.clone(), ..record.clone() }) {
        return Kept::Conflict(format!(
            "record {id} is in the store with other labels; to change them: assay label {id} KEY=VALUE"
        ));
    }
    if !record.is_printed() || text(record) != text(there) {
        return Kept::Conflict(format!("another record {id} is in the store; both stay as they are"));
    }
    let host = given.host.is_none() || given.host == there.host.hostname;
    let kind = given.kind.is_none_or(|kind| kind == there.medium.kind);
    let marked = given.doubtful.is_empty() || doubts(record) == doubts(there);
    let labelled = record.labels.iter().all(|(key, value)| there.labels.get(key) == Some(value));
    if labelled && host && kind && marked {
        return Kept::Known;
    }
    let labels: Vec<String> = there.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let what = if !labelled {
        if labels.is_empty() { "without labels".to_owned() } else { format!("as {}", labels.join(", ")) }
    } else if !host {
        there.host.hostname.as_ref().map_or_else(|| "without a host".to_owned(), |host| format!("of host {host}"))
    } else if !kind {
        format!("as {}", there.medium.kind.title())
    } else {
        "with other figures marked as doubtful".to_owned()
    };
    let mend = if labelled {
        format!("to change that: assay rm {id}, and import again")
    } else {
        format!("to change that: assay label {id} KEY=VALUE")
    };
    Kept::Conflict(format!("the same text is in the store {what}, record {id}; {mend}"))
}

/// The figures that are marked, with the reasons.
fn doubts(record: &Record) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    for (at, measurement) in record.measurements.iter().enumerate() {
        for warning in &measurement.warnings {
            if let Finding::MarkedDoubtful { why } = &warning.finding {
                all.push((at, why.as_str()));
            }
        }
    }
    all
}
