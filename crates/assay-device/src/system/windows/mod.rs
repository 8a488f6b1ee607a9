//! Windows.

mod control;
mod look;
mod machine;

pub(crate) use control::{counters, drive, room, volume};
pub(crate) use look::{ROOT, btrfs_id, kernel_log, loop_backing, read_at, refuse, seen, stat, target};
pub(crate) use machine::{available_memory, host, load};
pub use machine::{host_name, random};

pub(crate) use super::spelling::as_written;
