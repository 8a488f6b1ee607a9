//! What the store asks of the system: the same functions for each, in a file of its own, and in one for
//! what any Unix has.

#[cfg_attr(not(windows), path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod host;
#[cfg(not(windows))]
mod unix;

pub(crate) use host::*;
#[cfg(not(windows))]
pub(crate) use unix::*;

/// Why the system refuses something, as far as somebody can mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Permission,
    ReadOnly,
    Full,
    NotADirectory,
}

/// What a file or directory is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A file, to be read.
    Read,
    /// A file, to be read and written.
    ReadWrite,
    /// A directory, to make files in it.
    MakeIn,
}

/// What is known of a process.
pub(crate) enum ProcessState {
    /// When it started.
    There(u64),
    Gone,
    /// It may be there.
    Hidden,
}

/// Which file stands at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inode {
    pub(crate) device: u64,
    pub(crate) number: u64,
    /// Its names, which change without making it another file.
    pub(crate) names: u64,
}

impl Inode {
    /// Whether both are the same file.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.device, self.number) == (other.device, other.number)
    }
}

// How the program keeps paths elsewhere, too.
#[cfg(windows)]
pub use host::{bytes_of, path_of};
#[cfg(not(windows))]
pub use unix::{bytes_of, path_of};
