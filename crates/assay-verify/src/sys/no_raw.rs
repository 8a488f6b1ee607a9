//! Systems where raw devices are neither read nor written.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use assay_core::private;
use assay_device::owned::Directory;

use crate::sys::Extent;

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
