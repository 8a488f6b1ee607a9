//! Takes the files of the spool into the store.

use rusqlite::OptionalExtension;

use super::observe::{drop_observation, put_observation};
use super::open::SqliteStore;
use super::write::{drop_run, put, put_run};
use crate::document::{self, Columns};
use crate::error::StoreError;
use crate::spool::{Entry, Files, Spool};
use crate::store::RunState;

/// What was taken in from a spool, and what was left.
#[derive(Debug, Default)]
pub struct Intake {
    /// Records that the store now has in a newer state than before.
    pub taken: Vec<String>,
    /// Files that remain in the spool.
    pub left: Vec<Left>,
}

/// A file that remains in the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its name within the spool.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl SqliteStore {
    /// Takes in every record of the spool that is newer than the store's own, and removes the files whose content is
    /// durable in the store. Repeating this, or being killed during it, does no harm.
    ///
    /// # Errors
    /// The store's own, or the spool cannot be listed. No file is removed unless the store has its content.
    pub fn take_in<F: Files>(&mut self, spool: &mut Spool<F>) -> Result<Intake, StoreError> {
        let mut intake = Intake::default();
        for name in spool.waiting()? {
            match spool.read(&name) {
                Ok(entry) => match self.take(&entry)? {
                    Ok(newer) => {
                        if newer && !intake.taken.contains(&entry.record.id) {
                            intake.taken.push(entry.record.id.clone());
                        }
                        spool.taken(&name)?;
                    }
                    Err(reason) => intake.left.push(Left { name, reason: reason.to_owned() }),
                },
                // Another command was faster.
                Err(_) if !spool.waiting()?.contains(&name) => {}
                Err(reason) => intake.left.push(Left { name, reason }),
            }
        }
        Ok(intake)
    }

    /// Whether the entry was newer than the state in the store; the reason if it is of another run.
    fn take(&mut self, entry: &Entry) -> Result<Result<bool, &'static str>, StoreError> {
        let columns = Columns::of(&entry.record)?;
        let file = self.file.clone();
        let explain = |error| super::explain::database(&file, error);
        self.forget_growth(&entry.record.id);
        let tx = self.begin()?;
        let there: Option<i64> = tx
            .query_row("SELECT number FROM record WHERE id = ?1", [&entry.record.id], |row| row.get(0))
            .optional()
            .map_err(explain)?;
        if let Some(number) = there {
            // A stored document that cannot be read does not prevent taking in the other.
            let json = super::parts::document(&tx, number).map_err(explain)?;
            if let Some(stored) = json.and_then(|json| document::read(&json).ok()) {
                if (&stored.created, stored.settings.seed) != (&entry.record.created, entry.record.settings.seed) {
                    return Ok(Err("the store has another run under the same id"));
                }
                if document::progress(&stored) >= document::progress(&entry.record) {
                    return Ok(Ok(false));
                }
            }
        }
        let number = put(&tx, &entry.record, &columns, &entry.document).map_err(explain)?;
        match entry.run() {
            RunState::Running { owner, scratch } => {
                drop_observation(&tx, number).map_err(explain)?;
                put_run(&tx, number, owner, scratch).map_err(explain)?;
            }
            RunState::Finished => {
                put_observation(&tx, number, &entry.record).map_err(explain)?;
                drop_run(&tx, number).map_err(explain)?;
            }
        }
        tx.commit().map_err(explain)?;
        Ok(Ok(true))
    }
}
