//! What a store does, whatever lies behind it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_core::finding::ValidityVerdict;
use assay_core::medium::MediumKind;
use assay_core::outcome::Outcome;
use assay_core::record::Record;

use crate::error::StoreError;
use crate::observation::Detail;
use crate::owner::Owner;

/// Records, kept.
///
/// A query is: nothing or `all` (every record, oldest first); an id or its unique beginning;
/// `last`, `last~2`; or conditions that all have to hold, each `key=value` with `model`, `unit`,
/// `slot`, `suite`, `kind`, `label.KEY` or the key of any label. Values are compared whole, in any
/// case of ASCII letters; commas divide several values, and `*` stands for any text. `all` may
/// stand before conditions.
pub trait Store: Send {
    /// Where the store is, for people.
    fn location(&self) -> String;

    /// Whether records can only be read.
    fn read_only(&self) -> bool;

    /// Saves a record under its id, in place of what stood there. Called when the run starts,
    /// after every repeat, and when it has finished. A save that returned survives a power cut.
    ///
    /// # Errors
    /// See [`StoreError`]. What was saved before stays.
    fn save(&mut self, record: &Record, run: RunState<'_>) -> Result<(), StoreError>;

    /// Saves a document from elsewhere exactly as it came, fields that this version does not know
    /// included. One that is there already stays; another under the same id is replaced only
    /// where it was taken in while its run was under way elsewhere.
    ///
    /// # Errors
    /// [`StoreError::NotARecord`], [`StoreError::NewerRecord`], [`StoreError::Conflict`], or the
    /// store's own.
    fn save_document(&mut self, json: &str) -> Result<Saved, StoreError> {
        self.save_documents(&[json])?.pop().unwrap_or_else(|| Err(StoreError::NotARecord { reason: String::new() }))
    }

    /// The same of several, in one transaction: what one of them is refused for is its own.
    ///
    /// # Errors
    /// The store's own, after which none of them is saved.
    fn save_documents(&mut self, json: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError>;

    /// The record with exactly this id.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`], or the store's own.
    fn load(&self, id: &str) -> Result<Stored, StoreError>;

    /// Ids of the records that the query names, oldest first; at least one, unless the query is
    /// for all.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`], [`StoreError::Ambiguous`], [`StoreError::NotSoMany`],
    /// [`StoreError::NoMatch`], [`StoreError::BadQuery`], or the store's own.
    fn resolve(&self, query: &str) -> Result<Vec<String>, StoreError>;

    /// Summaries of the records that the query names, oldest first, without reading their
    /// documents. Unlike [`Store::resolve`], a `key=value` that nothing matches gives none.
    ///
    /// # Errors
    /// As [`Store::resolve`], without [`StoreError::NoMatch`].
    fn list(&self, query: &str) -> Result<Vec<Summary>, StoreError>;

    /// The records that the query names, oldest first, without what grows: samples, readings of sensors, and all but
    /// the percentiles of the latencies. That is read without their documents where their runs are over, and what
    /// ranking, comparison, plan, advice and list answer is the same.
    ///
    /// # Errors
    /// As [`Store::resolve`] and [`Store::load`].
    fn observations(&self, query: &str, detail: Detail) -> Result<Vec<Record>, StoreError>;

    /// Gives the records with these ids labels, and takes away those without a value; all of them in one transaction. All else of
    /// their documents stays as it was written. The ids of those that changed.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`]; [`StoreError::StillRunning`] while a live process of this host makes one; what
    /// [`Store::save_document`] refuses; or the store's own. Nothing is changed then.
    fn relabel(&mut self, ids: &[String], labels: &BTreeMap<String, Option<String>>)
    -> Result<Vec<String>, StoreError>;

    /// Removes the record with exactly this id.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`]; [`StoreError::StillRunning`] while a live process of this host
    /// makes it; or the store's own.
    fn remove(&mut self, id: &str) -> Result<(), StoreError>;

    /// Records whose run was killed: the stored document is closed as failed, and each is
    /// returned once, to one caller, which removes the scratch directory and shows the record. None from a store that can only be read.
    ///
    /// # Errors
    /// The store's own.
    fn abandoned(&mut self) -> Result<Vec<Abandoned>, StoreError>;

    /// Secret of this store, made once by chance: the key under which serial numbers are hashed
    /// in anything that leaves it.
    ///
    /// # Errors
    /// The store's own.
    fn identity_key(&mut self) -> Result<[u8; 32], StoreError>;
}

/// How far the run is that makes a record.
#[derive(Debug, Clone, Copy)]
pub enum RunState<'a> {
    /// Under way.
    Running {
        /// By which process.
        owner: &'a Owner,
        /// Directory with its test files, to be removed should it be killed.
        scratch: Option<&'a Path>,
    },
    /// Over, however it ended.
    Finished,
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// As this version reads it.
    pub record: Record,
    /// The JSON itself, with fields that this version does not know.
    pub document: String,
}

/// What became of a document from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its id.
    pub id: String,
    /// What changed.
    pub change: Change,
}

/// What a document from elsewhere changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there before.
    Added,
    /// The same stood there already.
    Unchanged,
    /// It took the place of a copy made while its run was under way.
    Replaced,
}

/// A line of the list. Text is as medium, host and user gave it: make it harmless before it is shown.
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
    /// Slot the medium was in.
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
    /// Label `model`, or what the medium says of itself.
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
    /// What there is, closed as failed.
    pub record: Record,
}
