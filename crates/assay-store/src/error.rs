//! Errors of the store: each says what failed, where, and the remedy, in one line. Errors of SQLite and of the system become
//! such here.

use std::io;
use std::path::{Path, PathBuf};

use assay_core::exit::Exit;
use assay_core::medium::KindError;
use assay_core::text::{harmless, label, quoted};
use rusqlite::{ErrorCode, ffi};

use crate::system::{self, Refusal};

/// Why the store could not do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No variable names a directory.
    #[error("no place for the store: HOME is not set to an absolute path; set ASSAY_DATA to a directory")]
    NoHome,
    /// The data directory, or something above it, is not a directory.
    #[error("{} is not a directory; move it away or set ASSAY_DATA to a directory", shown(.path))]
    NotADirectory {
        /// The path that is not a directory.
        path: PathBuf,
    },
    /// `assay.sqlite` is a directory, a pipe or a device.
    #[error("{} is not a regular file; move it away or set ASSAY_DATA to another directory", shown(.path))]
    NotAFile {
        /// The path that is not a regular file.
        path: PathBuf,
    },
    /// The system refuses access.
    #[error("no permission to {action} {}; change its owner or mode, or set ASSAY_DATA to a directory of your own", shown(.path))]
    Permission {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
    },
    /// It can be read but not written.
    #[error(
        "{} cannot be written: it or its file system is read-only; mount it read-write, or set ASSAY_DATA to a writable directory",
        shown(.path)
    )]
    ReadOnly {
        /// The file or directory.
        path: PathBuf,
    },
    /// A killed run left a log that only a writer can replay.
    #[error(
        "{} has a log that cannot be read in, because its directory is read-only; copy the directory to a writable place and set ASSAY_DATA to the copy",
        shown(.path)
    )]
    ReadOnlyLog {
        /// The store.
        path: PathBuf,
    },
    /// No space left.
    #[error("no space left for {}; free some, or set ASSAY_DATA to a directory on another file system", shown(.path))]
    DiskFull {
        /// The store.
        path: PathBuf,
    },
    /// Another process holds the store.
    #[error("{} is locked by another process; wait for it or end it (fuser {} names it)", shown(.path), shown(.path))]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// The file is no database, or a damaged one. It is never changed or removed.
    #[error(
        "{} is damaged ({}); move it away together with its -wal and -shm files, and the next run starts a new one (docs/store.md tells how to recover records)",
        shown(.path),
        shortened(.detail)
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// In SQLite's own words.
        detail: String,
    },
    /// A database, but not one of assay.
    #[error(
        "{} is a database of another program; move it away or set ASSAY_DATA to another directory",
        shown(.path)
    )]
    OtherProgram {
        /// The file.
        path: PathBuf,
    },
    /// The file has other names too. A log belongs to one name, so data written through different names is lost.
    #[error(
        "{} has {names} names (hard links), so writing to it would lose records; remove the other names, or put a copy of the file in its place (docs/store.md tells how)",
        shown(.path)
    )]
    Linked {
        /// The store, or another file of it.
        path: PathBuf,
        /// Number of its names.
        names: u64,
    },
    /// A store of assay with tables or columns that assay does not create. Nothing in it is read.
    #[error(
        "{} has tables, columns or indexes that assay does not make, and is not read; move it away or set ASSAY_DATA to another directory",
        shown(.path)
    )]
    OtherTables {
        /// The store.
        path: PathBuf,
    },
    /// Reading takes longer than for any valid store of its size.
    #[error("{} takes too long to be read, as no sound store of its size does; leave it out", shown(.path))]
    TooSlow {
        /// The store.
        path: PathBuf,
    },
    /// Written by a newer assay. It is never changed.
    #[error("{} has store version {found}, and this assay knows up to {known}; use the newer assay", shown(.path))]
    NewerStore {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Newest version known here.
        known: i64,
    },
    /// Written by an older assay, and it cannot be migrated.
    #[error(
        "{} has the old store version {found} and is read-only, so it cannot be brought up to date; copy its directory to a writable place and set ASSAY_DATA to the copy",
        shown(.path)
    )]
    OlderReadOnly {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The file was moved or removed under an open store.
    #[error("{} was moved or removed while it was open; put it back or run again", shown(.path))]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// Any other answer of the operating system.
    #[error("cannot {action} {}: {source}; check the file system that holds it", shown(.path))]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Any other answer of SQLite.
    #[error("{}: {}; run again, and report it as a bug if it stays", shown(.path), shortened(.detail))]
    Database {
        /// The store.
        path: PathBuf,
        /// In SQLite's own words.
        detail: String,
    },
    /// A stored document of a version that this version cannot read.
    #[error("record {} in {} cannot be read: {}; use the version of assay that wrote it", shortened(.id), shown(.path), shortened(.reason))]
    Unreadable {
        /// Which record.
        id: String,
        /// The store.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A document that is not a record.
    #[error("not a record of assay: {}", shortened(.reason))]
    NotARecord {
        /// Why.
        reason: String,
    },
    /// A document of a newer major version.
    #[error("the record has format version {}, and this assay reads {known}.x; use a newer assay", quoted(.found))]
    NewerRecord {
        /// Its version.
        found: String,
        /// Major version read here.
        known: u32,
    },
    /// Another document has the same id.
    #[error("record {id} is in the store already, with other content; remove that first (assay rm {id})")]
    Conflict {
        /// Which record.
        id: String,
    },
    /// The run that makes the record is still running.
    #[error("record {id} is being measured by process {pid}; stop that run first")]
    StillRunning {
        /// Which record.
        id: String,
        /// Process number of the run.
        pid: u32,
    },
    /// No record has this id.
    #[error("no record {} in the store; `assay list` shows what there is", quoted(.query))]
    UnknownId {
        /// The query.
        query: String,
    },
    /// Several ids begin like this.
    #[error("{} is the beginning of several records: {}; write one more character", quoted(.query), some_of(.candidates))]
    Ambiguous {
        /// The query.
        query: String,
        /// Matching ids, oldest first.
        candidates: Vec<String>,
    },
    /// The store has fewer records than `last~N` counts back.
    #[error(
        "no record {}: the store holds {}; `assay list` shows them",
        quoted(.query),
        assay_core::units::counted(usize::try_from(*.held).unwrap_or(usize::MAX), "record")
    )]
    NotSoMany {
        /// The query.
        query: String,
        /// Number of records.
        held: u64,
    },
    /// No record has this label or property.
    #[error("no record matches {}; `assay list` shows what there is", quoted(.query))]
    NoMatch {
        /// The query.
        query: String,
    },
    /// A query names a kind that no medium can have.
    #[error(transparent)]
    NoKind(KindError),
    /// Not a query.
    #[error("{} is no query: {reason}; write an id, last, last~2, all, or key=value like model=Ultra", quoted(.query))]
    BadQuery {
        /// The query.
        query: String,
        /// Why it is invalid.
        reason: &'static str,
    },
}

