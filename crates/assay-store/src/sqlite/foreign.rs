//! Stores from elsewhere: written by others, or forged.
//!
//! Such a file is read from a copy, is never migrated, and is not trusted. Its schema must be exactly the one that
//! assay creates. All its pages must be valid, whatever its size (a page that occurs twice in a tree can make a few
//! pages endless). No text may be longer than a record, and everything must be read within a time limit.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, InterruptHandle, OpenFlags, OptionalExtension};

use super::files::{self, FoundStore};
use super::open::{self, MOST_OBJECTS, STEPS, State, check_all, settled};
use super::parts;
use crate::document::{self, LARGEST};
use crate::error;
use crate::error::StoreError;

/// Longest text or row in bytes: the longest document, and the other columns of its row.
const LONGEST: i32 = (LARGEST + (1 << 20)) as i32;
/// Longest SQL text of a table or of a statement.
const LONGEST_SQL: i32 = 64 << 10;
/// Time limit for one document, and for all checks before that, besides the time for their size.
const USUAL: Duration = Duration::from_secs(60);
/// Bytes that one second is allowed for; the slowest media read ten times as fast.
const SLOWEST: u64 = 1 << 20;

/// The records of a store from elsewhere, in order of time.
#[derive(Debug)]
pub struct Foreign {
    conn: Connection,
    file: PathBuf,
    watch: Watch,
    /// Time and number of the last record that was returned.
    last: Option<(i64, i64)>,
    /// Most bytes of a document.
    most: u64,
}

impl Foreign {
    /// Opens the copy of a store in a directory of this user's own; `None` if it is empty.
    ///
    /// # Errors
    /// Where this version cannot have created such a store, where it is damaged, or takes too long.
    pub fn open(dir: &Path) -> Result<Option<Self>, StoreError> {
        Self::open_within(dir, USUAL)
    }

