//! The path by which fio reaches a file of this process, on each system.

use std::fs::File;

/// A path by which fio reaches a file that is open here.
#[cfg(not(windows))]
pub(crate) fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(file))
}

/// Nothing names an open file; fio is refused before.
#[cfg(windows)]
pub(crate) fn path_of(_file: &File) -> String {
    String::new()
}
