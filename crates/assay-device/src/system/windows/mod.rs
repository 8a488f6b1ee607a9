//! Windows.

mod chance;
mod control;
mod look;
mod machine;
mod volume;

pub(crate) use super::spelling::as_written;
pub use chance::{host_name, random};
pub(crate) use control::{counters, drive};
pub(crate) use look::{ROOT, btrfs_id, kernel_log, loop_backing, read_at, refuse, seen, stat, target};
pub(crate) use machine::{available_memory, host, load};
pub(crate) use volume::{room, volume};
