//! What lies under a directory: its volume. Devices themselves are not opened.

use std::fs::File;
use std::io;
use std::path::Path;

use assay_device::owned::Directory;
use windows_sys::Win32::Foundation::ERROR_DEV_NOT_EXIST;

/// Drivers of file systems are not asked whether they are programs.
pub(crate) fn is_program(_directory: &Path) -> bool {
    false
}

/// The device is not opened.
pub(crate) fn device_under(_directory: &Path) -> Option<File> {
    None
}

/// The same.
pub(crate) fn cached_device_under(_directory: &Path) -> Option<File> {
    None
}

/// It is not asked for.
pub(crate) fn device_bytes(_directory: &Directory) -> Option<u64> {
    None
}

/// Whether the volume of `directory` has gone: its path leads nowhere, or the system says so.
pub(crate) fn is_gone(directory: &Directory) -> bool {
    match std::fs::metadata(directory.path()) {
        Ok(_) => false,
        Err(error) => {
            error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error().is_some_and(|number| {
                    assay_core::outcome::Failure::from_errno(number) == assay_core::outcome::Failure::Disappeared
                })
        }
    }
}

/// The error of a device that has gone.
pub(crate) fn gone() -> io::Error {
    io::Error::from_raw_os_error(ERROR_DEV_NOT_EXIST as i32)
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
