//! Where records and reports are kept.

use std::path::{Path, PathBuf};

use assay_report::Redactor;
use assay_store::{SqliteStore, Store, Stored, data_dir};

use crate::failure::Failure;

/// The data directory.
pub(crate) fn directory() -> Result<PathBuf, Failure> {
    Ok(data_dir(&|name| std::env::var_os(name))?)
}

/// The store, made where it is missing.
pub(crate) fn open() -> Result<SqliteStore, Failure> {
    Ok(SqliteStore::open(&directory()?)?)
}

/// The store as it is; none where there is none yet.
pub(crate) fn existing() -> Result<Option<SqliteStore>, Failure> {
    Ok(SqliteStore::open_existing(&directory()?)?)
}

/// Records that a query names, with their documents.
pub(crate) fn find(query: &str) -> Result<Vec<Stored>, Failure> {
    let Some(store) = existing()? else {
        return Err(Failure::usage("the store is empty; measure something first: assay run"));
    };
    let ids = store.resolve(query)?;
    ids.iter().map(|id| store.load(id).map_err(Failure::from)).collect()
}

/// Hides identities by the key of the store; by none of its own where the store cannot keep one.
pub(crate) fn redactor(store: Option<&mut SqliteStore>, keep_identity: bool) -> Result<Redactor, Failure> {
    let key = match store {
        Some(store) => store.identity_key()?,
        None => [0; 32],
    };
    Ok(Redactor { key, keep_identity })
}

/// Checks that a file can be written, before the work that it is for: makes it where it is
/// missing, and leaves it as it is where it is not.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let existed = path.exists();
    match std::fs::OpenOptions::new().append(true).create(true).open(path) {
        Ok(_) => {
            if !existed {
                let _ = std::fs::remove_file(path);
            }
            Ok(())
        }
        Err(error) => Err(cannot_write(path, &error)),
    }
}

/// Writes a file whole or not at all: into a neighbour first, which then takes its place.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path)).map_err(|error| {
        let _ = std::fs::remove_file(&part);
        cannot_write(path, &error)
    })
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{} cannot be written: {error}; name another file", path.display()))
}
