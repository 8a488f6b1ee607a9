//! How a file is opened, and what its file system has room for, in words that every system has.

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To be read.
    Read,
    /// To be read and written.
    ReadWrite,
}

/// Whether the system's cache stands between a file and whoever reads and writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// As files are opened usually.
    Cached,
    /// Past the cache: `O_DIRECT` of open(2), `FILE_FLAG_NO_BUFFERING` of CreateFileW.
    Direct,
}

/// How a file that is there is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenHow {
    /// What for.
    pub(super) access: Access,
    /// Through the system's cache, or past it.
    pub(super) caching: Caching,
}

/// Size and room of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// All of it in bytes.
    pub bytes: u64,
    /// What this user may still write, in bytes.
    pub free_bytes: u64,
    /// Whether nothing can be written there.
    pub read_only: bool,
}
