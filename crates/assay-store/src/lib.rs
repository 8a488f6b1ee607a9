//! Records on disk: one trait, and SQLite in the XDG data directory behind it.
//!
//! A run saves its record when it starts, after every repeat and at the end, so a killed run loses only the running
//! repeat. See `docs/store.md`.

mod document;
mod error;
mod matcher;
mod observation;
mod query;
mod spool;
mod sqlite;
mod store;
mod system;

pub use document::{
    LARGEST as LARGEST_DOCUMENT, Owner, OwnerState, new_id, read as read_document, receive as receive_document,
};
pub use error::StoreError;
pub use matcher::{Described, Misspelt, Terms};
pub use observation::{ObservationDetail, observed};
pub use query::{divided, headed};
pub use spool::{Disk, Files, Spool};
pub use spool::{Keeper, Kept};
pub use sqlite::{Foreign, Intake, LeftFile, Rehearsal, SqliteStore, data_dir, make_directory, store_files};
pub use store::{Abandoned, Change, RunState, Saved, Store, Stored, Summary};
pub use system::{bytes_of, path_of};
