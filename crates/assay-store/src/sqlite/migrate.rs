//! The schema and its history.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::explain;
use super::parts::observe_all;
use crate::error::StoreError;
use crate::id;

/// Marks the file as assay's: "assy" (`PRAGMA application_id`).
const APPLICATION: i64 = 0x6173_7379;

/// Step n brings a store of version n to version n + 1 (`PRAGMA user_version`). Steps are added,
/// never changed.
pub(crate) const STEPS: &[&str] = &[
    // The tests create version 1 from the same file.
    include_str!("version_1.sql"),
    // Parts of a run in progress that grow: see parts.rs.
    "
    CREATE TABLE part (
        number INTEGER PRIMARY KEY,
        series TEXT NOT NULL,
        json   TEXT NOT NULL
    ) STRICT;
",
    // What is read of a record instead of its document: see observation.rs.
    "
    CREATE TABLE observation (
        record    INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
        head      TEXT NOT NULL,
        repeats   TEXT NOT NULL,
        latencies TEXT NOT NULL
    ) STRICT;
",
    // Observations include the part in a cluster run: all are derived again.
    "
    DELETE FROM observation;
",
    // They also include the number of completions that were waited for at once.
    "
    DELETE FROM observation;
",
    // They also include the length of repeats that nodes began together.
    "
    DELETE FROM observation;
",
    // They also include the processor, which distinguishes computers.
    "
    DELETE FROM observation;
",
    // They also include scores, temperatures and health.
    "
    DELETE FROM observation;
",
];

/// State of a database for this version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is empty.
    Empty,
    /// Of an older version.
    Older(i64),
    /// Of this version.
    Current,
}

/// Determines the state, and refuses a database that must not be changed.
pub(crate) fn state(conn: &Connection, file: &Path, steps: &[&str]) -> Result<State, StoreError> {
    // All values come from one state of the database: another process may finish creating the store between two of
    // these reads.
    let _snapshot = conn
        .is_autocommit()
        .then(|| conn.unchecked_transaction())
        .transpose()
        .map_err(|error| explain::database(file, error))?;
    let number = |sql: &str| -> Result<i64, StoreError> {
        conn.query_row(sql, [], |row| row.get(0)).map_err(|error| explain::database(file, error))
    };
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let known = steps.len() as i64;
    if application != APPLICATION {
        let untouched = application == 0 && version == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0;
        return if untouched { Ok(State::Empty) } else { Err(StoreError::OtherProgram { path: file.to_owned() }) };
    }
    let state = match version {
        found if found > known => return Err(StoreError::NewerStore { path: file.to_owned(), found, known }),
        found if found < 1 => {
            return Err(StoreError::Damaged { path: file.to_owned(), detail: format!("store version {found}") });
        }
        found if found < known => State::Older(found),
        _ => State::Current,
    };
    let made = usize::try_from(version).ok().and_then(|version| steps.get(..version)).unwrap_or_default();
    match compared(conn, made).map_err(|error| explain::database(file, error))? {
        Schema::Same => Ok(state),
        Schema::Lacks(name) => {
            Err(StoreError::Damaged { path: file.to_owned(), detail: format!("there is no {name} in it") })
        }
        Schema::Other => Err(StoreError::OtherTables { path: file.to_owned() }),
    }
}

/// Most objects of a schema that are read; the store has less than twenty.
pub(crate) const MOST_OBJECTS: i32 = 64;

/// Type, name, table and text of an object.
type Object = (String, String, String, Option<String>);

/// Difference of a schema from the one that the steps create.
enum Schema {
    Same,
    /// It has nothing else, but some parts are missing.
    Lacks(String),
    Other,
}

/// Compares the schema with the one that the steps create. Nothing else is read: computed columns, expression indexes
/// and checks are code of the file's author (<https://www.sqlite.org/security.html>).
fn compared(conn: &Connection, steps: &[&str]) -> rusqlite::Result<Schema> {
    let model = Connection::open_in_memory()?;
    for step in steps {
        model.execute_batch(step)?;
    }
    let (model, found) = (objects(&model)?, objects(conn)?);
    if found.iter().any(|object| model.binary_search(object).is_err()) {
        return Ok(Schema::Other);
    }
    let lacks = model.into_iter().find(|object| found.binary_search(object).is_err());
    Ok(lacks.map_or(Schema::Same, |(_, name, ..)| Schema::Lacks(name)))
}

