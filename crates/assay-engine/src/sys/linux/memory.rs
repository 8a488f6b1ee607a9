//! Memory outside of the heap.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

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
