//! The full check of a mounted medium: salted files, or files of f3 and H2testw, over all free space.
//!
//! Other files are not touched: the files lie in a directory of assay's own ([`DIRECTORY`]) in the target, and other
//! `*.h2w` files there are kept and named.
//!
//! Progress is made durable, and saved in that directory, every half a minute and after each file. A check that resumes
//! after a crash repeats no more than that.

mod check;
mod content;
mod driver_layer;
mod error;
mod eviction;
mod extents;
#[cfg(test)]
mod faulty_tests;
mod format;
mod listing;
mod lost;
mod medium;
// Their media are modelled by a crate that needs Linux.
#[cfg(test)]
#[cfg(not(windows))]
mod model_tests;
mod pass;
mod place;
mod plan;
mod pool;
mod progress;
mod raw;
mod regions;
mod salted;
mod salvage;
mod scope;
mod size;
mod state;
mod survey;
mod system;
mod tally;
mod verdict;
mod words;
mod work;

pub use check::{Checked, check};
pub use content::{Content, Format};
pub(crate) use driver_layer::DriverLayer;
pub use error::VerifyError;
pub(crate) use extents::Extent;
pub use format::{FILE_BYTES, classify, fill, intact};
pub use listing::DIRECTORY;
pub(crate) use listing::spread_name;
pub(crate) use medium::{Folder, Mounted};
pub(crate) use pass::StopReason;
pub(crate) use place::{HeldDirectory, failure_of, gone_error, remove_files};
pub use place::{Left, left, remove};
pub use plan::{CheckPlan, Settings};
pub(crate) use pool::Pool;
pub use progress::{Phase, Progress};
pub(crate) use raw::Raw;
pub(crate) use state::{STATE, State};
pub(crate) use survey::Readable;
pub(crate) use tally::{Found, Tally};
