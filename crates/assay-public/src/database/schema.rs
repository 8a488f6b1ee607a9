//! Tables, and how a database of an older version becomes one of this version.

use super::{Connection, DatabaseError, Value};

/// Each step makes the version of its place in the list, from 1. Bodies and observations have tables of their own: a row is
/// written anew when its state changes, and a snapshot reads all rows of documents and digests.
const STEPS: &[&str] = &["
    CREATE TABLE accounts (
        name TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, created TEXT NOT NULL, enabled BIGINT NOT NULL
    );
    CREATE TABLE documents (
        id TEXT PRIMARY KEY, seq BIGINT NOT NULL UNIQUE, account TEXT NOT NULL, hash TEXT NOT NULL,
        received TEXT NOT NULL, unlisted BIGINT NOT NULL, state TEXT NOT NULL, reasons TEXT NOT NULL,
        withdrawal TEXT NOT NULL, changed BIGINT NOT NULL
    );
    CREATE UNIQUE INDEX documents_changed ON documents (changed);
    CREATE INDEX documents_state ON documents (state, seq);
    CREATE INDEX documents_account ON documents (account);
    CREATE TABLE bodies (id TEXT PRIMARY KEY, body BYTEA NOT NULL);
    CREATE TABLE digests (
        id TEXT PRIMARY KEY, model TEXT NOT NULL, unit TEXT NOT NULL, class TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE TABLE observations (id TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE figures (
        id TEXT NOT NULL, place BIGINT NOT NULL, model TEXT NOT NULL, load TEXT NOT NULL, bus TEXT NOT NULL,
        account TEXT NOT NULL, unit TEXT NOT NULL, iops DOUBLE PRECISION NOT NULL, PRIMARY KEY (id, place)
    );
    CREATE INDEX figures_sample ON figures (model, load, bus, id);
    CREATE INDEX figures_iops ON figures (model, load, bus, iops);
    CREATE TABLE prints (print TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (print, id));
    CREATE INDEX prints_id ON prints (id);
    CREATE TABLE log (
        n BIGINT PRIMARY KEY, at TEXT NOT NULL, id TEXT NOT NULL, was TEXT NOT NULL, now TEXT NOT NULL,
        reasons TEXT NOT NULL
    );
    CREATE INDEX log_id ON log (id);
    CREATE TABLE snapshots (
        n BIGINT PRIMARY KEY, made TEXT NOT NULL, records BIGINT NOT NULL, units BIGINT NOT NULL,
        accounts BIGINT NOT NULL, hash TEXT NOT NULL
    );
"];

/// Brings a database to this version, as the only writer: a second server that starts meanwhile waits, and then finds it
/// done.
pub(super) fn migrate(connection: &mut dyn Connection, to_dialect: fn(&str) -> String) -> Result<(), DatabaseError> {
    connection.begin()?;
    let done = steps(connection, to_dialect);
    match done {
        Ok(()) => connection.commit(),
        Err(error) => {
            connection.roll_back();
            Err(error)
        }
    }
}

fn steps(connection: &mut dyn Connection, to_dialect: fn(&str) -> String) -> Result<(), DatabaseError> {
    connection.batch("CREATE TABLE IF NOT EXISTS assay_public_version (version BIGINT PRIMARY KEY);")?;
    let rows = connection.rows("SELECT COALESCE(MAX(version), 0) FROM assay_public_version", &[])?;
    let found = rows.first().map_or(Ok(0), |row| row.int(0))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(DatabaseError::Newer { found, known });
    }
    for (version, step) in (1..).zip(STEPS).filter(|(version, _)| *version > found) {
        connection.batch(&to_dialect(step))?;
        connection.run("INSERT INTO assay_public_version (version) VALUES ($1)", &[Value::Int(version)])?;
    }
    Ok(())
}
