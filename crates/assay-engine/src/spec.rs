//! What a repeat is to do, and why it may not come to its end.

use std::sync::Arc;
use std::time::Duration;

use assay_core::workload::Workload;

use crate::target::Target;

/// What to run.
#[derive(Debug, Clone)]
pub struct RepeatSpec {
    /// The workload, complete.
    pub workload: Workload,
    /// On what; none for the null engine.
    pub target: Option<Arc<Target>>,
    /// Seed of data and offsets.
    pub seed: u64,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Planned repeats.
    pub repeats: u32,
    /// Without a completion for this long, the medium hangs.
    pub hang_after: Duration,
    /// Length of a sample.
    pub sample_every: Duration,
    /// For how many completions at once io_uring is to wait, where an earlier repeat chose that.
    pub wait_for: Option<u32>,
    /// When all threads are to begin, by [`monotonic`](crate::monotonic), in nanoseconds; none to begin as soon as they can.
    pub begin_at_ns: Option<u64>,
}

/// Why a repeat did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The medium reported an error.
    Io {
        /// Whether it was a write.
        write: bool,
        /// Offset in bytes.
        offset: u64,
        /// System error number; 0 for fewer bytes than asked.
        errno: i32,
    },
    /// Nothing completed for this long.
    Hung {
        /// How long.
        after: Duration,
    },
    /// The engine could not be set up: the host lacks threads, memory or a program.
    Setup(String),
    /// Another instrument failed, in its own words, which need not say whose fault it is.
    Peer(String),
    /// The final sync failed.
    Sync {
        /// System error number.
        errno: i32,
    },
}
