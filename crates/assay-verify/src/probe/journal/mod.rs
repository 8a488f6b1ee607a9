//! The journal: the original content of each block that the probe writes, saved on another disk.
//!
//! The format and its reasons: `docs/decisions/006-journal.md`.

mod disk;
mod reader;
mod writer;

pub use disk::{Disk, DiskFile, JournalError, SystemDisk};
pub(crate) use reader::{ByteRange, Log};
pub use writer::{Journal, JournalIdentity, JournalPlace};
