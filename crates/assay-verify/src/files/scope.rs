//! What a check did: the ground of its verdict, beside what was found.

use super::regions::Map;
use super::survey::Repeats;

/// What came of writing again, to drive out caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Sectors that were read afterwards.
    pub(crate) sectors: u64,
    /// Those that still held what stood there before.
    pub(crate) stale: u64,
}

/// What became of places that had lost what was written, and were written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retried {
    /// They lose it again.
    Lost,
    /// They hold it, and all that held before does too.
    Hold,
    /// They hold it, and as much that held before is lost: each write takes the place of the oldest.
    Displace {
        /// Bytes that were found to hold at one moment.
        held_bytes: u64,
    },
}

/// How much was checked, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// What could have been checked, in bytes.
    pub(crate) whole_bytes: u64,
    /// Whether all of it was.
    pub(crate) complete: bool,
    /// Size of the device in bytes, where that is known; else of the file system.
    pub(crate) medium_bytes: Option<u64>,
    /// Whether the first is it.
    pub(crate) device_is_known: bool,
    /// Where it lies on the device, where that is known.
    pub(crate) map: Option<Map>,
    /// How the device's addresses start again, where that was looked for and found.
    pub(crate) repeats: Option<Repeats>,
    /// What was written again; `None` where nothing was.
    pub(crate) rewritten: Option<Rewritten>,
    /// What became of places that were lost and written again; `None` where none were.
    pub(crate) retried: Option<Retried>,
    /// Whether errors may be the file system's: it compares checksums, or errs where its device does not.
    pub(crate) file_system_errs: bool,
    /// Whether nothing was written: the files were there.
    pub(crate) only_read: bool,
    /// Whether compression and deduplication gain nothing on what was written.
    pub(crate) unique: bool,
    /// Bytes that the medium refused to write.
    pub(crate) refused_bytes: u64,
    /// Why the medium failed on the way, as a clause.
    pub(crate) failed: Option<String>,
    /// Why the check ended early though the medium did not fail, as a clause.
    pub(crate) ended: Option<String>,
    /// Why what was read need not come from the medium, as a clause.
    pub(crate) doubt: Option<String>,
}
