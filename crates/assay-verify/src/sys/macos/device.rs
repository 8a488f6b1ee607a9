//! What lies under a directory. Devices themselves are not opened.

use std::ffi::c_char;
use std::io;
use std::path::Path;

use assay_device::owned::Directory;
use rustix::fs::statfs;
use rustix::io::Errno;

/// A text of statfs(2), which ends with a zero or with its room.
pub(super) fn text(room: &[c_char]) -> String {
    let bytes: Vec<u8> = room.iter().take_while(|unit| **unit != 0).map(|unit| unit.cast_unsigned()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether the driver of the file system is a program: the names of all that are contain `fuse`.
pub(crate) fn is_program(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|fs| text(&fs.f_fstypename).contains("fuse"))
}

/// What lies in a directory is reached by what is open, and on no other medium.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse it")]
pub(crate) fn still_there(_directory: &Directory) -> io::Result<()> {
    Ok(())
}

/// Whether the medium under `directory` has gone, which is asked after an error: what is open does not answer, or its path
/// leads there no more, since the mount point goes with the medium.
pub(crate) fn is_gone(directory: &Directory) -> bool {
    !matches!(directory.is_in_place(), Ok(true))
}

/// The error of a device that has gone.
pub(crate) fn gone() -> io::Error {
    Errno::NODEV.into()
}
