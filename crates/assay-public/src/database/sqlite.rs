//! SQLite.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{ErrorCode, ToSql};

use super::{Connection, DatabaseError, Row, Value};

/// How long a statement waits for another process.
const BUSY: Duration = Duration::from_secs(10);

/// Pages of the log after which it is moved into the database: 32 MiB. With the usual 1,000 each transaction of some documents
/// moved it, and synced twice.
const CHECKPOINT_PAGES: i64 = 8192;

pub(super) struct Sqlite(rusqlite::Connection);

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, DatabaseError> {
        let connection = rusqlite::Connection::open(path).map_err(said)?;
        connection.busy_timeout(BUSY).map_err(said)?;
        // In this mode readers and the writer do not wait for each other, and each commit is synced.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").map_err(said)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(said)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self(connection))
    }

    pub(super) fn dialect(step: &str) -> String {
        step.to_owned()
    }
}

fn said(error: rusqlite::Error) -> DatabaseError {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure,
        ) => DatabaseError::Away(error.to_string()),
        _ => DatabaseError::Refused(error.to_string()),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(of: ValueRef<'_>) -> Value {
    match of {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl Connection for Sqlite {
    fn run(&mut self, statement: &str, values: &[Value]) -> Result<u64, DatabaseError> {
        let mut statement = self.0.prepare_cached(statement).map_err(said)?;
        let changed = statement.execute(rusqlite::params_from_iter(values)).map_err(said)?;
        Ok(changed as u64)
    }

    fn rows(&mut self, query: &str, values: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let mut statement = self.0.prepare_cached(query).map_err(said)?;
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get_ref(at).map(value)).collect();
        let found = statement.query_map(rusqlite::params_from_iter(values), row).map_err(said)?;
        found.map(|row| row.map(Row).map_err(said)).collect()
    }

    fn batch(&mut self, statements: &str) -> Result<(), DatabaseError> {
        self.0.execute_batch(statements).map_err(said)
    }

    fn begin(&mut self) -> Result<(), DatabaseError> {
        self.batch("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        // Where the transaction has ended already there is nothing to do.
        let _ = self.batch("ROLLBACK");
    }

    fn is_lost(&self) -> bool {
        !self.0.is_autocommit()
    }

    fn back_up(&mut self, file: &Path) -> Result<(), DatabaseError> {
        let name = file.to_str().ok_or_else(|| DatabaseError::Refused("the name of the file is no text".to_owned()))?;
        self.run("VACUUM INTO $1", &[Value::from(name)])?;
        let synced = std::fs::File::open(file).and_then(|file| file.sync_all());
        synced.map_err(|error| DatabaseError::Refused(format!("{}: {error}", file.display())))
    }
}
