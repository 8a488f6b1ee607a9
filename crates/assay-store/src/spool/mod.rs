//! Records that the store cannot take for now: files beside it, taken in when it can.

mod entry;
mod files;
mod queue;

pub(crate) use entry::Entry;
pub use files::{Disk, Files};
pub use queue::Spool;
