//! Queries of the running system besides the kernel's trees: the same functions for each system, each in a file of its
//! own, and one file for what all Unix systems share. Linux answers everything else by its trees, so `host`, `target`
//! and similar functions return nothing there.

pub mod descriptors;
#[cfg(not(windows))]
mod linux;
#[cfg(any(windows, test))]
mod spelling;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use linux::SystemAsks;
#[cfg(windows)]
pub(crate) use windows::SystemAsks;

#[cfg(not(windows))]
pub(crate) use linux::{
    ROOT, as_written, available_memory, btrfs_id, host, kernel_log, load, loop_backing, read_at, refuse, seen, stat,
    target,
};
#[cfg(not(windows))]
pub use linux::{host_name, random};
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub use windows::{host_name, random};
