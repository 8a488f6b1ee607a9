//! Directories and files for this user alone. On systems where that is not said when they are made, they take over the
//! rights of the directory above them.

#[cfg_attr(not(windows), path = "private/unix.rs")]
#[cfg_attr(windows, path = "private/windows.rs")]
mod system;

use std::fs::{DirBuilder, OpenOptions};

/// What makes directories for this user alone.
#[must_use]
pub fn directories() -> DirBuilder {
    let mut builder = DirBuilder::new();
    system::own_directories(&mut builder);
    builder
}

/// How a file for this user alone is opened where it is made; what it is opened for is to be added.
#[must_use]
pub fn file() -> OpenOptions {
    let mut options = OpenOptions::new();
    system::own_file(&mut options);
    options
}
