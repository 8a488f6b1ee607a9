//! What lies under a directory: its volume. Devices themselves are not opened.

use std::io;
use std::path::Path;

use assay_core::outcome::RunFailure;
use assay_device::owned::Directory;
use windows_sys::Win32::Foundation::ERROR_DEV_NOT_EXIST;

/// Drivers of file systems are not asked whether they are programs.
pub(crate) fn is_program(_directory: &Path) -> bool {
    false
}

/// Whether the volume of `directory` has gone: its path leads nowhere or to another, or the system says so.
pub(crate) fn is_gone(directory: &Directory) -> bool {
    still_there(directory).is_err_and(|error| error.raw_os_error() == gone().raw_os_error())
}

/// Sees that the path of a directory leads to what was opened: what lies in it is reached by that path, whose letter another
/// medium may have by now.
///
/// # Errors
/// [`gone`] where it does not; or the system's.
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
