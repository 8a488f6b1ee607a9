//! The store in one SQLite file.

mod explain;
mod files;
mod foreign;
mod intake;
mod migrate;
mod observe;
mod observed;
mod open;
mod parts;
mod read;
mod write;

pub(crate) use explain::system as system_error;
pub use files::make_directory;
pub use foreign::Foreign;
pub use intake::{Intake, Left};
pub use open::SqliteStore;
