//! Records that the store cannot take at the moment: files beside the store, which it takes in when it can.

#[cfg_attr(not(windows), path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod disk;
mod files;
mod queue;

pub use disk::Disk;
pub use files::Files;
pub(crate) use queue::SpoolEntry;
pub use queue::{Keeper, Kept, Spool};
