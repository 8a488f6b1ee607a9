//! The quick probe of a raw device: which parts of it hold data, and what kind of fake it is, in minutes.
//!
//! Every place is saved to a [`Journal`] on another disk before it is written, and is restored at the end, or by
//! [`restore`] after a crash. Each sector carries a random salt, its place and the round, so that only the memory
//! behind it can answer.
//!
//! See `docs/decisions/005-probe.md` for the search and its limits.

mod block;
mod contract;
mod counted;
mod forecast;
mod journal;
mod pending;
mod places;
mod plan;
mod put_back;
mod reading;
mod restore;
mod restored;
mod run;
mod search;
mod settings;
mod stamp;
mod survey;
mod timed;
mod transfer;

pub use block::BlockDevice;
pub use contract::{Device, Fault};
pub use forecast::Forecast;
pub use journal::{Disk, DiskFile, Identity, Journal, JournalError, JournalPlace, SystemDisk};
pub use pending::{Pending, Stands, Traces, described};
pub use plan::{LEAST_BYTES, ProbePlan, plan};
pub use reading::ReadDevice;
pub use restore::{Restoration, RestoreError, restore};
pub use restored::{Differing, JournalLeft, RestoreProgress, RestoreStep, Restored, Standing};
pub use run::{Ended, ProbeError, Probed, check_suitable, run};
pub use search::{Phase, Progress};
pub use settings::Settings;
pub use stamp::{BLOCK, Salt};
pub use timed::TimedDevice;
