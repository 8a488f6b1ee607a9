//! The store in one SQLite file.

mod explain;
mod files;
mod migrate;
mod open;
mod read;
mod write;

pub use open::SqliteStore;
