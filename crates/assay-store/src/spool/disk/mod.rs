//! The directory of the spool as it lies on a disk, for each system in a file of its own.

#[cfg(not(windows))]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
pub use linux::Disk;
#[cfg(windows)]
pub use windows::Disk;
