//! Observations beside their documents: written with them, and read in their place.

use assay_core::record::Record;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::open::SqliteStore;
use super::parts;
use crate::document;
use crate::error::StoreError;
use crate::observation::{self, Detail, Observation};
use crate::query::Query;

/// Writes the observation of a record whose run is over.
pub(super) fn put_observation(tx: &Transaction<'_>, number: i64, record: &Record) -> rusqlite::Result<()> {
    let Observation { head, repeats, latencies } =
        Observation::of(record).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    tx.prepare_cached("INSERT OR REPLACE INTO observation (record, head, repeats, latencies) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![number, head, repeats, latencies])?;
    Ok(())
}

/// Removes the observation of a record that changes from now on: it is read from the document until its run is over.
pub(super) fn drop_observation(tx: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM observation WHERE record = ?1")?.execute([number])?;
    Ok(())
}

/// Writes the observations that a store lacks, and tells after each how many of how many records are done. A document
/// that this version cannot read stays without.
pub(super) fn observe_all(tx: &Transaction<'_>, tell: &mut dyn FnMut(usize, usize)) -> rusqlite::Result<()> {
    let numbers = numbers(
        tx,
        "SELECT number FROM record
         WHERE number NOT IN (SELECT record FROM run) AND number NOT IN (SELECT record FROM observation)",
    )?;
    for (done, number) in (1..).zip(&numbers) {
        let json = parts::document(tx, *number)?;
        if let Some(record) = json.and_then(|json| document::read(&json).ok()) {
            put_observation(tx, *number, &record)?;
        }
        tell(done, numbers.len());
    }
    Ok(())
}

fn numbers(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<i64>> {
    conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

impl SqliteStore {
    /// The observations of the records that a query names, oldest first, in one view of the store.
    pub(super) fn observed(&self, text: &str, detail: Detail) -> Result<Vec<Record>, StoreError> {
        let query = Query::parse(text)?;
        let view = self.conn.unchecked_transaction().map_err(|error| self.explain(error))?;
        let ids = self.matching(text, &query)?;
        let records = ids.iter().map(|id| self.observation(id, detail)).collect();
        drop(view);
        records
    }

    fn observation(&self, id: &str, detail: Detail) -> Result<Record, StoreError> {
        match self.stored_observation(id, detail).map_err(|error| self.explain(error))? {
            Some(record) => Ok(record),
            // Of a run under way, or not of this version.
            None => {
                let whole = self.load_whole(id)?.record;
                // What cannot be written as JSON, like a rate that is no number, cannot be read from it either.
                Ok(observation::observed(&whole, detail).unwrap_or(whole))
            }
        }
    }

    fn stored_observation(&self, id: &str, detail: Detail) -> rusqlite::Result<Option<Record>> {
        // A column is read where it is asked for, and not before.
        let mut select = self.conn.prepare_cached(
            "SELECT head, repeats, latencies FROM observation
             WHERE observation.record = (SELECT number FROM record WHERE id = ?1)",
        )?;
        let found = select.query_row([id], |row| {
            let head: String = row.get(0)?;
            observation::read(&head, detail, |wanted| row.get(if wanted == Detail::Repeats { 1 } else { 2 }))
        });
        Ok(found.optional()?.flatten())
    }
}
