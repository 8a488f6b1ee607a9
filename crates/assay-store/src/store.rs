//! The interface of a store, independent of its implementation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_core::finding::ValidityVerdict;
use assay_core::medium::MediumKind;
use assay_core::outcome::Outcome;
use assay_core::record::Record;

use crate::error::StoreError;
use assay_core::observation::Observation;

use crate::document::Owner;
use crate::observation::ObservationDetail;

/// A collection of records.
///
/// A query is: nothing or `all` (every record, oldest first); an id or its unique beginning; `last`, `last~2`; or
/// conditions that must all hold, each `key=value` with `model`, `unit`, `slot`, `suite`, `kind`, `label.KEY` or the
/// key of any label. Values are compared as a whole, ignoring the case of ASCII letters; commas separate several
/// values, and `*` matches any text. `all` may precede conditions.
pub trait Store: Send {
    /// Location of the store, for people.
    fn location(&self) -> String;

    /// Whether the store is read-only.
    fn read_only(&self) -> bool;

    /// Saves a record under its id, replacing the previous state. Called when the run starts, after every repeat, and
    /// when it has finished. A save survives a power cut once it has returned.
    ///
    /// # Errors
    /// See [`StoreError`]. The previous state remains.
    fn save(&mut self, record: &Record, run: RunState<'_>) -> Result<(), StoreError>;

    /// Saves a document from elsewhere exactly as it is, including fields that this version does not know. An existing
    /// equal one is left alone. A different one under the same id is replaced only if it was taken in while its run was
    /// in progress elsewhere.
    ///
    /// # Errors
    /// [`StoreError::NotARecord`], [`StoreError::NewerRecord`], [`StoreError::Conflict`], or the
    /// store's own.
    fn save_document(&mut self, json: &str) -> Result<Saved, StoreError> {
        self.save_documents(&[json])?.pop().unwrap_or_else(|| Err(StoreError::NotARecord { reason: String::new() }))
    }

    /// The same for several documents in one transaction; each has its own refusal.
    ///
    /// # Errors
    /// The store's own. None of them is saved then.
    fn save_documents(&mut self, json: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError>;

    /// The record with exactly this id.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`], or the store's own.
    fn load(&self, id: &str) -> Result<Stored, StoreError>;

    /// Ids of the records that the query names, oldest first; at least one, unless it is the query for all.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`], [`StoreError::Ambiguous`], [`StoreError::NotSoMany`],
    /// [`StoreError::NoMatch`], [`StoreError::BadQuery`], or the store's own.
    fn resolve(&self, query: &str) -> Result<Vec<String>, StoreError>;

    /// Summaries of the records that the query names, oldest first, without reading their documents. Unlike for
    /// [`Store::resolve`], a `key=value` without a match returns nothing.
    ///
    /// # Errors
    /// As [`Store::resolve`], without [`StoreError::NoMatch`].
    fn list(&self, query: &str) -> Result<Vec<Summary>, StoreError>;

    /// The records that the query names, oldest first, without the parts that grow: samples, sensor readings, and
    /// latencies except for their percentiles. They are read without the documents if the runs are over. Results of
    /// ranking, comparison, plan, advice and list are the same as with complete records.
    ///
    /// # Errors
    /// As [`Store::resolve`] and [`Store::load`].
    fn observations(&self, query: &str, detail: ObservationDetail) -> Result<Vec<Observation>, StoreError>;

    /// Sets labels of the records with these ids, and removes labels without a value, all in one transaction.
    /// Everything else in their documents stays as it was written. Returns the ids of the changed records.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`]; [`StoreError::StillRunning`] if a running process of this host makes one; the
    /// refusals of [`Store::save_document`]; or the store's own. Nothing is changed then.
    fn relabel(&mut self, ids: &[String], labels: &BTreeMap<String, Option<String>>)
    -> Result<Vec<String>, StoreError>;

    /// Removes the record with exactly this id.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`]; [`StoreError::StillRunning`] if a running process of this host makes it; or the
    /// store's own.
    fn remove(&mut self, id: &str) -> Result<(), StoreError>;

    /// Records whose run was killed. The stored document is closed as failed, and each record is returned once, to one
    /// caller, which removes the scratch directory and shows the record. Empty for a read-only store.
    ///
    /// # Errors
    /// The store's own.
    fn abandoned(&mut self) -> Result<Vec<Abandoned>, StoreError>;

    /// Secret of this store, created once at random: the key for hashing serial numbers in everything that leaves the
    /// store.
    ///
    /// # Errors
    /// The store's own.
    fn identity_key(&mut self) -> Result<[u8; 32], StoreError>;
}

/// State of the run that makes a record.
#[derive(Debug, Clone, Copy)]
pub enum RunState<'a> {
    /// In progress.
    Running {
        /// The process that makes it.
        owner: &'a Owner,
        /// Directory with its test files, to be removed if it is killed.
        scratch: Option<&'a Path>,
    },
    /// Finished, with any outcome.
    Finished,
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Parsed by this version.
    pub record: Record,
    /// The JSON text, including fields that this version does not know.
    pub document: String,
}

/// The result of saving a document from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its id.
    pub id: String,
    /// The change.
    pub change: Change,
}

/// The change made by a document from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It was already stored.
    Unchanged,
    /// It replaced a copy made while its run was in progress.
    Replaced,
}

/// A line of the list. Text is unchanged from medium, host and user: make it harmless before showing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Id of the record.
    pub id: String,
    /// When the run started, RFC 3339.
    pub created: String,
    /// Vendor, model and capacity of the medium.
    pub title: String,
    /// Kind of the medium.
    pub kind: MediumKind,
    /// Serial number or CID of the medium.
    pub unit: Option<String>,
    /// Host that measured.
    pub host: Option<String>,
    /// Slot of the medium.
    pub slot: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the numbers can be trusted.
    pub verdict: ValidityVerdict,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
}

impl Summary {
    /// Label `model`, or else the title of the medium.
    #[must_use]
    pub fn model(&self) -> &str {
        self.labels.get("model").unwrap_or(&self.title)
    }
}

/// A record whose run was killed.
#[derive(Debug, Clone, PartialEq)]
pub struct Abandoned {
    /// Id of the record.
    pub id: String,
    /// Directory with its test files, which may still be there.
    pub scratch: Option<PathBuf>,
    /// Its data, closed as failed.
    pub record: Record,
}
