//! Directories and files for this user alone. On systems where that is not said when they are made, they take over the
//! rights of the directory above them.

use std::fs::{DirBuilder, OpenOptions};

/// What makes directories for this user alone.
#[must_use]
pub fn directories() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is nothing to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// How a file for this user alone is opened where it is made; what it is opened for is to be added.
#[must_use]
pub fn file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is nothing to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
