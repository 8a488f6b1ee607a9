//! macOS. It compiles, and was never run.

mod chance;
mod look;
mod machine;
mod statfs;
mod sysctl;

pub use chance::random;
pub(crate) use look::{ROOT, btrfs_id, kernel_log, loop_backing, refuse, seen, stat, target};
pub(crate) use machine::{available_memory, host, load};
pub(crate) use sysctl::text as sysctl_text;

pub(crate) use super::mounted::Mounted;
