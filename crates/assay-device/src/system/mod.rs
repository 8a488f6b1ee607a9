//! What is asked of the running system beside the trees of the kernel: the same functions for each system, in files of its
//! own, and in one for what Linux and macOS have in common. Linux answers everything else by its trees, so that `host`,
//! `target` and the like are nothing there.

pub mod descriptors;
#[cfg(not(any(windows, target_os = "macos")))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(any(target_os = "macos", test))]
mod mounted;
#[cfg(any(windows, test))]
mod spelling;
#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(any(windows, target_os = "macos")))]
pub use linux::random;
#[cfg(not(any(windows, target_os = "macos")))]
pub(crate) use linux::{
    ROOT, available_memory, btrfs_id, host, kernel_log, load, loop_backing, refuse, seen, stat, target,
};
#[cfg(target_os = "macos")]
pub use macos::random;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;
#[cfg(not(windows))]
pub use unix::host_name;
#[cfg(not(windows))]
pub(crate) use unix::{as_written, read_at};
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub use windows::{host_name, random};
