//! The store in one SQLite file.

mod files;
mod foreign;
mod open;
mod parts;
mod read;
mod write;

pub(crate) use crate::error::system as system_error;
pub use files::{data_dir, make_directory, store_files};
pub use foreign::Foreign;
pub use open::SqliteStore;
pub use write::{Intake, LeftFile, Rehearsal};
