//! Inserts into an SQLite database, each in a transaction of its own: by default a rollback journal is written, synced,
//! the database is written, synced, and the journal is removed (<https://www.sqlite.org/atomiccommit.html>). It is
//! SQLite itself that does so, the one that keeps the records.
//!
//! SQLite opens its files by path. They lie in a directory that only the user may write to, and whose path is looked at
//! again before it is used.

use assay_core::finding::Shortfall;
use assay_device::owned::Caching;
use rusqlite::Connection;

use crate::names::{DATABASE, JOURNAL};
use crate::system::{FAILED, FULL, READ_ONLY};
use crate::trouble::Trouble;
use crate::work::{Done, Figure, Work};

/// What a row holds beside its number: as long as the lines of the script that the Phoronix Test Suite feeds to SQLite are
/// not known to be, so a size of assay's own.
const TEXT: &str = "The quick brown fox jumps over the lazy dog, and a row has about a hundred bytes with that.";
/// Pages of 4 KiB that a commit writes: two of the journal, two of the database and the journal's header.
pub(crate) const BYTES_PER_ROW: u64 = 5 * 4096;

pub(crate) fn run(rows: u32, work: &Work) -> Result<Done, Trouble> {
    let place = work.place()?;
    drop(place.create_file(DATABASE, Caching::Cached)?);
    if !place.is_in_place() {
        return Err(Trouble::LeftOut(Shortfall::DirectoryReplaced));
    }
    let failed = |what: &'static str| move |error: rusqlite::Error| trouble(what, &error);
    let database = Connection::open(place.path().join(DATABASE)).map_err(failed("opening a database"))?;
    database
        .execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; \
             CREATE TABLE rows (number INTEGER, text TEXT)",
        )
        .map_err(failed("making a table"))?;
    let mut insert = database.prepare("INSERT INTO rows VALUES (?1, ?2)").map_err(failed("preparing an insert"))?;
    let (start, mut done) = (work.mark(), 0_u32);
    while done < rows && !work.step()? {
        insert.execute((done, TEXT)).map_err(failed("inserting a row"))?;
        done += 1;
    }
    let timed = work.since(&start);
    drop(insert);
    let closed = database.close().map_err(|(_, error)| trouble("closing a database", &error));
    for name in [DATABASE, JOURNAL] {
        place.remove(name)?;
    }
    closed?;
    if done == 0 {
        return Err(Trouble::slow());
    }
    let figure = Figure::rate(f64::from(done), timed, "inserts/s");
    let written_bytes = u64::from(done) * BYTES_PER_ROW;
    Ok(Done { figures: vec![figure], threads: 1, written_bytes, ..Done::default() })
}

/// What failed, as the system's error where SQLite tells of one.
fn trouble(what: &'static str, error: &rusqlite::Error) -> Trouble {
    use rusqlite::ErrorCode;
    use std::io::Error;
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::from_raw_os_error(FULL),
        Some(ErrorCode::ReadOnly) => Error::from_raw_os_error(READ_ONLY),
        Some(ErrorCode::SystemIoFailure) => Error::from_raw_os_error(FAILED),
        _ => Error::other(error.to_string()),
    };
    Trouble::Io { what, error: kind }
}
