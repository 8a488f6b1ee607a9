//! Keeps the record of a run: in the store, or in the spool while the store cannot take it.

use std::path::Path;
use std::time::Duration;

use assay_core::outcome::Outcome;
use assay_core::record::Record;

use crate::error::StoreError;
use crate::spool::{Disk, Files, Spool};
use crate::sqlite::SqliteStore;
use crate::store::{RunState, Store};

/// A running repeat is spooled again when this share of it, as a divisor, is new since the last file. Each file holds
/// all of it, so the sum of all files is at most 17 times the last one.
const NEW_SHARE: u64 = 16;

/// Where a record is now.
#[derive(Debug)]
pub enum Kept {
    /// In the store.
    Stored,
    /// In the spool, because of the store's error; the next command takes it in.
    Spooled(StoreError),
    /// Nowhere: the error of the store, and the error of the spool.
    Nowhere(StoreError, StoreError),
}

/// The store and the spool of one run.
#[derive(Debug)]
pub struct Keeper<F = Disk> {
    store: Option<SqliteStore>,
    spool: Spool<F>,
    /// State of the spool: number of finished repeats, and the times of the first and the last file.
    spooled: Option<Spooled>,
}

#[derive(Debug, Clone, Copy)]
struct Spooled {
    over: usize,
    first_ns: u64,
    last_ns: u64,
}

impl Keeper {
    /// Opens the store in `dir`. A locked store is opened later, and the spool takes the record until then.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], except for [`StoreError::Locked`].
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let store = match SqliteStore::open(dir) {
            Ok(store) => Some(store),
            Err(StoreError::Locked { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self::with(store, Spool::in_directory(dir)))
    }
}

impl<F: Files> Keeper<F> {
    /// With a store and a spool; `None` if the store could not be opened.
    pub fn with(store: Option<SqliteStore>, spool: Spool<F>) -> Self {
        Self { store, spool, spooled: None }
    }

    /// The store, if it could be opened.
    pub fn store(&mut self) -> Option<&mut SqliteStore> {
        self.store.as_mut()
    }

    /// Path of the spool.
    #[must_use]
    pub fn spool(&self) -> &Path {
        self.spool.path()
    }

    /// The files of the spool.
    pub fn spool_files(&mut self) -> &mut F {
        self.spool.files()
    }

    /// Removes the spooled state of a record that is no longer needed.
    pub fn drop_spooled(&mut self, id: &str) {
        self.spool.forget(id);
        self.spooled = None;
    }

    /// Keeps a record. Waits at most `busy_timeout` for other processes at the store.
    pub fn keep(&mut self, record: &Record, run: RunState<'_>, busy_timeout: Duration) -> Kept {
        let refused = match self.save(record, run, busy_timeout) {
            Ok(()) => {
                self.drop_spooled(&record.id);
                return Kept::Stored;
            }
            Err(error) => error,
        };
        if self.can_wait(record) {
            return Kept::Spooled(refused);
        }
        match self.spool.put(record, run) {
            Ok(()) => {
                let last_ns = crate::document::progress(record).0;
                let first_ns = self.spooled.map_or(last_ns, |spooled| spooled.first_ns);
                self.spooled = Some(Spooled { over: repeats_over(record), first_ns, last_ns });
                Kept::Spooled(refused)
            }
            Err(error) => Kept::Nowhere(refused, error),
        }
    }

    fn save(&mut self, record: &Record, run: RunState<'_>, busy_timeout: Duration) -> Result<(), StoreError> {
        if self.store.is_none() {
            let dir = self.spool.path().parent().unwrap_or(Path::new("."));
            self.store = Some(SqliteStore::open_within(dir, busy_timeout)?);
        }
        let Some(store) = &mut self.store else { return Ok(()) };
        store.set_busy_timeout(busy_timeout)?;
        store.save(record, run)
    }

    /// Whether the spool already has almost all of the running repeat.
    fn can_wait(&self, record: &Record) -> bool {
        let Some(Spooled { over, first_ns, last_ns }) = self.spooled else { return false };
        let now = crate::document::progress(record).0;
        self.spool.keeps(&record.id)
            && record.outcome == Outcome::Running
            && repeats(record).any(|outcome| *outcome == Outcome::Running)
            && repeats_over(record) == over
            && now.saturating_sub(last_ns) < now.saturating_sub(first_ns) / NEW_SHARE
    }
}

fn repeats(record: &Record) -> impl Iterator<Item = &Outcome> {
    record.measurements.iter().flat_map(|m| &m.repeats).map(|repeat| &repeat.outcome)
}

fn repeats_over(record: &Record) -> usize {
    repeats(record).filter(|outcome| **outcome != Outcome::Running).count()
}
