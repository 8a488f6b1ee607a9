//! The full check of a mounted medium: files of H2testw's and f3's format over all free space.
//!
//! Nothing of others is touched: the files lie in a directory of assay's own ([`DIRECTORY`]) in
//! the target, and other `*.h2w` files there are kept and named.
//!
//! What is done is durable, and remembered in that directory, every half a minute and after each
//! file: no more than that is done again by a check that goes on after a crash.

mod check;
mod crowd;
mod error;
#[cfg(test)]
mod faulty_tests;
mod format;
mod listing;
mod medium;
#[cfg(test)]
mod model_tests;
mod pass;
mod place;
mod plan;
mod pool;
mod progress;
mod salvage;
mod state;
mod tally;
mod verdict;

pub use check::{Checked, check};
pub use error::VerifyError;
pub use format::{FILE_BYTES, classify, fill, intact};
pub use listing::DIRECTORY;
pub(crate) use listing::spread_name;
pub(crate) use medium::{Folder, Mounted, is_vfat};
pub use place::{Left, left, remove};
pub(crate) use place::{Place, failure_of, gone_error, remove_all, remove_files};
pub use plan::{Plan, Settings};
pub(crate) use pool::{Pool, Silence};
pub(crate) use progress::nanoseconds;
pub use progress::{Phase, Progress};
pub(crate) use state::{STATE, State};
pub(crate) use tally::{Found, Tally};
