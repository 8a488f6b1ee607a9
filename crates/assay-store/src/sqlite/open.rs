//! Opens the store: for a run, which creates it, and for reading, which creates nothing. Its schema, and the steps from each
//! version to the next.

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::files::{self, FoundStore, Inode, Need};
use super::parts::{Growth, observe_all};
use crate::error::{self, StoreError};
use crate::{document, system};

/// Default time to wait for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// A store up to this size is checked each time it is opened, which takes some milliseconds. Damage in a larger one
/// shows when it is read.
const CHECKED_BYTES: u64 = 4 << 20;

/// Records in `assay.sqlite`.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) conn: Connection,
    pub(super) file: PathBuf,
    pub(super) read_only: bool,
    pub(super) inode: Inode,
    /// Whether the names of the store's files survive a power cut.
    pub(super) names_synced: bool,
    /// State of the running record at its last save.
    pub(super) growth: Option<Growth>,
    /// Keeps the copy that is read. It is dropped after the connection, which is declared before it.
    #[expect(dead_code, reason = "the copy lives as long as this")]
    pub(super) copy: Option<Box<dyn Any + Send>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    ReadWrite,
    ReadOnly,
    /// Read-only, and no other process can write either: no locks, no shared memory.
    Immutable,
}

impl SqliteStore {
    /// Opens the store in `dir` to save records, and creates both if they are missing: the directory with mode 0700,
    /// the file with 0600.
    ///
    /// # Errors
    /// Every case of [`StoreError`] with exit code 4. A damaged or newer file, or one of another program, is left as it
    /// is.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_within(dir, BUSY_TIMEOUT)
    }

    /// The same, waiting at most `busy_timeout` for other processes.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_within(dir: &Path, busy_timeout: Duration) -> Result<Self, StoreError> {
        Self::open_on(dir, busy_timeout, files::kind_of)
    }

    /// The same. `kind` returns the kind of file system of the directory, as `f_type` of statfs(2). On a file system
    /// that hosts share, and on an unknown one, a rollback journal is used instead of the log.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_on(dir: &Path, busy_timeout: Duration, kind: fn(&Path) -> io::Result<u64>) -> Result<Self, StoreError> {
        files::make_directory(dir)?;
        let file = files::store_in(dir);
        files::may("write", dir, Need::MakeIn)?;
        let set_up = files::lock_set_up(dir, &file, busy_timeout)?;
        files::make_file(&file)?;
        let found = files::look(&file)?;
        files::must_have_one_name(&file)?;
        files::may("write", &file, Need::ReadWrite)?;
        let explain = |error| error::database(&file, error);
        let mut conn = connect(&file, Mode::ReadWrite, busy_timeout).map_err(explain)?;
        let state = state(&conn, &file, STEPS)?;
        if conn.is_readonly("main").map_err(explain)? {
            return Err(StoreError::ReadOnly { path: file });
        }
        check(&conn, &file, &found)?;
        set_journal(&conn, kind(dir)).map_err(explain)?;
        if state != State::Current {
            migrate(&mut conn, &file, STEPS)?;
        }
        drop(set_up);
        let inode = files::inode(&file)?;
        Ok(Self { conn, file, read_only: false, inode, names_synced: false, growth: None, copy: None })
    }

    /// Opens the store in `dir` if it exists, without creating anything. A store that cannot be written can still be
    /// read.
    ///
    /// # Errors
    /// As [`SqliteStore::open`]; [`StoreError::Linked`] if it must be read from a copy ([`SqliteStore::open_copied`]).
    pub fn open_existing(dir: &Path) -> Result<Option<Self>, StoreError> {
        Self::open_existing_by(dir, STEPS)
    }

    fn open_existing_by(dir: &Path, steps: &[&str]) -> Result<Option<Self>, StoreError> {
        let file = files::store_in(dir);
        let found = files::look(&file)?;
        // An empty file: the run that created it was killed at once.
        if matches!(found, FoundStore::Nothing) || (matches!(found, FoundStore::Empty) && files::log_bytes(&file) == 0)
        {
            return Ok(None);
        }
        files::may("read", &file, Need::Read)?;
        let fixed = files::may("write", dir, Need::MakeIn).is_err();
        if !fixed {
            files::must_have_one_name(&file)?;
        }
        let (mut conn, state) = connect_somehow(&file, fixed, steps)?;
        let read_only = fixed || conn.is_readonly("main").map_err(|error| error::database(&file, error))?;
        check(&conn, &file, &found)?;
        match state {
            State::Empty => return Ok(None),
            State::Older(found) if read_only => return Err(StoreError::OlderReadOnly { path: file, found }),
            State::Older(_) => {
                let _set_up = files::lock_set_up(dir, &file, BUSY_TIMEOUT)?;
                migrate(&mut conn, &file, steps)?;
            }
            State::Current => {}
        }
        let inode = files::inode(&file)?;
        Ok(Some(Self { conn, file, read_only, inode, names_synced: false, growth: None, copy: None }))
    }

    /// Reads the store in `dir`, whose file has several names, from a copy in the directory `copy`. No write to either
    /// persists; a save is refused. `keep` is dropped when the copy is closed.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_copied(dir: &Path, copy: &Path, keep: Box<dyn Any + Send>) -> Result<Option<Self>, StoreError> {
        let Some(store) = Self::open_existing(copy)? else { return Ok(None) };
        Ok(Some(Self { file: files::store_in(dir), read_only: true, copy: Some(keep), ..store }))
    }

    /// Waits at most `busy_timeout` for another process, instead of five seconds.
    ///
    /// # Errors
    /// [`StoreError::Database`] for a time that SQLite cannot count.
    pub fn set_busy_timeout(&mut self, busy_timeout: Duration) -> Result<(), StoreError> {
        self.conn.busy_timeout(busy_timeout.min(Duration::from_secs(3600))).map_err(|error| self.explain(error))
    }

    pub(super) fn explain(&self, error: rusqlite::Error) -> StoreError {
        error::database(&self.file, error)
    }
}

