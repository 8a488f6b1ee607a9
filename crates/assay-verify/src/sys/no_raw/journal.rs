//! The files of a journal. Where raw devices are not written, no journal is created; the code still compiles.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use assay_core::private;
use assay_device::owned::Directory;

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
