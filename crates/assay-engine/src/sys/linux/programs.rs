//! Content for other programs.

use std::fs::File;
use std::io;

use rustix::fs::MemfdFlags;

pub use crate::sys::unix::programs::lead_a_group;
pub(crate) use crate::sys::unix::programs::{ended, interrupt, kill_all};

/// Whether fio and other tools are run in place of an engine here.
pub const RUNS_TOOLS: bool = true;

/// A file that is nowhere.
pub(crate) fn nameless_file(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}
