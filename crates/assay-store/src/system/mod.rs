//! What the store asks of the system: the same functions for each, in a file of its own.

#[cfg(not(windows))]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use linux::*;
#[cfg(windows)]
pub(crate) use windows::*;

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
pub(crate) enum Look {
    /// When it started.
    There(u64),
    Gone,
    /// It may be there.
    Hidden,
}

/// Which file stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode {
    pub(crate) device: u64,
    pub(crate) number: u64,
}

// How the program keeps paths elsewhere, too.
#[cfg(not(windows))]
pub use linux::{bytes_of, path_of};
#[cfg(windows)]
pub use windows::{bytes_of, path_of};
