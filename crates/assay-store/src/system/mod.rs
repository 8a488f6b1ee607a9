//! System calls of the store: the same functions for each system, each in a file of its own.

#[cfg_attr(not(windows), path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod host;

pub(crate) use host::*;

/// Why the system refuses something, if a user can change that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Permission,
    ReadOnly,
    Full,
    NotADirectory,
}

/// Intended use of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A file for reading.
    Read,
    /// A file for reading and writing.
    ReadWrite,
    /// A directory for creating files in it.
    MakeIn,
}

/// State of a process.
pub(crate) enum ProcessState {
    /// Running, with its start time.
    There(u64),
    Gone,
    /// It may be running.
    Hidden,
}

/// The identity of the file at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inode {
    pub(crate) device: u64,
    pub(crate) number: u64,
    /// Number of its names, which may change without making it another file.
    pub(crate) names: u64,
}

impl Inode {
    /// Whether both are the same file.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.device, self.number) == (other.device, other.number)
    }
}

// Other parts of the program store paths in the same way.
pub use host::{bytes_of, path_of};
