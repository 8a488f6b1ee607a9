//! The directory of the spool as it lies on a disk: for Windows, and for the systems where all goes by descriptors.

#[cfg_attr(not(windows), path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

pub use system::Disk;
