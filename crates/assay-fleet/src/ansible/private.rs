//! A directory of the user alone, for as long as a command of Ansible takes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::collection::{FILES, PLAYBOOKS};
use crate::key::nonce;
use crate::system::is_private;
use assay_core::private;

const PREFIX: &str = "assay-fleet-";
/// Digits of the number behind it.
const DIGITS: usize = 16;
/// A file in the directory that is locked while the command lives.
const LOCK: &str = "lock";
/// Age from which the directory of a command that is gone is removed. A directory is made before its lock is held, and
/// tasks started by Ansible may continue for a while.
const FORGOTTEN: Duration = Duration::from_secs(600);

/// The place beside a playbook where Ansible looks for collections first.
const COLLECTION: &str = "collections/ansible_collections/assay/fleet";

/// The directory of a command: its playbooks, the collection beside them, and further input files. It is removed with
/// this value.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
    /// Held while the command lives.
    _lock: File,
}

impl PrivateDirectory {
    /// Makes the directory among temporary files, and removes those of commands that were killed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new() -> std::io::Result<Self> {
        let parent = std::path::absolute(std::env::temp_dir())?;
        remove_forgotten(&parent, FORGOTTEN);
        Self::within(&parent)
    }

    fn within(parent: &Path) -> std::io::Result<Self> {
        let directory = Self::bare(parent)?;
        for (name, text) in FILES {
            directory.write(&format!("{COLLECTION}/{name}"), text.as_bytes())?;
        }
        for (name, text) in PLAYBOOKS {
            directory.write(name.trim_start_matches("playbooks/"), text.as_bytes())?;
        }
        Ok(directory)
    }

    /// Makes one without anything in it.
    pub(crate) fn bare(parent: &Path) -> std::io::Result<Self> {
        let path = parent.join(format!("{PREFIX}{}", &nonce()?[..DIGITS]));
        // One that is there already is not taken.
        private::directories().create(&path)?;
        let lock = private::file().create_new(true).write(true).open(path.join(LOCK))?;
        // Where a file system has no locks, nothing else is held either, and age alone tells.
        let _ = lock.try_lock();
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only this user can read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, name: &str, content: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            private::directories().recursive(true).create(parent)?;
        }
        let mut file = private::file().create(true).truncate(true).write(true).open(&path)?;
        file.write_all(content)?;
        Ok(path)
    }
}

/// Removes the directories of this user's commands that were killed, because they hold the key of a run.
fn remove_forgotten(parent: &Path, age: Duration) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let named = entry.file_name().to_str().is_some_and(is_named);
        if named && is_forgotten(&path, age).unwrap_or(false) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

fn is_named(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a command made the directory, it is old enough, and its lock is free.
fn is_forgotten(path: &Path, age: Duration) -> std::io::Result<bool> {
    let directory = path.symlink_metadata()?;
    // A time in the future counts as recent.
    let old = directory.modified()?.elapsed().is_ok_and(|passed| passed >= age);
    if !old || !is_private(&directory) {
        return Ok(false);
    }
    let lock = path.join(LOCK);
    match lock.symlink_metadata() {
        // The command was killed before it made the lock file, or was of an earlier version.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(path.join("check.yml").is_file()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return Ok(false),
        Ok(_) => {}
    }
    Ok(OpenOptions::new().write(true).open(lock)?.try_lock().is_ok())
}

impl AsRef<Path> for PrivateDirectory {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A directory of another time, as if its command had been killed.
    fn leave(parent: &Path) -> PathBuf {
        let left = PrivateDirectory::within(parent).unwrap();
        left.write("key", b"secret").unwrap();
        let path = left.path().to_owned();
        // As after a kill: the lock file is closed, and nothing is removed.
        let PrivateDirectory { _lock: lock, .. } = &left;
        lock.unlock().unwrap();
        std::mem::forget(left);
        path
    }

    #[test]
    fn what_killed_commands_left_is_removed_and_nothing_else() {
        let parent = PrivateDirectory::new().unwrap();
        let left = leave(parent.path());
        remove_forgotten(parent.path(), FORGOTTEN);
        assert!(left.exists(), "it was made just now");
        let before_locks = leave(parent.path());
        std::fs::remove_file(before_locks.join(LOCK)).unwrap();
        let alive = PrivateDirectory::within(parent.path()).unwrap();
        let theirs = ["assay-fleet-notes", "assay-fleet-0123456789abcdef", "assay-fleet-0123456789abcde0"];
        for name in theirs {
            private::directories().create(parent.path().join(name)).unwrap();
            std::fs::write(parent.path().join(name).join("thesis.tex"), "dear").unwrap();
        }
        let open = parent.path().join(theirs[2]);
        std::fs::write(open.join(LOCK), "").unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&open, parent.path().join("assay-fleet-0123456789abcde1")).unwrap();
        remove_forgotten(parent.path(), Duration::ZERO);
        assert!(!left.exists() && !before_locks.exists());
        assert!(alive.path().join("check.yml").exists());
        assert!(theirs.iter().all(|name| parent.path().join(name).join("thesis.tex").exists()));
    }

    #[test]
    fn it_is_the_users_alone_and_gone_afterwards() {
        let directory = PrivateDirectory::new().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let key = directory.write("key", b"secret").unwrap();
        assert_eq!((mode(directory.path()), mode(&key)), (0o700, 0o600));
        assert!(directory.path().join("check.yml").is_file());
        assert!(directory.path().join(COLLECTION).join("plugins/callback/jsonl.py").is_file());
        assert_ne!(PrivateDirectory::new().unwrap().path(), directory.path());
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }
}
