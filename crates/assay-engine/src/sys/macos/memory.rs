//! Memory outside of the heap.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Maps `length` zeroed bytes, aligned to the page and touched, so that no page fault falls into the timed part; `length` is
/// at least 1.
///
/// # Errors
/// The system's where memory is short.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, access, MapFlags::PRIVATE)? };
    let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
    for offset in (0..length).step_by(page_bytes()) {
        // SAFETY: within the mapping, which nobody else knows yet.
        unsafe { start.add(offset).write_volatile(0) };
    }
    Ok(start)
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
