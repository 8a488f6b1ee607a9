//! Stubs for systems where devices are not opened.

use std::fs::File;
use std::io;
use std::path::Path;

use assay_device::owned::Directory;

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
