//! The store in one SQLite file.

mod explain;
mod files;
mod migrate;
mod open;
mod parts;
mod read;
mod write;

pub use files::make_directory;
pub use open::SqliteStore;
