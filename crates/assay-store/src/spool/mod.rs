//! Records that the store cannot take at the moment: files beside the store, which it takes in when it can.

mod disk;
mod entry;
mod files;
mod queue;

pub use disk::Disk;
pub(crate) use entry::Entry;
pub use files::Files;
pub use queue::Spool;
