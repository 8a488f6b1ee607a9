//! What a check covered: the basis of its verdict besides the findings.

use super::regions::Map;
use super::survey::Repeats;

/// Result of writing again to evict caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Sectors that were read afterwards.
    pub(crate) sectors: u64,
    /// Those that still held their old content.
    pub(crate) stale: u64,
}

/// Result for places that had lost their data and were written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retried {
    /// They lose it again.
    Lost,
    /// They hold it, and everything that held before still does.
    Hold,
    /// They hold it, and as much of the rest is lost: each write replaces the oldest data.
    Displace {
        /// Bytes that were found to hold at one moment.
        held_bytes: u64,
    },
}

/// How much was checked, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Bytes that could have been checked.
    pub(crate) whole_bytes: u64,
    /// Whether all of it was.
    pub(crate) complete: bool,
    /// Size of the device in bytes if known; otherwise of the file system.
    pub(crate) medium_bytes: Option<u64>,
    /// Whether `medium_bytes` is the size of the device.
    pub(crate) device_is_known: bool,
    /// Where the area lies on the device, if known.
    pub(crate) map: Option<Map>,
    /// How the device's addresses wrap around, if that was searched for and found.
    pub(crate) repeats: Option<Repeats>,
    /// What was written again; `None` if nothing was.
    pub(crate) rewritten: Option<Rewritten>,
    /// Result for lost places that were written again; `None` if there were none.
    pub(crate) retried: Option<Retried>,
    /// Whether errors may come from the file system: it verifies checksums, or errs although its device does not.
    pub(crate) file_system_errs: bool,
    /// Whether nothing was written, since the files existed.
    pub(crate) only_read: bool,
    /// Whether compression and deduplication cannot help with the content written.
    pub(crate) unique: bool,
    /// Bytes that the medium refused to write.
    pub(crate) refused_bytes: u64,
    /// Why the medium failed during the check, as a clause.
    pub(crate) failed: Option<String>,
    /// Why the check ended early although the medium did not fail, as a clause.
    pub(crate) ended: Option<String>,
    /// Why data read may not come from the medium, as a clause.
    pub(crate) doubt: Option<String>,
}
