//! Space and caches of files.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;

/// How what is read comes to the host, where reads do not go past the cache.
pub(crate) const READ_CACHED: &str =
    "what was written was synced and asked to be dropped from memory before it was read (F_FULLFSYNC, MS_INVALIDATE)";
/// Why that need not come from the medium.
pub(crate) const CACHED_DOUBT: Option<&str> = Some(
    "whether macOS drops what it has cached of a file when it is asked to was never tested, so that reads that do not go \
     past the cache need not come from the medium; check with direct I/O",
);

/// Asks the system to drop what is cached of a file, all of it wherever `_offset` and `_bytes` lie.
///
/// # Errors
/// The system's.
pub(crate) fn forget(file: &File, _offset: u64, _bytes: Option<NonZeroU64>) -> io::Result<()> {
    assay_engine::forget(file)
}

/// Sets space aside for a file of `bytes`, whose size stays: HFS+, FAT and exFAT fill what lies before a write with zeros.
/// So it has to be written from its start on, one part after the other.
pub(crate) fn set_aside(file: &File, bytes: u64) -> bool {
    // Where space cannot be set aside, writing tells whether there is enough.
    let _ = allocate(file, bytes);
    true
}

/// Sets space aside for a new file of `bytes`, of which the first place will be written.
///
/// # Errors
/// The system's where it has no room.
pub(crate) fn reserve_place(file: &File, bytes: u64) -> io::Result<bool> {
    match allocate(file, bytes.max(1)) {
        // Not every file system can; writing then tells.
        Ok(()) | Err(Errno::NOTSUP | Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Sets space aside behind what the file takes already, until it is enough for `bytes` (fcntl(2), `F_PREALLOCATE`).
fn allocate(file: &File, bytes: u64) -> rustix::io::Result<()> {
    /// Unit of `st_blocks`, whatever the file system's block.
    const BLOCK: u64 = 512;
    let taken = file.metadata().map_or(0, |now| now.blocks().saturating_mul(BLOCK));
    let Some(missing) = bytes.checked_sub(taken).filter(|missing| *missing > 0) else { return Ok(()) };
    let mut store = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: i64::try_from(missing).map_err(|_| Errno::FBIG)?,
        fst_bytesalloc: 0,
    };
    // SAFETY: the descriptor is open while the file is borrowed, and the structure of this command is this function's own,
    // which is read and written for the time of the call.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut store) };
    if status == -1 { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) } else { Ok(()) }
}

/// Makes durable what was written to these files, and asks the system to drop what it has cached of them: small writes may
/// go by the cache, though the file was opened to go past it (fcntl(2), `F_NOCACHE`).
///
/// # Errors
/// The system's.
pub(crate) fn settle<'a>(file: &File, mut others: impl Iterator<Item = &'a File>) -> io::Result<()> {
    let settled = |file: &File| file.sync_data().and_then(|()| assay_engine::forget(file));
    others.try_for_each(settled)?;
    settled(file)
}
