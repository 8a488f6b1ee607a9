//! How a file is opened, and the space of its file system, in terms that all systems share.

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To be read.
    Read,
    /// To be read and written.
    ReadWrite,
}

/// Whether a file is accessed through the system's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// The usual way to open a file.
    Cached,
    /// Past the cache: `O_DIRECT` of open(2), `FILE_FLAG_NO_BUFFERING` of CreateFileW.
    Direct,
}

/// How an existing file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenHow {
    /// The access.
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
