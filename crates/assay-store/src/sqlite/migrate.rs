//! The schema and its history.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::explain;
use super::parts::observe_all;
use crate::error::StoreError;
use crate::id;

/// Marks the file as assay's: "assy" (`PRAGMA application_id`).
const APPLICATION: i64 = 0x6173_7379;

/// Step n brings a store of version n to version n + 1 (`PRAGMA user_version`), the first an empty file to version 1.
/// What a released version has is never changed; a step that empties `observation` lets all be derived again.
pub(crate) const STEPS: &[&str] = &[include_str!("schema.sql")];

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

/// Migrates an empty or older store: completely or not at all.
pub(crate) fn migrate(conn: &mut Connection, file: &Path, steps: &[&str]) -> Result<(), StoreError> {
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
    observe_all(&tx).map_err(explain)?;
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
    use assay_core::draft::Draft;
    use assay_core::medium::Medium;
    use assay_core::outcome::Outcome;
    use assay_core::record::{SuiteRef, Tool};

    use super::*;
    use crate::{RunState, SqliteStore, Store};

    const FILE: &str = "/nowhere/assay.sqlite";

    /// The steps of a made-up next version, which derives observations anew. A second time the last one fails.
    const NEXT: &[&str] = &[STEPS[0], "ALTER TABLE record ADD COLUMN note TEXT; DELETE FROM observation;"];

    /// A store is refused if its schema is not the one that its version has here: a released step never changes.
    #[test]
    fn what_a_version_has_stays_as_it_is() {
        let digest = |step: &&str| blake3::hash(step.as_bytes()).to_hex()[..16].to_owned();
        assert_eq!(STEPS.iter().map(digest).collect::<Vec<_>>(), ["35e1558e63fe9b81"]);
    }

    fn number(conn: &Connection, sql: &str) -> i64 {
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn version(conn: &Connection) -> i64 {
        number(conn, "PRAGMA user_version")
    }

    /// A store of this version with a record.
    fn filled(dir: &Path) -> std::path::PathBuf {
        let (tool, suite) = (Tool::assay("0.1.0", "sync", "asked for"), SuiteRef::new("quick", 1));
        let draft = Draft::begin("aaaaaaaaaa", "2026-01-02T03:04:05Z", tool, suite, Medium::unknown("/mnt/card"));
        SqliteStore::open(dir).unwrap().save(&draft.close(Outcome::Completed), RunState::Finished).unwrap();
        dir.join("assay.sqlite")
    }

    #[test]
    fn an_older_store_keeps_its_rows_and_its_observations_are_derived_anew() {
        let dir = tempfile::tempdir().unwrap();
        let file = filled(dir.path());
        let mut conn = Connection::open(&file).unwrap();
        conn.execute_batch("UPDATE observation SET head = 'old'").unwrap();
        assert_eq!(state(&conn, &file, NEXT).unwrap(), State::Older(1));
        migrate(&mut conn, &file, NEXT).unwrap();
        assert_eq!(state(&conn, &file, NEXT).unwrap(), State::Current);
        assert_eq!(number(&conn, "SELECT count(*) FROM record JOIN document ON record = number WHERE note IS NULL"), 1);
        assert_eq!(number(&conn, "SELECT count(*) FROM observation WHERE head LIKE '%aaaaaaaaaa%'"), 1);
        // The version before refuses it.
        let newer = |error: &StoreError| matches!(error, StoreError::NewerStore { found: 2, known: 1, .. });
        assert!(newer(&migrate(&mut conn, &file, STEPS).unwrap_err()));
        drop(conn);
        assert!(newer(&SqliteStore::open(dir.path()).unwrap_err()));
    }

    #[test]
    fn two_processes_that_migrate_at_once_do_it_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = filled(dir.path());
        let begin = || migrate(&mut Connection::open(&file).unwrap(), &file, NEXT);
        let results =
            std::thread::scope(|scope| [scope.spawn(begin), scope.spawn(begin)].map(|one| one.join().unwrap()));
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(version(&Connection::open(&file).unwrap()), 2);
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let file = Path::new(FILE);
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, file, STEPS).unwrap();
        let longer: Vec<&str> = NEXT.iter().copied().chain(["CREATE nonsense;"]).collect();
        migrate(&mut conn, file, &longer).unwrap_err();
        assert_eq!(version(&conn), STEPS.len() as i64);
        assert!(conn.prepare("SELECT note FROM record").is_err());
    }

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        let file = Path::new(FILE);
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
        assert!(matches!(migrate(&mut conn, file, STEPS), Err(StoreError::OtherProgram { .. })));
        assert!(conn.prepare("SELECT * FROM record").is_err());
    }
}
