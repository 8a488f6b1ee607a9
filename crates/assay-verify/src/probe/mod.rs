//! The quick probe of a raw device: its real size and what kind of fake it is, in minutes.
//!
//! Every block that is written is first saved to a [`Journal`] on another disk and is put back at
//! the end, by [`restore`] also after a crash. Blocks carry a random salt, their place and the
//! round, so that nothing but the memory under them can answer.
//!
//! 1. *Discovery.* A ladder (a block near the start and the blocks a power of two above it), the
//!    last block, and one block at random in each of 256 equal parts are written. Then more and more
//!    is written elsewhere to drive them out of any cache, scattered blocks first and a sequential
//!    run then, until one of them is lost or [`Settings::cache_limit_bytes`] were written. Last, a
//!    comb of single reads looks for blocks of the run at places where they do not belong.
//!    Nothing lost: genuine.
//! 2. *Period.* Two blocks that are the same memory: the period divides their distance. A block for
//!    each divisor shows which.
//! 3. *Samples* over one period, or everything. From now on a canary, written last at a place that
//!    is known to lose, tells when the caches have been left: no size of cache is assumed.
//!    All hold: wrap-around. All lost from some place on: limbo or chain. Scattered: another look
//!    for a period, else damaged.
//! 4. *Narrowing* of the end of the real part to within [`UNIT`], 64 places at once.
//! 5. *Restoring*, and reading back what was restored.
//!
//! See `docs/decisions/005-probe.md` for the limits.

mod block;
mod contract;
mod discover;
mod evict;
mod journal;
mod pending;
mod period;
mod plan;
mod put_back;
mod reading;
mod report;
mod restore;
mod round;
mod run;
mod search;
mod session;
mod stamp;
mod survey;

pub use block::BlockDevice;
pub use contract::{Device, Fault};
pub use journal::{Disk, DiskFile, Identity, Journal, JournalError, SystemDisk};
pub use pending::{Pending, described, pending};
pub use plan::{LEAST_BYTES, Plan, Settings, UNIT, plan};
pub use reading::ReadDevice;
pub use restore::{Restoration, RestoreError, RestoreProgress, RestoreStep, Restored, restore};
pub use run::{Ended, ProbeError, Probed, run};
pub use session::{Phase, Progress};
pub(crate) use stamp::mix;
pub use stamp::{BLOCK, Salt};
