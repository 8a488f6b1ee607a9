//! Unix: by permission bits.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

pub(super) fn own_directories(builder: &mut DirBuilder) {
    builder.mode(0o700);
}

pub(super) fn own_file(options: &mut OpenOptions) {
    options.mode(0o600);
}
