//! The files of a journal, on another disk than the one under test.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

/// Creates a file for this user only, for appending and reading.
///
/// # Errors
/// The system's.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file for reading and, if its disk allows, for appending.
///
/// # Errors
/// The system's.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Otherwise a pipe would wait for a writer.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    options.clone().append(true).open(path).or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::TXTBSY) => options.open(path),
        _ => Err(error),
    })
}

/// Reserves room for `bytes`, if the file system can; the length does not change.
///
/// # Errors
/// Where the room is not available.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // Not every file system can; then a lack of room shows when writing.
        _ => Ok(()),
    }
}

/// Whether a file lies in memory: TMPFS_MAGIC, RAMFS_MAGIC of include/uapi/linux/magic.h.
pub(crate) fn is_volatile(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| [0x0102_1994, 0x8584_58f6].contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

/// Whether a file at `path` in a directory `home` would be the device `under_test`, or lie on its file system.
pub(crate) fn same_disk(path: &Path, home: &Metadata, under_test: &Metadata) -> bool {
    let itself = std::fs::metadata(path).is_ok_and(|there| there.rdev() != 0 && there.rdev() == under_test.rdev());
    itself || (under_test.rdev() != 0 && home.dev() == under_test.rdev())
}

/// Free bytes of the file system of a directory.
///
/// # Errors
/// The system's.
pub(crate) fn free_bytes(directory: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(directory)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns when the names in a directory survive a crash (fsync(2), notes).
///
/// # Errors
/// The system's.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
