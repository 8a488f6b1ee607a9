//! The journal: the original content of each block that the probe writes, saved on another disk.
//!
//! The format and its reasons: `docs/decisions/006-journal.md`.

mod disk;
mod error;
mod format;
mod reader;
mod scan;
mod writer;

pub use disk::{Disk, DiskFile, SystemDisk};
pub use error::JournalError;
pub use format::Identity;
pub(crate) use reader::{ByteRange, Log};
pub use writer::{Journal, JournalPlace};
