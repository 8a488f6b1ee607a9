//! Converts errors of SQLite and of the system to errors of the store.

use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::error::StoreError;
use crate::system::{self, Refusal};

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
    // Its schema was not read completely (`migrate.rs`).
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
