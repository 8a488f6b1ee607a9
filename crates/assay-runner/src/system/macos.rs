//! macOS. It compiles, and was never run.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use assay_device::owned::Directory;

pub(crate) use crate::unix::*;

/// Reserves room for a new file where the file system can; its size stays, as some file systems fill a file with zeros where
/// it gets longer (fcntl(2), `F_PREALLOCATE`).
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    let mut store = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: i64::try_from(bytes).map_err(io::Error::other)?,
        fst_bytesalloc: 0,
    };
    // SAFETY: the descriptor is open while the file is borrowed, and the structure of this command is this function's own,
    // which is read and written for the time of the call.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut store) };
    if status == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Nothing names a file that is open here for other programs; tools that would need it are refused on macOS.
pub(crate) fn path_of(_file: &File) -> String {
    String::new()
}

/// A path by which other programs reach a directory, as it was opened.
pub(crate) fn path_of_directory(directory: &Directory) -> PathBuf {
    directory.path().to_owned()
}

/// How the file system of an open file stopped writing, if it did.
pub(crate) fn write_failure(file: &File) -> Option<String> {
    turned_read_only(file)
}
