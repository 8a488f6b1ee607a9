//! Files: opened, made durable, and what is cached of them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use assay_core::workload::Sync;
use rustix::fs::{fcntl_fullfsync, fcntl_nocache};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

pub use crate::sys::unix::files::{AsOpen, FileExt};
pub(crate) use crate::sys::unix::files::{Channel, IO_ERROR, private};

/// What opens a file past the cache, in messages.
pub(crate) const DIRECT: &str = "F_NOCACHE";
/// What else there is to say where that is refused: nothing, since [`forget`] drops what is cached.
pub(crate) const CACHED: &str = "";

/// Opens what `options` say, past the cache where that is `direct`; no link is followed. What was cached before is still
/// read from memory (fcntl(2), `F_NOCACHE`).
pub(crate) fn open(path: &Path, direct: bool, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
    if direct {
        fcntl_nocache(&file, true)?;
    }
    Ok(file)
}

/// Waits until what was written is durable. fsync(2) of macOS leaves it in the cache of the medium; `F_FULLFSYNC` does not.
#[inline]
pub(crate) fn sync(file: &File, how: Sync) -> io::Result<()> {
    match how {
        Sync::End => Ok(()),
        Sync::Fdatasync | Sync::Fsync => fcntl_fullfsync(file).map_err(Into::into),
    }
}

/// Asks the system to drop what it has cached of a file, after it was written. There is no call for a file: a mapping of
/// it is invalidated (msync(2)), which needs a file that is open for reading.
///
/// # Errors
/// The system's.
pub fn forget(file: &File) -> io::Result<()> {
    let Some(length) = usize::try_from(file.metadata()?.len()).ok().filter(|length| *length > 0) else { return Ok(()) };
    // SAFETY: a new mapping at an address of the kernel's choice, through which nothing is read or written.
    let start = unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::SHARED, file.as_fd(), 0)? };
    // SAFETY: start and length are those of the mapping.
    let dropped = unsafe { msync(start, length, MsyncFlags::SYNC | MsyncFlags::INVALIDATE) };
    // SAFETY: as above; nothing refers to it.
    unsafe { munmap(start, length)? };
    dropped.map_err(Into::into)
}

/// What the system tells of direct I/O on a file.
#[derive(Debug, PartialEq, Eq)]
#[expect(dead_code, reason = "macOS tells nothing")]
pub(crate) enum DirectRequirement {
    /// It takes multiples of so many bytes, by this source.
    Alignment(u32, &'static str),
    /// It is not possible, and this is why.
    Never(&'static str),
    Nothing,
}

/// Nothing is told beforehand; `F_NOCACHE` takes any place and length.
pub(crate) fn direct_requirement(_file: impl AsFd) -> DirectRequirement {
    DirectRequirement::Nothing
}
