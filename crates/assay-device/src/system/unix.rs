//! Functions that all Unix systems share.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Name of this host according to the system.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Reads at an offset; returns the number of bytes.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// A path as people write it.
pub(crate) fn as_written(path: &str) -> String {
    path.to_owned()
}
