//! Content for other programs.

use std::fs::File;
use std::io;

use rustix::fs::MemfdFlags;

/// A file that is nowhere.
pub(crate) fn nameless_file(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}
