//! Files: opened, read and written at a place, made durable.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::NonNull;

use assay_core::workload::Sync;
use rustix::fs::{Advice, AtFlags, StatxFlags};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

pub use super::super::unix::{AsOpen, FileExt};
pub(crate) use super::super::unix::{Channel, IO_ERROR, private};

/// What opens a file past the cache, in messages.
pub(crate) const DIRECT: &str = "O_DIRECT";
/// What else there is to say where that is refused: nothing, since [`forget`] drops what is cached.
pub(crate) const CACHED: &str = "";

/// Opens what `options` say, past the page cache where that is `direct`; no link is followed.
pub(crate) fn open(path: &Path, direct: bool, options: &mut OpenOptions) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | if direct { libc::O_DIRECT } else { 0 };
    options.custom_flags(flags).open(path)
}

/// Waits until what was written is durable, as a workload wants it.
#[inline]
pub(crate) fn sync(file: &File, how: Sync) -> io::Result<()> {
    match how {
        Sync::End => Ok(()),
        Sync::Fdatasync => rustix::fs::fdatasync(file).map_err(Into::into),
        Sync::Fsync => rustix::fs::fsync(file).map_err(Into::into),
    }
}

/// Asks the system to drop what it has cached of a file; dirty data stays, so sync first.
///
/// # Errors
/// The system's.
pub fn forget(file: &File) -> io::Result<()> {
    rustix::fs::fadvise(file.as_fd(), 0, None, Advice::DontNeed).map_err(Into::into)
}

/// What the system tells of direct I/O on a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DirectRequirement {
    /// It takes multiples of this many bytes, according to this source.
    Alignment(u32, &'static str),
    /// It is not possible, and this is why.
    Never(&'static str),
    Nothing,
}

/// Linux 6.1 and later answer through `statx` with `STATX_DIOALIGN`.
pub(crate) fn direct_requirement(file: impl AsFd) -> DirectRequirement {
    match rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(answer) if StatxFlags::from_bits_retain(answer.stx_mask).contains(StatxFlags::DIOALIGN) => {
            match (answer.stx_dio_offset_align, answer.stx_dio_mem_align) {
                (0, _) => DirectRequirement::Never("the file system does not do direct I/O"),
                (offset, memory) => DirectRequirement::Alignment(offset.max(memory), "statx STATX_DIOALIGN"),
            }
        }
        _ => DirectRequirement::Nothing,
    }
}

// Memory outside of the heap.

/// Populated, so that no page fault falls into the timed part. Miri knows no such flag.
const FLAGS: MapFlags = if cfg!(miri) { MapFlags::PRIVATE } else { MapFlags::PRIVATE.union(MapFlags::POPULATE) };

/// Maps `length` zeroed bytes, aligned to the page and touched; `length` is at least 1.
///
/// # Errors
/// The system's where memory is short.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, FLAGS)? };
    NonNull::new(start.cast::<u8>()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// `start` and `length` are those of one call of [`map`], nothing uses the memory any more, and this is the only call.
pub(crate) unsafe fn unmap(start: NonNull<u8>, length: usize) {
    // SAFETY: as the caller promises. An error would mean a wrong address; there is nothing to do about it here.
    let _ = unsafe { munmap(start.as_ptr().cast(), length) };
}

/// Size of a page in bytes.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::repeat_tests::write;
    use crate::target::{DirectSupport, Target, direct_support_of};
    use crate::threads::Trouble;

    /// Where the kernel tells of direct I/O (since Linux 6.1), that answer alone counts.
    #[test]
    fn what_the_kernel_tells_of_direct_io_is_believed() {
        let file = tempfile::tempfile().unwrap();
        let answer = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).unwrap();
        if !StatxFlags::from_bits_retain(answer.stx_mask).contains(StatxFlags::DIOALIGN) {
            eprintln!("SKIP: what_the_kernel_tells_of_direct_io_is_believed: the kernel tells nothing here");
            return;
        }
        match direct_support_of(&file, Some(1), || file.try_clone()).0 {
            DirectSupport::Yes { alignment, source } => {
                assert_eq!(
                    (alignment, source.as_str()),
                    (answer.stx_dio_offset_align.max(answer.stx_dio_mem_align), "statx STATX_DIOALIGN")
                );
                assert!(answer.stx_dio_offset_align > 0);
            }
            DirectSupport::No { .. } => assert_eq!(answer.stx_dio_offset_align, 0),
        }
    }

    /// /dev/null takes writes, and answers EINVAL where it is to be synced.
    #[test]
    fn a_sync_is_asked_of_the_kernel() {
        let null = Arc::new(Target::existing(Path::new("/dev/null"), false, true).unwrap());
        assert_eq!(null.sync().unwrap_err().raw_os_error(), Some(libc::EINVAL));
        for sync in [Sync::Fdatasync, Sync::Fsync] {
            let trouble = Trouble::Io { write: true, offset: 0, errno: libc::EINVAL };
            assert_eq!(write(&null, 4, sync).trouble, Some(trouble), "{sync:?}");
        }
        let report = write(&null, 4, Sync::End);
        assert_eq!(report.trouble, Some(Trouble::Sync { errno: libc::EINVAL }));
        assert_eq!(report.durable_bytes_per_second, None);
    }
}