fn objects(conn: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut select = conn.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let mut all: Vec<Object> = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // After VACUUM the order is different.
    all.sort_unstable();
    Ok(all)
}

/// Migrates an empty or older store: completely or not at all. Calls `tell` with the number of records done and the
/// total, as each document is read.
pub(crate) fn migrate(
    conn: &mut Connection,
    file: &Path,
    steps: &[&str],
    tell: &mut dyn FnMut(usize, usize),
) -> Result<(), StoreError> {
    let explain = |error| explain::database(file, error);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explain)?;
    // Tested again: another process may have been faster.
    let done = match state(&tx, file, steps)? {
        State::Empty => 0,
        State::Older(version) => usize::try_from(version).unwrap_or(0),
        State::Current => return Ok(()),
    };
    for step in steps.iter().skip(done) {
        tx.execute_batch(step).map_err(explain)?;
    }
    observe_all(&tx, tell).map_err(explain)?;
    if done == 0 {
        let mut key = [0u8; 32];
        id::random(&mut key).map_err(|error| explain::system("make a key for", file, error))?;
        tx.execute("INSERT INTO secret (name, value) VALUES ('identity', ?1)", [key]).map_err(explain)?;
        tx.pragma_update(None, "application_id", APPLICATION).map_err(explain)?;
    }
    tx.pragma_update(None, "user_version", steps.len() as i64).map_err(explain)?;
    tx.commit().map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/nowhere/assay.sqlite";

    /// A released step must not change: stores that already went through it would not get the change, new ones would.
    #[test]
    fn steps_of_released_versions_stay_as_they_are() {
        let digest = |step: &&str| blake3::hash(step.as_bytes()).to_hex()[..16].to_owned();
        assert_eq!(
            STEPS.iter().map(digest).collect::<Vec<_>>(),
            [
                "a847af7ebc004bed",
                "40faaf43e7e16b35",
                "e47a712ed8135fcf",
                "bac03aa3b1c4a0cf",
                "bac03aa3b1c4a0cf",
                "bac03aa3b1c4a0cf",
                "bac03aa3b1c4a0cf",
                "bac03aa3b1c4a0cf"
            ],
            "a step is added, and its digest here; one that is there is not changed"
        );
    }

    fn version(conn: &Connection) -> i64 {
        conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_store_is_brought_up_to_date_and_keeps_its_rows() {
        let file = Path::new(FILE);
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, file, STEPS, &mut |_, _| {}).unwrap();
        conn.execute("INSERT INTO secret VALUES ('x', x'01')", []).unwrap();
        let longer: Vec<&str> = STEPS.iter().copied().chain(["ALTER TABLE record ADD COLUMN note TEXT;"]).collect();
        let before = STEPS.len() as i64;
        assert_eq!(state(&conn, file, &longer).unwrap(), State::Older(before));
        migrate(&mut conn, file, &longer, &mut |_, _| {}).unwrap();
        assert_eq!(state(&conn, file, &longer).unwrap(), State::Current);
        assert_eq!(conn.query_row("SELECT count(*) FROM secret", [], |r| r.get::<_, i64>(0)).unwrap(), 2);
        conn.prepare("SELECT note FROM record").unwrap();
        // The shorter history refuses it.
        assert!(matches!(state(&conn, file, STEPS), Err(StoreError::NewerStore { .. })));
        assert!(matches!(migrate(&mut conn, file, STEPS, &mut |_, _| {}), Err(StoreError::NewerStore { .. })));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let file = Path::new(FILE);
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, file, STEPS, &mut |_, _| {}).unwrap();
        let longer: Vec<&str> =
            STEPS.iter().copied().chain(["CREATE TABLE more (x INTEGER) STRICT;", "CREATE nonsense;"]).collect();
        migrate(&mut conn, file, &longer, &mut |_, _| {}).unwrap_err();
        assert_eq!(version(&conn), STEPS.len() as i64);
        assert!(conn.prepare("SELECT x FROM more").is_err());
    }

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        let file = Path::new(FILE);
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
        assert!(matches!(migrate(&mut conn, file, STEPS, &mut |_, _| {}), Err(StoreError::OtherProgram { .. })));
        assert!(conn.prepare("SELECT * FROM record").is_err());
    }
}