impl StoreError {
    /// The exit code for this error.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::NotARecord { .. }
            | Self::NewerRecord { .. }
            | Self::Conflict { .. }
            | Self::StillRunning { .. }
            | Self::UnknownId { .. }
            | Self::Ambiguous { .. }
            | Self::NotSoMany { .. }
            | Self::NoMatch { .. }
            | Self::NoKind(_)
            | Self::BadQuery { .. } => Exit::Usage,
            _ => Exit::Environment,
        }
    }
}

/// A path, safe for one line on a terminal.
fn shown(path: &Path) -> String {
    harmless(&path.display().to_string())
}

/// The message of a parser, shortened because it repeats text of the document.
fn shortened(reason: &str) -> String {
    label(reason, 300).unwrap_or_default()
}

fn some_of(candidates: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = candidates.iter().take(SHOWN).map(|id| harmless(id)).collect::<Vec<_>>().join(", ");
    if candidates.len() > SHOWN {
        text.push_str(&format!(" and {} more", candidates.len() - SHOWN));
    }
    text
}

/// Converts an error of SQLite.
pub(crate) fn database(file: &Path, error: rusqlite::Error) -> StoreError {
    let path = file.to_owned();
    let (failure, message) = match error {
        rusqlite::Error::SqliteFailure(failure, message) => (failure, message),
        // Columns with other content than the schema says: not written by assay.
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => return StoreError::Damaged { path, detail: error.to_string() },
        other => return StoreError::Database { path, detail: other.to_string() },
    };
    let detail = message.unwrap_or_else(|| failure.to_string());
    // Its schema was not read completely (`sqlite/open.rs`).
    if detail.contains("too many schema objects") {
        return StoreError::OtherTables { path };
    }
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreError::Locked { path }
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Damaged { path, detail },
        // Longer than anything in a store may be (`foreign.rs`).
        ErrorCode::TooBig => StoreError::Damaged { path, detail },
        ErrorCode::OperationInterrupted => StoreError::TooSlow { path },
        ErrorCode::DiskFull => StoreError::DiskFull { path },
        ErrorCode::ReadOnly if failure.extended_code == ffi::SQLITE_READONLY_DBMOVED => StoreError::Moved { path },
        ErrorCode::ReadOnly => StoreError::ReadOnly { path },
        ErrorCode::PermissionDenied => StoreError::Permission { action: "read", path },
        // The shared memory file reports a full disk as an I/O error (unixShmMap in os_unix.c).
        ErrorCode::SystemIoFailure if no_space(file) => StoreError::DiskFull { path },
        ErrorCode::CannotOpen if no_space(file) => StoreError::DiskFull { path },
        ErrorCode::SystemIoFailure => StoreError::Io { action: "use", path, source: io::Error::other(detail) },
        ErrorCode::CannotOpen => StoreError::Io { action: "open", path, source: io::Error::other(detail) },
        // SQLITE_ERROR for a missing table or column.
        ErrorCode::Unknown if detail.starts_with("no such ") => StoreError::Damaged { path, detail },
        _ => StoreError::Database { path, detail },
    }
}

