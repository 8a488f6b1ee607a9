//! What SQLite and the system answer, as errors of the store.

use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::error::StoreError;
use crate::system::{self, Refusal};

/// An answer of SQLite.
pub(crate) fn database(file: &Path, error: rusqlite::Error) -> StoreError {
    let path = file.to_owned();
    let (failure, message) = match error {
        rusqlite::Error::SqliteFailure(failure, message) => (failure, message),
        // Columns that do not hold what the schema says: written by something else than assay.
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => return StoreError::Damaged { path, detail: error.to_string() },
        other => return StoreError::Database { path, detail: other.to_string() },
    };
    let detail = message.unwrap_or_else(|| failure.to_string());
    // Its schema was not read to the end (`migrate.rs`).
    if detail.contains("too many schema objects") {
        return StoreError::OtherTables { path };
    }
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreError::Locked { path }
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Damaged { path, detail },
        // Of what nothing in a store may come to (`foreign.rs`).
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
        // SQLITE_ERROR for a table or column that is not there.
        ErrorCode::Unknown if detail.starts_with("no such ") => StoreError::Damaged { path, detail },
        _ => StoreError::Database { path, detail },
    }
}

/// Whether the file system of `file` has no block or no inode left.
fn no_space(file: &Path) -> bool {
    file.parent().is_some_and(system::is_full)
}

/// An answer of the operating system.
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
