//! Functions that depend on the operating system. There is a file for each system, with the same names in all.

#[cfg_attr(not(windows), path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

pub(crate) use system::*;

/// A part of a file, and where it lies on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Byte offset in the file.
    pub(crate) offset: u64,
    /// Byte offset on the block device of the file system.
    pub(crate) address: u64,
    /// Length in bytes.
    pub(crate) bytes: u64,
}
