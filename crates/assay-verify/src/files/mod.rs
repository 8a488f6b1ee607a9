//! The full check of a mounted medium: salted files, or files of f3 and H2testw, over all free space.
//!
//! Other files are not touched: the files lie in a directory of assay's own ([`DIRECTORY`]) in the target, and other
//! `*.h2w` files there are kept and named.
//!
//! Progress is made durable, and saved in that directory, every half a minute and after each file. A check that resumes
//! after a crash repeats no more than that.

mod check;
mod content;
mod directory;
mod eviction;
mod medium;
// Their media are modelled by a crate that needs Linux.
#[cfg(test)]
#[cfg(not(windows))]
mod model_tests;
mod pass;
mod plan;
mod pool;
mod progress;
mod size;
mod survey;
mod tally;
mod verdict;
mod work;

pub use check::{Checked, check};
pub use content::{Content, FILE_BYTES, Format, classify, fill, intact};
pub use directory::{DIRECTORY, Left, VerifyError, left, remove};
pub(crate) use directory::{HeldDirectory, STATE, State, failure_of, gone_error, remove_files, spread_name};
pub(crate) use medium::{DriverLayer, Folder, Mounted};
pub(crate) use pass::StopReason;
pub use plan::{CheckPlan, Settings};
pub(crate) use pool::Pool;
pub use progress::{Phase, Progress};
pub(crate) use survey::{Raw, Readable};
pub(crate) use tally::{ChunkFindings, Tally};