    fn open_within(dir: &Path, usual: Duration) -> Result<Option<Self>, StoreError> {
        let file = files::store_in(dir);
        let log = files::log_bytes(&file);
        let bytes = match files::look(&file)? {
            FoundStore::Nothing => return Ok(None),
            FoundStore::Empty if log == 0 => return Ok(None),
            FoundStore::Empty => log,
            FoundStore::File { bytes } => bytes.saturating_add(log),
        };
        let explain = |error| error::database(&file, error);
        // Limits come first: the first statement reads the schema.
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE;
        let conn = Connection::open_with_flags(&file, flags).map_err(explain)?;
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, LONGEST),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL),
            (Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
        ] {
            conn.set_limit(limit, most).map_err(explain)?;
        }
        let whole = usual.saturating_add(Duration::from_secs(bytes / SLOWEST));
        let watch =
            Watch::begin(conn.get_interrupt_handle(), usual).map_err(|error| error::system("read", &file, error))?;
        watch.within(whole);
        let conn = settled(conn).map_err(explain)?;
        if open::state(&conn, &file, STEPS)? == State::Empty {
            return Ok(None);
        }
        check_all(&conn, &file)?;
        watch.rest();
        Ok(Some(Self { conn, file, watch, last: None, most: LARGEST as u64 }))
    }

    /// The document of the next record, or an error for this record if it is not one.
    ///
    /// # Errors
    /// The store's own. After that nothing more can be read.
    pub fn next_document(&mut self) -> Result<Option<Result<String, StoreError>>, StoreError> {
        self.watch.within(self.watch.usual);
        let next = self.read_next();
        self.watch.rest();
        next.map_err(|error| error::database(&self.file, error))
    }

    fn read_next(&mut self) -> rusqlite::Result<Option<Result<String, StoreError>>> {
        let view = self.conn.unchecked_transaction()?;
        let (time, number) = self.last.unwrap_or((i64::MIN, i64::MIN));
        let next: Option<(i64, i64, String)> = view
            .prepare_cached(
                "SELECT created_us, number, substr(id, 1, 80) FROM record
                 WHERE (created_us, number) > (?1, ?2) ORDER BY created_us, number LIMIT 1",
            )?
            .query_row([time, number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((time, number, id)) = next else { return Ok(None) };
        self.last = Some((time, number));
        if parts::document_bytes(&view, number)? > self.most {
            let reason = format!("record {id} is larger than {}", assay_core::units::Bytes(self.most));
            return Ok(Some(Err(StoreError::NotARecord { reason })));
        }
        let document = parts::document(&view, number)?;
        let broken = || StoreError::Damaged {
            path: self.file.clone(),
            detail: format!("the document of record {id} is broken"),
        };
        Ok(Some(document.filter(|document| document::is_json(document)).ok_or_else(broken)))
    }
}

/// Interrupts statements that exceed their time limit. SQLite also has a callback for that, but it costs time at each
/// step and is not part of this build; a thread costs nothing while it waits.
#[derive(Debug)]
struct Watch {
    /// Sends the end of the time limit; `None` while nothing runs.
    ends: Option<Sender<Option<Instant>>>,
    thread: Option<JoinHandle<()>>,
    usual: Duration,
}

impl Watch {
    fn begin(handle: InterruptHandle, usual: Duration) -> std::io::Result<Self> {
        let (send, receive) = mpsc::channel::<Option<Instant>>();
        let watch = move || {
            let mut end: Option<Instant> = None;
            loop {
                let next = match end {
                    None => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(end) => receive.recv_timeout(end.saturating_duration_since(Instant::now())),
                };
                match next {
                    Ok(next) => end = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        // This ends the current statement; one that began just after it is ended the next time.
                        handle.interrupt();
                        end = Some(Instant::now() + AGAIN);
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(watch)?;
        Ok(Self { ends: Some(send), thread: Some(thread), usual })
    }

    /// Limits the time of what begins now.
    fn within(&self, time: Duration) {
        self.send(Instant::now().checked_add(time));
    }

    /// Nothing is running.
    fn rest(&self) {
        self.send(None);
    }

    fn send(&self, end: Option<Instant>) {
        if let Some(ends) = &self.ends {
            let _ = ends.send(end);
        }
    }
}

/// Interval after which an interrupted statement is tested again.
const AGAIN: Duration = Duration::from_millis(20);

impl Drop for Watch {
    fn drop(&mut self) {
        self.ends = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_than_it_may_is_interrupted_and_what_follows_is_not() {
        let conn = Connection::open_in_memory().unwrap();
        let watch = Watch::begin(conn.get_interrupt_handle(), USUAL).unwrap();
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
        for _ in 0..3 {
            watch.within(Duration::from_millis(30));
            let error = conn.query_row(endless, [], |row| row.get::<_, i64>(0)).unwrap_err();
            let error = error::database(Path::new("/data/assay.sqlite"), error);
            assert!(matches!(error, StoreError::TooSlow { .. }), "{error:?}");
            watch.rest();
            assert_eq!(conn.query_row("SELECT 7", [], |row| row.get::<_, i64>(0)).unwrap(), 7);
        }
        // The thread ends with its owner, although the limit is a day away.
        watch.within(Duration::from_secs(86_400));
        drop(watch);
    }

    #[test]
    fn a_text_beyond_the_longest_record_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        drop(super::super::SqliteStore::open(dir.path()).unwrap());
        let conn = Connection::open(dir.path().join("assay.sqlite")).unwrap();
        conn.execute_batch(
            "INSERT INTO record VALUES (1, 'a', '', 1, 't', 'sd', NULL, NULL, NULL, NULL, 's', 'o', 'v');
             INSERT INTO document VALUES (1, printf('%.*c', 4000, 'x'));
             INSERT INTO part VALUES (1 << 32, '/a', printf('[%.*c]', 4000, '1'))",
        )
        .unwrap();
        drop(conn);
        let mut store = Foreign::open(dir.path()).unwrap().unwrap();
        store.most = 7_000;
        let refused = store.next_document().unwrap().unwrap().unwrap_err();
        assert!(refused.to_string().contains("record a is larger than"), "{refused}");
        store.last = None;
        store.conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, 3_000).unwrap();
        store.most = LARGEST as u64;
        assert!(matches!(store.next_document(), Err(StoreError::Damaged { .. })));
    }
}
