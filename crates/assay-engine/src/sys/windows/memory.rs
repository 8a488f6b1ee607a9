//! Memory outside of the heap.

use std::io;
use std::ptr::NonNull;
use std::sync::OnceLock;

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

/// Maps `length` zeroed bytes, aligned to 64 KiB and touched; `length` is at least 1.
///
/// # Errors
/// The system's where memory is short.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: fresh memory at an address of the system's choice.
    let start = unsafe { VirtualAlloc(std::ptr::null(), length, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    let start = NonNull::new(start.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
    for at in (0..length).step_by(page_bytes()) {
        // SAFETY: within the memory that was just made, which nothing else knows. No page fault falls into the timed part.
        unsafe { start.as_ptr().add(at).write_volatile(0) };
    }
    Ok(start)
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// `start` is of one call of [`map`], nothing uses the memory any more, and this is the only call.
pub(crate) unsafe fn unmap(start: NonNull<u8>, _length: usize) {
    // SAFETY: as the caller promises; all of it is released. An error would mean a wrong address.
    let _ = unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
}

/// Size of a page in bytes.
pub(crate) fn page_bytes() -> usize {
    static PAGE: OnceLock<usize> = OnceLock::new();
    *PAGE.get_or_init(|| {
        let mut info = SYSTEM_INFO::default();
        // SAFETY: it writes the structure, and does not fail.
        unsafe { GetSystemInfo(&mut info) };
        usize::try_from(info.dwPageSize).unwrap_or(0).max(4096)
    })
}
