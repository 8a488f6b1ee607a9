//! The spool's directory on a disk: for Windows, and for systems where everything uses descriptors.

#[cfg_attr(not(windows), path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

pub use system::Disk;
