//! Space and caches of files.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{FILE_ALLOCATION_INFO, FileAllocationInfo, SetFileInformationByHandle};

/// How reads are described if they go through the cache.
pub(crate) const READ_CACHED: &str = "what was written was flushed, and what was read may have come from memory";
/// Why data read may not come from the medium. File systems may drop the cached data of a file when its last cached
/// handle closes, and no program can force that earlier.
pub(crate) const CACHED_DOUBT: Option<&str> = Some(
    "the system cannot be made to drop what it has cached of a file, so that reads that do not go past the cache need not \
     come from the medium; check with direct I/O on a file system that takes it",
);

/// Drops nothing, as Windows offers no call for it: [`CACHED_DOUBT`] is reported instead.
///
/// # Errors
/// None.
pub(crate) fn forget(_file: &File, _offset: u64, _bytes: Option<NonZeroU64>) -> io::Result<()> {
    Ok(())
}

/// Sets space aside for a file of `bytes`, without changing its size: Windows fills the gap before a write with zeros.
/// So the file must be written in order from its start. A longer file is left as it is, since setting less space than
/// its size would truncate it.
pub(crate) fn set_aside(file: &File, bytes: u64) -> bool {
    if file.metadata().is_ok_and(|now| now.len() <= bytes) {
        // If space cannot be set aside, writing shows whether there is enough.
        let _ = allocate(file, bytes);
    }
    true
}

/// Sets space aside for a new file of `bytes`, whose first place will be written.
///
/// # Errors
/// The system's, if it has no room.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Setting less space than the size of a file truncates it (FILE_ALLOCATION_INFO). Files of a resumed check may be
    /// longer.
    #[test]
    fn space_for_less_than_there_is_cuts_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1.h2w");
        std::fs::write(&path, vec![7; 3 << 20]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        for bytes in [0, 1 << 20, 3 << 20, 4 << 20] {
            assert!(set_aside(&file, bytes));
            assert_eq!(file.metadata().unwrap().len(), 3 << 20, "{bytes}");
        }
        assert!(std::fs::read(&path).unwrap() == vec![7; 3 << 20]);
    }
}
