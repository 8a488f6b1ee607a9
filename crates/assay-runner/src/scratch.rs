//! A directory of assay's own, which is gone afterwards.
//!
//! It is called `.assay-ID` and holds `data` and `lock`. The running process holds a lock on
//! `lock`; a directory whose lock can be taken belongs to a run that was killed, and the next run
//! removes it. Nothing else is ever removed: a directory with anything else in it is left alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::RunError;

const PREFIX: &str = ".assay-";
const DATA: &str = "data";
const LOCK: &str = "lock";

/// The directory of this run; removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Keeps the lock while the run lives.
    _lock: File,
}

impl Scratch {
    /// Makes the directory under `parent`.
    pub(crate) fn create(parent: &Path, id: &str) -> Result<Self, RunError> {
        let path = parent.join(format!("{PREFIX}{id}"));
        DirBuilder::new().mode(0o700).create(&path).map_err(|e| RunError::io(parent, e))?;
        let lock_path = path.join(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&lock_path)
            .map_err(|e| RunError::io(&lock_path, e))
            .inspect_err(|_| drop(std::fs::remove_dir(&path)))?;
        // Some network file systems have no locks; the store then knows which runs are dead.
        let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join(DATA)
    }

    /// Removes the directory, which dropping does in silence.
    pub(crate) fn remove(self) -> std::io::Result<()> {
        remove(&self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// What killed runs left behind and was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leftovers {
    /// Directories removed.
    pub directories: u32,
    /// Bytes they held.
    pub bytes: u64,
    /// Directories of runs that are still alive.
    pub alive: u32,
}

/// Removes what killed runs left in `parent` and counts those still alive.
pub(crate) fn clean(parent: &Path) -> Leftovers {
    let mut found = Leftovers::default();
    let Ok(entries) = std::fs::read_dir(parent) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if !is_ours(&path) {
            continue;
        }
        match OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW).open(path.join(LOCK)) {
            Ok(lock) => {
                if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                    remove_counted(&path, &mut found);
                } else {
                    found.alive += 1;
                }
            }
            // Killed between making the directory and its lock.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => remove_counted(&path, &mut found),
            Err(_) => {}
        }
    }
    found
}

/// Removes the directory of a run that the store knows to be dead, wherever it was.
#[must_use]
pub fn remove_abandoned(path: &Path) -> Leftovers {
    let mut found = Leftovers::default();
    if is_ours(path) {
        remove_counted(path, &mut found);
    }
    found
}

fn is_ours(path: &Path) -> bool {
    let named = path
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix(PREFIX))
        .is_some_and(|id| id.len() == 10 && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    named && path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn remove_counted(path: &Path, found: &mut Leftovers) {
    let bytes = path.join(DATA).symlink_metadata().map_or(0, |meta| meta.len());
    if remove(path).is_ok() {
        found.directories += 1;
        found.bytes += bytes;
    }
}

/// Removes the two files and the directory; fails where anything else is inside.
fn remove(path: &Path) -> std::io::Result<()> {
    for name in [DATA, LOCK] {
        match std::fs::remove_file(path.join(name)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    std::fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789";

    #[test]
    fn the_directory_is_gone_after_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(dir.path(), ID).unwrap();
        std::fs::write(scratch.data(), b"x").unwrap();
        assert_eq!(clean(dir.path()), Leftovers { alive: 1, ..Leftovers::default() });
        assert!(scratch.data().exists(), "a living run is never cleaned");
        drop(scratch);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_what_a_killed_run_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let dead = dir.path().join(".assay-aaaaaaaaaa");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("lock"), b"").unwrap();
        std::fs::write(dead.join("data"), vec![0; 1000]).unwrap();
        let foreign = dir.path().join(".assay-bbbbbbbbbb");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::write(foreign.join("lock"), b"").unwrap();
        std::fs::write(foreign.join("thesis.tex"), b"dear").unwrap();
        let similar = dir.path().join(".assay-notes");
        std::fs::create_dir(&similar).unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join(".assay-cccccccccc")).unwrap();
        let found = clean(dir.path());
        assert_eq!((found.directories, found.bytes), (1, 1000));
        assert!(!dead.exists() && foreign.join("thesis.tex").exists() && similar.exists());
        assert!(Path::new("/etc/passwd").exists());
    }
}
