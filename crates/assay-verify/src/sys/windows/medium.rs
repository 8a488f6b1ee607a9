//! Space and caches of files.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{FILE_ALLOCATION_INFO, FileAllocationInfo, SetFileInformationByHandle};

/// How it is assured that what is read comes from the medium, where reads do not go past the cache.
pub(crate) const READ_CACHED: &str =
    "what was written was flushed, and the system was asked to drop it from its cache by opening the file past it";

/// Has the system drop what it has cached of a file.
///
/// # Errors
/// The system's.
pub(crate) fn forget(file: &File, _offset: u64, _bytes: Option<NonZeroU64>) -> io::Result<()> {
    assay_engine::forget(file)
}

/// Sets space aside for a new file of `bytes`, whose size stays: Windows fills what lies before a write with zeros. So it
/// has to be written from its start on, one part after the other.
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
    allocate(file, bytes.max(1)).map(|()| false)
}

fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let info = FILE_ALLOCATION_INFO { AllocationSize: i64::try_from(bytes).map_err(io::Error::other)? };
    let length = size_of_val(&info) as u32;
    // SAFETY: the file is open while it is borrowed, and the structure of this class is read for the time of the call.
    let done = unsafe {
        SetFileInformationByHandle(file.as_raw_handle(), FileAllocationInfo, (&raw const info).cast(), length)
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes durable what was written to these files.
///
/// # Errors
/// The system's.
pub(crate) fn settle<'a>(file: &File, mut others: impl Iterator<Item = &'a File>) -> io::Result<()> {
    others.try_for_each(File::sync_data)?;
    file.sync_data()
}
