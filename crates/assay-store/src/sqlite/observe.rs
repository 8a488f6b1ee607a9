//! Writes observations together with their documents.

use assay_core::record::Record;
use rusqlite::{Connection, Transaction, params};

use super::parts;
use crate::document;
use crate::observation::Observation;

/// Writes the observation of a record after its run is over.
pub(super) fn put_observation(tx: &Transaction<'_>, number: i64, record: &Record) -> rusqlite::Result<()> {
    let Observation { head, repeats, latencies } =
        Observation::of(record).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    tx.prepare_cached("INSERT OR REPLACE INTO observation (record, head, repeats, latencies) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![number, head, repeats, latencies])?;
    Ok(())
}

/// Removes the observation of a record that changes from now on; it is read from the document until its run is over.
pub(super) fn drop_observation(tx: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM observation WHERE record = ?1")?.execute([number])?;
    Ok(())
}

/// Writes missing observations, and calls `tell` after each with the number done and the total. A document that this
/// version cannot read gets none.
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
