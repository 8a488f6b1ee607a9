//! Where a file lies on its device.

/// A part of a file and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Byte offset in the file.
    pub(crate) offset: u64,
    /// Byte offset on the block device of the file system.
    pub(crate) address: u64,
    /// Length in bytes.
    pub(crate) bytes: u64,
}
