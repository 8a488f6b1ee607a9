//! Opens the store: for a run, which creates it, and for reading, which creates nothing.

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::explain;
use super::files::{self, FoundStore, Inode, Need};
use super::migrate::{self, MOST_OBJECTS, STEPS, State};
use super::parts::Growth;
use crate::error::StoreError;
use crate::system;

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
        let explain = |error| explain::database(&file, error);
        let mut conn = connect(&file, Mode::ReadWrite, busy_timeout).map_err(explain)?;
        let state = migrate::state(&conn, &file, STEPS)?;
        if conn.is_readonly("main").map_err(explain)? {
            return Err(StoreError::ReadOnly { path: file });
        }
        check(&conn, &file, &found)?;
        set_journal(&conn, kind(dir)).map_err(explain)?;
        if state != State::Current {
            migrate::migrate(&mut conn, &file, STEPS)?;
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
        let read_only = fixed || conn.is_readonly("main").map_err(|error| explain::database(&file, error))?;
        check(&conn, &file, &found)?;
        match state {
            State::Empty => return Ok(None),
            State::Older(found) if read_only => return Err(StoreError::OlderReadOnly { path: file, found }),
            State::Older(_) => {
                let _set_up = files::lock_set_up(dir, &file, BUSY_TIMEOUT)?;
                migrate::migrate(&mut conn, &file, steps)?;
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
        explain::database(&self.file, error)
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
            .map(|conn| (migrate::state(&conn, file, steps), conn))
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
    let (state, conn) = result.map_err(|error| explain::database(file, error))?;
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
    let answer: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| explain::database(file, error))?;
    if answer == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: file.to_owned(), detail: answer }) }
}

fn set_journal(conn: &Connection, kind: io::Result<u64>) -> rusqlite::Result<()> {
    // If the kind of file system is unknown, the mode that works everywhere is used.
    let shared = kind.map_or(true, files::is_network);
    conn.pragma_update_and_check(None, "journal_mode", if shared { "DELETE" } else { "WAL" }, |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            migrate::state(&Connection::open(files::store_in(dir.path())).unwrap(), dir.path(), &next).unwrap(),
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
}
