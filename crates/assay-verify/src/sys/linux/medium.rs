//! Space and caches of files.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fstatfs, syncfs};
use rustix::io::Errno;

/// `MSDOS_SUPER_MAGIC` of linux/magic.h, the file system vfat.
const VFAT: u64 = 0x4d44;
/// How reads are assured to come from the medium, if they go through the page cache.
pub(crate) const READ_CACHED: &str =
    "what was written was synced and dropped from the page cache before it was read (fdatasync, POSIX_FADV_DONTNEED)";
/// Why data read may not come from the medium: no reason.
pub(crate) const CACHED_DOUBT: Option<&str> = None;

/// Drops the cached data of a file from the byte `offset` on: `bytes` of them, or all.
///
/// # Errors
/// The system's.
pub(crate) fn forget(file: &File, offset: u64, bytes: Option<NonZeroU64>) -> io::Result<()> {
    fadvise(file, offset, bytes, Advice::DontNeed).map_err(Into::into)
}

/// Sets space aside for a new file of `bytes`. The size is set only if that writes nothing. Returns whether the file
/// must be written in order from its start.
pub(crate) fn set_aside(file: &File, bytes: u64) -> bool {
    let vfat = is_vfat(file);
    fallocate(file, mode(vfat), 0, bytes).is_err() || vfat
}

/// Sets space aside for a new file of `bytes` with one place to be written. Returns whether the place may be anywhere.
///
/// # Errors
/// The system's, if it has no room.
pub(crate) fn reserve_place(file: &File, bytes: u64) -> io::Result<bool> {
    let vfat = is_vfat(file);
    match fallocate(file, mode(vfat), 0, bytes.max(1)) {
        Ok(()) => Ok(!vfat),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(bytes).map(|()| false),
        Err(error) => Err(error.into()),
    }
}

fn mode(vfat: bool) -> FallocateFlags {
    if vfat { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() }
}

/// Whether a file is on vfat, which extends a file by writing zeros.
fn is_vfat(file: &File) -> bool {
    fstatfs(file).is_ok_and(|fs| fs.f_type as u64 == VFAT)
}

/// Makes all writes to the file system of `file` durable.
///
/// # Errors
/// The system's.
pub(crate) fn settle<'a>(file: &File, _others: impl Iterator<Item = &'a File>) -> io::Result<()> {
    syncfs(file).map_err(Into::into)
}
