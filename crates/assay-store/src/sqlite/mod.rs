//! The store in one SQLite file.

mod explain;
mod files;
mod foreign;
mod migrate;
mod open;
mod parts;
mod read;
mod rehearsal;
mod write;

pub(crate) use explain::system as system_error;
pub use files::{data_dir, make_directory, store_files};
pub use foreign::Foreign;
pub use open::SqliteStore;
pub use rehearsal::Rehearsal;
pub use write::{Intake, LeftFile};
