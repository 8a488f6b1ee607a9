//! What is asked of the running system beside the trees of the kernel: the same functions for each system, in files of its
//! own. Linux answers everything else by its trees, so that `host`, `target` and the like are nothing there.

pub mod descriptors;
#[cfg(not(windows))]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub(crate) use linux::{
    ROOT, as_written, available_memory, host, kernel_log, load, read_at, refuse, seen, stat, target,
};
#[cfg(not(windows))]
pub use linux::{host_name, random};
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub use windows::{host_name, random};