fn connect(file: &Path, mode: Mode, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    // Without OpenFlags::SQLITE_OPEN_URI, so that a directory called `file:…` is only a name.
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match mode {
        Mode::ReadWrite => Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?,
        Mode::ReadOnly => Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        Mode::Immutable => Connection::open_with_flags(
            immutable_uri(file),
            flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        )?,
    };
    conn.set_limit(Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS)?;
    conn.busy_timeout(busy_timeout)?;
    settled(conn)
}

/// Applies the settings common to all connections. Limits must be set before: the schema is read here.
pub(super) fn settled(conn: Connection) -> rusqlite::Result<Connection> {
    // The file may come from elsewhere: nothing in its schema may run (<https://www.sqlite.org/security.html>).
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // In WAL mode NORMAL syncs only at checkpoints, FULL at every commit. With a rollback journal a commit is the
    // removal of the journal, and only EXTRA syncs that. Otherwise a power cut brings the journal back, and with it the
    // state before (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
    conn.pragma_update(None, "synchronous", "EXTRA")?;
    Ok(conn)
}

/// Connects in the best mode that the file system allows; read-only if the directory is `fixed`.
fn connect_somehow(file: &Path, fixed: bool, steps: &[&str]) -> Result<(Connection, State), StoreError> {
    let attempt = |mode| {
        connect(file, mode, BUSY_TIMEOUT)
            .and_then(|conn| {
                // The first read needs the log and the shared memory.
                conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
                Ok(conn)
            })
            .map(|conn| (state(&conn, file, steps), conn))
    };
    let cannot_write = |error: &rusqlite::Error| {
        matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure
            )
        )
    };
    let mut result = attempt(if fixed { Mode::ReadOnly } else { Mode::ReadWrite });
    if !fixed && result.as_ref().is_err_and(cannot_write) {
        result = attempt(Mode::ReadOnly);
    }
    if result.as_ref().is_err_and(cannot_write) {
        // The log is newer than the file, which is only complete together with it.
        if files::log_bytes(file) > 0 {
            return Err(StoreError::ReadOnlyLog { path: file.to_owned() });
        }
        result = attempt(Mode::Immutable);
    }
    let (state, conn) = result.map_err(|error| error::database(file, error))?;
    Ok((conn, state?))
}

/// `file:…?immutable=1` with everything but plain characters escaped
/// (<https://www.sqlite.org/uri.html>).
fn immutable_uri(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut uri = b"file://".to_vec();
    for byte in system::path_in_uri(&absolute) {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(byte),
            _ => uri.extend(format!("%{byte:02X}").bytes()),
        }
    }
    uri.extend(b"?immutable=1");
    system::path_of(uri)
}

fn check(conn: &Connection, file: &Path, found: &FoundStore) -> Result<(), StoreError> {
    let FoundStore::File { bytes: 1..=CHECKED_BYTES } = found else { return Ok(()) };
    check_all(conn, file)
}

/// Refuses a file with invalid pages.
pub(super) fn check_all(conn: &Connection, file: &Path) -> Result<(), StoreError> {
    let answer: String =
        conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|error| error::database(file, error))?;
    if answer == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: file.to_owned(), detail: answer }) }
}

