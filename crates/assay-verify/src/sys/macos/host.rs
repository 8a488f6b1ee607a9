//! The host that checks.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, statfs};

use super::device::text;
use crate::sys::apfs::container;

/// Directories whose file systems everything else needs: the system, what users and programs keep, and swap files.
const SYSTEM: [&str; 3] = ["/", "/System/Volumes/Data", "/System/Volumes/VM"];

/// Whether this user may make files in a directory.
///
/// # Errors
/// Where not.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).map_err(Into::into)
}

/// What a file system takes its room from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A container of APFS, which other volumes take theirs from, too.
    Container(String),
    /// A device of its own, by its number.
    Device(u64),
}

/// What the file system that a path lies on takes its room from.
pub(crate) fn file_system(path: &Path) -> Option<Room> {
    let fs = statfs(path).ok()?;
    let from = text(&fs.f_mntfromname);
    match container(&from).filter(|_| text(&fs.f_fstypename) == "apfs") {
        Some(container) => Some(Room::Container(container.to_owned())),
        None => path.metadata().ok().map(|meta| Room::Device(meta.dev())),
    }
}

/// Directories that lie on file systems that must not run out of room.
pub(crate) fn carriers() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    SYSTEM.into_iter().map(PathBuf::from).chain(home).collect()
}
