//! Directories and files for this user alone. On Unix permission bits say so when they are made; on Windows they take over
//! the list of rights of the directory above them.

use std::fs::{DirBuilder, OpenOptions};
#[cfg(unix)]
use std::os::unix::fs::DirBuilderExt;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;

/// What makes directories for this user alone.
#[must_use]
pub fn directories() -> DirBuilder {
    #[cfg_attr(windows, expect(unused_mut, reason = "Windows needs no mode"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder
}

/// How a file for this user alone is opened where it is made; what it is opened for is to be added.
#[must_use]
pub fn file() -> OpenOptions {
    #[cfg_attr(windows, expect(unused_mut, reason = "Windows needs no mode"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    options
}