fn set_journal(conn: &Connection, kind: io::Result<u64>) -> rusqlite::Result<()> {
    // If the kind of file system is unknown, the mode that works everywhere is used.
    let shared = kind.map_or(true, files::is_network);
    conn.pragma_update_and_check(None, "journal_mode", if shared { "DELETE" } else { "WAL" }, |_| Ok(()))
}

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
        .map_err(|error| error::database(file, error))?;
    let number = |sql: &str| -> Result<i64, StoreError> {
        conn.query_row(sql, [], |row| row.get(0)).map_err(|error| error::database(file, error))
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
    match compared(conn, made).map_err(|error| error::database(file, error))? {
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
    let explain = |error| error::database(file, error);
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
        document::random(&mut key).map_err(|error| error::system("make a key for", file, error))?;
        tx.execute("INSERT INTO secret (name, value) VALUES ('identity', ?1)", [key]).map_err(explain)?;
        tx.pragma_update(None, "application_id", APPLICATION).map_err(explain)?;
    }
    tx.pragma_update(None, "user_version", steps.len() as i64).map_err(explain)?;
    tx.commit().map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunState, SqliteStore, Store};
    use assay_core::draft::Draft;
    use assay_core::medium::Medium;
    use assay_core::outcome::Outcome;
    use assay_core::record::{SuiteRef, Tool};

    #[cfg(not(windows))]
    #[test]
    fn odd_characters_of_a_path_are_only_a_name_in_the_uri() {
        let uri = immutable_uri(Path::new("/a b/c?d#e%f/ä.sqlite"));
        assert_eq!(uri.to_str().unwrap(), "file:///a%20b/c%3Fd%23e%25f/%C3%A4.sqlite?immutable=1");
    }

    #[cfg(unix)]
    #[test]
    fn an_older_store_that_cannot_be_written_is_refused_with_the_mend() {
        use std::os::unix::fs::PermissionsExt as _;
        if rustix::process::geteuid().is_root() {
            eprintln!("SKIP: root writes to any directory");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        drop(SqliteStore::open(dir.path()).unwrap());
        let next = [STEPS[0], "DELETE FROM observation;"];
        let mode = |mode| std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o500);
        let error = SqliteStore::open_existing_by(dir.path(), &next).unwrap_err();
        mode(0o700);
        assert!(matches!(error, StoreError::OlderReadOnly { found: 1, .. }), "{error}");
        SqliteStore::open_existing_by(dir.path(), &next).unwrap().unwrap();
        assert_eq!(
            state(&Connection::open(files::store_in(dir.path())).unwrap(), dir.path(), &next).unwrap(),
            State::Current
        );
    }

    /// The value of a pragma on the connection of a store.
    fn pragma<T: rusqlite::types::FromSql>(store: &SqliteStore, name: &str) -> T {
        store.conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap()
    }

    /// Without these settings, a power cut loses acknowledged data, or the file of another program runs code.
    #[track_caller]
    fn assert_safe(store: &SqliteStore) {
        assert_eq!(pragma::<i64>(store, "synchronous"), 3, "EXTRA: every commit is synced");
        assert_eq!(pragma::<i64>(store, "foreign_keys"), 1);
        assert_eq!(pragma::<i64>(store, "cell_size_check"), 1);
        assert_eq!(pragma::<i64>(store, "trusted_schema"), 0);
        let on = |config| store.conn.db_config(config).unwrap();
        assert!(on(DbConfig::SQLITE_DBCONFIG_DEFENSIVE));
        assert!(!on(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER) && !on(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW));
    }

    #[test]
    fn every_commit_is_synced_however_the_store_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        assert_safe(&SqliteStore::open(dir.path()).unwrap());
        assert_safe(&SqliteStore::open_existing(dir.path()).unwrap().unwrap());
        let file = files::store_in(dir.path());
        for mode in [Mode::ReadOnly, Mode::Immutable] {
            let conn = connect(&file, mode, BUSY_TIMEOUT).unwrap();
            let inode = files::inode(&file).unwrap();
            assert_safe(&SqliteStore {
                conn,
                file: file.clone(),
                read_only: true,
                inode,
                names_synced: false,
                growth: None,
                copy: None,
            });
        }
    }

    #[test]
    fn the_log_that_needs_shared_memory_is_used_on_local_file_systems_only() {
        type Kind = fn(&Path) -> io::Result<u64>;
        let nfs: Kind = |_| Ok(0x6969);
        let fuse: Kind = |_| Ok(0x6573_5546);
        let unknown: Kind = |_| Err(io::ErrorKind::Unsupported.into());
        let ext4: Kind = |_| Ok(0xef53);
        for (kind, mode) in [(nfs, "delete"), (fuse, "delete"), (unknown, "delete"), (ext4, "wal")] {
            let dir = tempfile::tempdir().unwrap();
            let store = SqliteStore::open_on(dir.path(), BUSY_TIMEOUT, kind).unwrap();
            assert_eq!(pragma::<String>(&store, "journal_mode"), mode);
            assert_safe(&store);
            drop(store);
            // A local store is converted when it is opened on a shared file system.
            drop(SqliteStore::open_on(dir.path(), BUSY_TIMEOUT, ext4).unwrap());
            let moved = SqliteStore::open_on(dir.path(), BUSY_TIMEOUT, kind).unwrap();
            assert_eq!(pragma::<String>(&moved, "journal_mode"), mode);
        }
    }

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