/// Whether the file system of `file` has no block or no inode left.
fn no_space(file: &Path) -> bool {
    file.parent().is_some_and(system::is_full)
}

/// Converts an error of the operating system.
pub(crate) fn system(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    let path = path.to_owned();
    match system::refusal(&source) {
        Some(Refusal::Permission) => StoreError::Permission { action, path },
        Some(Refusal::ReadOnly) => StoreError::ReadOnly { path },
        Some(Refusal::Full) => StoreError::DiskFull { path },
        Some(Refusal::NotADirectory) => StoreError::NotADirectory { path },
        None => StoreError::Io { action, path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_harmless_line() {
        let error = StoreError::UnknownId { query: format!("a\x1b[2J\n{}", "x".repeat(200)) };
        let text = error.to_string();
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(text.len() < 250, "{text}");
        let path = PathBuf::from("/data/\x1b]0;owned\x07/assay.sqlite");
        assert!(!StoreError::Locked { path }.to_string().chars().any(char::is_control));
    }

    #[test]
    fn what_a_document_holds_is_repeated_in_short() {
        let long = "9".repeat(3000);
        for json in [
            format!("{{\"schema\": \"{long}\"}}"),
            format!("{{\"schema\": \"2.0{}\"}}", "0".repeat(3000)),
            format!("{{\"schema\": \"1.0\", \"medium\": {{\"kind\": \"{long}\"}}}}"),
        ] {
            let text = crate::document::read(&json).unwrap_err().to_string();
            assert!(text.chars().count() < 400, "{text}");
        }
    }

    #[test]
    fn what_a_store_answers_is_repeated_in_short() {
        let (path, detail) = (PathBuf::from("/data/assay.sqlite"), "x".repeat(1 << 20));
        let errors = [
            StoreError::Damaged { path: path.clone(), detail: detail.clone() },
            StoreError::Database { path: path.clone(), detail: detail.clone() },
            StoreError::Unreadable { id: detail.clone(), path, reason: detail },
        ];
        for error in errors {
            assert!(error.to_string().chars().count() < 900, "{}", error.to_string().len());
        }
    }

    #[test]
    fn many_candidates_are_cut() {
        let candidates: Vec<String> = (0..20).map(|n| format!("aaaaaaaa{n:02}")).collect();
        let text = StoreError::Ambiguous { query: "aaaa".to_owned(), candidates }.to_string();
        assert!(text.contains("aaaaaaaa00, aaaaaaaa01") && text.contains("and 12 more"), "{text}");
    }

    #[test]
    fn bad_input_and_bad_environment_end_differently() {
        assert_eq!(StoreError::NoMatch { query: String::new() }.exit(), Exit::Usage);
        assert_eq!(StoreError::Locked { path: PathBuf::new() }.exit(), Exit::Environment);
    }

    #[test]
    fn a_store_that_was_moved_is_told_from_one_that_is_read_only() {
        let of = |code| {
            database(Path::new("/data/assay.sqlite"), rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
        };
        assert!(matches!(of(ffi::SQLITE_READONLY_DBMOVED), StoreError::Moved { .. }));
        for code in [ffi::SQLITE_READONLY, ffi::SQLITE_READONLY_DIRECTORY, ffi::SQLITE_READONLY_RECOVERY] {
            assert!(matches!(of(code), StoreError::ReadOnly { .. }), "{code}");
        }
    }
}
