//! The directory of assay's own, and what it remembers between a check and its resumption.
//!
//! It holds `lock`, on which a living check holds a lock; `state.json`, which says who made it and
//! how far it came; and `1.h2w`, `2.h2w` and so on. Nothing else is ever removed, and a directory
//! of this name without a state is not ours.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use assay_core::outcome::Failure;
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

use super::error::VerifyError;
use super::tally::Tally;

/// Name of the directory in the target that holds the files; `f3read` accepts it.
pub const DIRECTORY: &str = ".assay-verify";
const LOCK: &str = "lock";
pub(crate) const STATE: &str = "state.json";
/// The state until it is complete, so that a crash leaves the old one.
const NEW_STATE: &str = "state.new";

pub(crate) fn file_name(number: u64) -> String {
    format!("{number}.h2w")
}

/// What the directory remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Version of this layout.
    pub(crate) version: u32,
    /// Process that made it.
    pub(crate) pid: u32,
    /// Host that made it.
    pub(crate) host: String,
    /// Bytes that the files will hold together.
    pub(crate) area_bytes: u64,
    /// Bytes that are written and durable, from the start.
    pub(crate) written_bytes: u64,
    /// Whether the check ended and was told to keep the files.
    pub(crate) kept: bool,
    /// How far reading came, and what was found until there.
    pub(crate) read: Option<(u64, Tally)>,
}

impl State {
    pub(crate) fn new(area_bytes: u64) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { version: 1, pid: std::process::id(), host, area_bytes, written_bytes: 0, kept: false, read: None }
    }

    pub(crate) fn load(directory: &Path) -> Option<Self> {
        let text = std::fs::read(directory.join(STATE)).ok()?;
        serde_json::from_slice(&text).ok().filter(|state: &Self| state.version == 1)
    }

    /// Saves it durably. May block as long as the medium does.
    pub(crate) fn save(&self, directory: &Path) -> io::Result<()> {
        let new = directory.join(NEW_STATE);
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_data()?;
        std::fs::rename(&new, directory.join(STATE))
    }
}

/// Whether there is a directory of this name, and whose.
pub(crate) enum Present {
    No,
    Ours(Box<State>),
    /// Killed before it had a state: nothing but a lock.
    Empty,
    Foreign,
}

pub(crate) fn present(directory: &Path) -> Present {
    let Ok(meta) = directory.symlink_metadata() else { return Present::No };
    if !meta.is_dir() {
        return Present::Foreign;
    }
    if let Some(state) = State::load(directory) {
        return Present::Ours(Box::new(state));
    }
    let known = |name: &std::ffi::OsStr| [LOCK, NEW_STATE].iter().any(|ours| name == *ours);
    let only_known =
        std::fs::read_dir(directory).is_ok_and(|mut all| all.all(|entry| entry.is_ok_and(|e| known(&e.file_name()))));
    if only_known { Present::Empty } else { Present::Foreign }
}

/// The directory while this check holds its lock.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    _lock: File,
}

impl Place {
    /// Makes the directory where it is missing and takes its lock.
    pub(crate) fn take(path: &Path) -> Result<Self, VerifyError> {
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(VerifyError::io(path.parent().unwrap_or(path), error)),
        }
        let lock_path = path.join(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&lock_path)
            .map_err(|error| VerifyError::io(&lock_path, error))?;
        // Some network file systems have no locks; that is no reason not to check.
        if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(VerifyError::Busy(path.to_owned()));
        }
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the files of an area of `files` files; the directory goes too unless something that is
/// not ours lies in it.
pub(crate) fn remove_files(directory: &Path, files: u64) -> io::Result<()> {
    for number in 1..=files {
        remove_one(&directory.join(file_name(number)))?;
    }
    for (path, _) in spread_files(directory) {
        remove_one(&path)?;
    }
    Ok(())
}

/// Name of a file of the quick check.
pub(crate) fn spread_name(number: usize) -> String {
    format!("{number}.quick")
}

/// Files of a quick check, and the space that they take in bytes.
pub(crate) fn spread_files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let ours = |name: &str| name.strip_suffix(".quick").is_some_and(|n| n.parse::<usize>().is_ok());
    let files = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(ours));
    // `st_blocks` counts 512 bytes, whatever the file system's block (stat(2)).
    files.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.blocks() * 512))).collect()
}

/// Removes the directory and what is left in it of ours.
pub(crate) fn remove_all(directory: &Path, files: u64) -> io::Result<()> {
    remove_files(directory, files)?;
    for name in [NEW_STATE, STATE, LOCK] {
        remove_one(&directory.join(name))?;
    }
    std::fs::remove_dir(directory)
}

fn remove_one(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Numbers and sizes of the files `N.h2w` of a directory, in order.
pub(crate) fn numbered(directory: &Path) -> Vec<(u64, u64)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<(u64, u64)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let digits = name.to_str()?.strip_suffix(".h2w")?;
            let number = digits.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == digits)?;
            let meta = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((number, meta.len()))
        })
        .collect();
    files.sort_unstable();
    files
}

/// Names of all `*.h2w` that lie in a directory, in order.
pub(crate) fn h2w_names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".h2w")).collect();
    names.sort_unstable();
    names
}

/// Whether the block device under `directory` has gone or has no capacity left.
///
/// `/sys/dev/block/MAJOR:MINOR/size` is in sectors; file systems without a device have none, and
/// are never gone.
pub(crate) fn gone(directory: &Path) -> bool {
    let Ok(meta) = directory.metadata() else { return true };
    let (major, minor) = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
    if major == 0 {
        return false;
    }
    let size = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/size"));
    size.map_or(true, |sectors| sectors.trim() == "0")
}

/// The error of something on a medium that may have gone: the kernel has many numbers for that.
pub(crate) fn gone_error(directory: &Path, error: io::Error) -> io::Error {
    if gone(directory) { rustix::io::Errno::NODEV.into() } else { error }
}

/// What an error of the system stands for.
pub(crate) fn failure_of(error: &io::Error) -> Failure {
    error.raw_os_error().map_or(Failure::IoError, Failure::from_errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let target = tempfile::tempdir().unwrap();
        let path = target.path().join(DIRECTORY);
        assert!(matches!(present(&path), Present::No));
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(present(&path), Present::Empty));
        std::fs::write(path.join("1.h2w"), b"holiday").unwrap();
        assert!(matches!(present(&path), Present::Foreign));
        std::os::unix::fs::symlink("/etc", target.path().join("link")).unwrap();
        assert!(matches!(present(&target.path().join("link")), Present::Foreign));

        State::new(2 << 30).save(&path).unwrap();
        std::fs::write(path.join("3.h2w"), b"beyond the area").unwrap();
        assert!(remove_all(&path, 2).is_err());
        assert!(path.join("3.h2w").exists() && !path.join("1.h2w").exists());
    }

    #[test]
    fn one_check_at_a_time() {
        let target = tempfile::tempdir().unwrap();
        let path = target.path().join(DIRECTORY);
        let first = Place::take(&path).unwrap();
        assert!(matches!(Place::take(&path), Err(VerifyError::Busy(_))));
        drop(first);
        assert!(Place::take(&path).is_ok());
    }

    #[test]
    fn only_names_of_the_format_are_read() {
        let target = tempfile::tempdir().unwrap();
        for name in ["2.h2w", "10.h2w", "01.h2w", "0.h2w", "x.h2w", "1.h2w.bak"] {
            std::fs::write(target.path().join(name), b"x").unwrap();
        }
        assert_eq!(numbered(target.path()), [(2, 1), (10, 1)]);
        assert_eq!(h2w_names(target.path()).len(), 5);
    }
}
