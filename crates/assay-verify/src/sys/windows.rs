//! Windows, from Windows 10 on. Raw devices are neither read nor written.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use assay_core::outcome::RunFailure;
use assay_core::private;
use assay_core::verification::Doubt;
use assay_device::owned::Directory;
use windows_sys::Win32::Foundation::ERROR_DEV_NOT_EXIST;
use windows_sys::Win32::Storage::FileSystem::{FILE_ALLOCATION_INFO, FileAllocationInfo, SetFileInformationByHandle};

use crate::sys::Extent;

// The volume under a directory. Devices themselves are not opened.

/// Whether the driver is a program is not determined here.
pub(crate) fn is_program(_directory: &Path) -> bool {
    false
}

/// Whether the volume of `directory` has gone: its path leads nowhere or elsewhere, or the system reports it.
pub(crate) fn is_gone(directory: &Directory) -> bool {
    still_there(directory).is_err_and(|error| error.raw_os_error() == gone().raw_os_error())
}

/// Verifies that the path of a directory still leads to what was opened. Its files are reached by that path, and
/// another medium may have its drive letter by now.
///
/// # Errors
/// [`gone`] if it does not; or the system's.
pub(crate) fn still_there(directory: &Directory) -> io::Result<()> {
    match directory.is_in_place().map_err(io::Error::from) {
        Ok(true) => Ok(()),
        Ok(false) => Err(gone()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(gone()),
        Err(error) => match error.raw_os_error().map(RunFailure::from_errno) {
            Some(RunFailure::Disappeared) => Err(gone()),
            _ => Err(error),
        },
    }
}

/// The error of a device that has gone.
pub(crate) fn gone() -> io::Error {
    io::Error::from_raw_os_error(ERROR_DEV_NOT_EXIST as i32)
}

// The host that runs the check.

/// Permission shows when the first file is created: Windows rights are not tested beforehand. Only lists the directory.
///
/// # Errors
/// Where it cannot be listed.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    directory.read_dir().map(drop)
}

/// The volume that a path lies on.
pub(crate) fn file_system(path: &Path) -> Option<(u32, u32)> {
    Directory::open(path).ok().map(|directory| directory.device())
}

/// Directories whose volumes everything else needs: those of Windows, of its programs and of the user.
pub(crate) fn carriers() -> Vec<PathBuf> {
    ["SystemRoot", "ProgramFiles", "USERPROFILE"].iter().filter_map(std::env::var_os).map(PathBuf::from).collect()
}

// Space and caches of files.

/// Why data read may not come from the medium. File systems may drop the cached data of a file when its last cached
/// handle closes, and no program can force that earlier.
pub(crate) const CACHED_DOUBT: Option<Doubt> = Some(Doubt::SystemKeepsData);

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

// Systems where raw devices are neither read nor written.

/// The device is not opened.
pub(crate) fn device_under(_directory: &Path) -> Option<File> {
    None
}

/// The same.
pub(crate) fn cached_device_under(_directory: &Path) -> Option<File> {
    None
}

/// The size is not determined.
pub(crate) fn device_bytes(_directory: &Directory) -> Option<u64> {
    None
}

/// File systems with checksums of data are not recognised here.
pub(crate) fn has_checksums(_directory: &Path) -> bool {
    false
}

/// Raw devices are not opened.
///
/// # Errors
/// Always.
pub(crate) fn open_to_read(_path: &Path) -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "raw devices are read on Linux alone"))
}

/// The same.
///
/// # Errors
/// Always.
pub(crate) fn block_bytes(_device: &File) -> io::Result<u32> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "raw devices are read on Linux alone"))
}

/// File extents are not available, so the check does not judge which sectors share memory.
pub(crate) fn extents(_file: &File, _bytes: u64) -> Option<Vec<Extent>> {
    None
}

// The files of a journal. Where raw devices are not written, no journal is created; the code still compiles.

/// Creates a file for this user only, for appending and reading.
///
/// # Errors
/// The system's.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    private::file().read(true).append(true).create_new(true).open(path)
}

/// Opens a file for reading and, if its disk allows, for appending.
///
/// # Errors
/// The system's.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    options.clone().append(true).open(path).or_else(|_| options.open(path))
}

/// Reserves no room; a lack of room shows when writing.
///
/// # Errors
/// None.
pub(crate) fn reserve(_file: &File, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// Unknown here.
pub(crate) fn is_volatile(_file: &File) -> bool {
    false
}

/// Devices have no files here.
pub(crate) fn same_disk(_path: &Path, _home: &Metadata, _under_test: &Metadata) -> bool {
    false
}

/// Free bytes of the file system of a directory.
///
/// # Errors
/// The system's.
pub(crate) fn free_bytes(directory: &Path) -> io::Result<u64> {
    Ok(Directory::open(directory)?.space()?.free_bytes)
}

/// Does nothing, as there is no journal.
///
/// # Errors
/// None.
pub(crate) fn sync_names(_directory: &Path) -> io::Result<()> {
    Ok(())
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
