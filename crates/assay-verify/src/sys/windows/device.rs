//! The volume under a directory. Devices themselves are not opened.

use std::io;
use std::path::Path;

use assay_core::outcome::RunFailure;
use assay_device::owned::Directory;
use windows_sys::Win32::Foundation::ERROR_DEV_NOT_EXIST;

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
