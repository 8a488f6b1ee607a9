//! The quick probe of a raw device: which parts of it hold data, and what kind of fake it is, in minutes.
//!
//! Every place is saved to a [`Journal`] on another disk before it is written, and is restored at the end, or by
//! [`restore`] after a crash. Each sector carries a random salt, its place and the round, so that only the memory
//! behind it can answer.
//!
//! See `docs/decisions/005-probe.md` for the search and its limits.

mod device;
mod journal;
mod places;
mod plan;
mod put_back;
mod restore;
mod run;
mod search;
mod stamp;

pub use device::{BlockDevice, Device, Fault, ReadDevice, TimedDevice};
pub use journal::{Disk, DiskFile, Identity, Journal, JournalError, JournalPlace, SystemDisk};
pub use places::{Pending, Stands, Traces, described};
pub use plan::{LEAST_BYTES, ProbePlan, Settings, plan};
pub use put_back::{Differing, JournalLeft, RestoreProgress, RestoreStep, Restored, Standing};
pub use restore::{Restoration, RestoreError, restore};
pub use run::{Ended, Forecast, ProbeError, Probed, check_suitable, run};
pub use search::{Phase, Progress};
pub use stamp::{BLOCK, Salt};
