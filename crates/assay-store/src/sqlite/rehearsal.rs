//! What saving would change, where nothing is to be saved.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::explain;
use super::open::SqliteStore;
use super::write::{There, change_by, there};
use crate::document;
use crate::error::StoreError;
use crate::store::{Change, Saved, Store, Stored};

/// Says of documents from elsewhere what a store would make of them. The store stays as it is: what would be saved is kept in
/// a file without a name, which SQLite removes.
#[derive(Debug)]
pub struct Rehearsal {
    store: Option<SqliteStore>,
    saved: Connection,
}

impl Rehearsal {
    /// Begins with what the store holds; without one, with nothing.
    ///
    /// # Errors
    /// [`StoreError::Database`] where there is no place for a file.
    pub fn beside(store: Option<SqliteStore>) -> Result<Self, StoreError> {
        // An empty name is a file of its own (<https://www.sqlite.org/inmemorydb.html#temp_db>).
        let saved = Connection::open("").map_err(explain_file)?;
        saved
            .execute_batch(
                "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;
                 CREATE TABLE saved (id TEXT PRIMARY KEY, outcome TEXT NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;",
            )
            .map_err(explain_file)?;
        Ok(Self { store, saved })
    }

    /// What [`Store::save_documents`] would return, after those that were given before.
    ///
    /// # Errors
    /// As there.
    pub fn save_documents(&mut self, json: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError> {
        json.iter().map(|json| self.save_document(json.trim())).collect()
    }

    fn save_document(&mut self, json: &str) -> Result<Result<Saved, StoreError>, StoreError> {
        let (record, columns) = match document::receive_with_columns(json) {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        let before = match self.saved(&record.id)? {
            Some((outcome, json)) => Some(There { json: Some(json), outcome, owned: false }),
            None => self.stored(&record.id)?,
        };
        let Some(change) = change_by(before.as_ref(), json) else {
            return Ok(Err(StoreError::Conflict { id: record.id }));
        };
        if change != Change::Unchanged {
            self.saved
                .prepare_cached("INSERT OR REPLACE INTO saved VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![record.id, columns.outcome, json]))
                .map_err(explain_file)?;
        }
        Ok(Ok(Saved { id: record.id, change }))
    }

    /// The record with exactly this id.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load(&self, id: &str) -> Result<Stored, StoreError> {
        match (self.saved(id)?, &self.store) {
            (Some((_, document)), _) => Ok(Stored { record: document::read(&document)?, document }),
            (None, Some(store)) => store.load(id),
            (None, None) => Err(StoreError::UnknownId { query: id.to_owned() }),
        }
    }

    /// Outcome and document of what would have been saved.
    fn saved(&self, id: &str) -> Result<Option<(String, String)>, StoreError> {
        self.saved
            .prepare_cached("SELECT outcome, json FROM saved WHERE id = ?1")
            .and_then(|mut query| query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional())
            .map_err(explain_file)
    }

    fn stored(&self, id: &str) -> Result<Option<There>, StoreError> {
        let Some(store) = &self.store else { return Ok(None) };
        there(&store.conn, id).map_err(|error| store.explain(error))
    }
}

fn explain_file(error: rusqlite::Error) -> StoreError {
    explain::database(Path::new("a temporary file"), error)
}
