//! Functions that depend on the operating system. There is a directory for each system, with the same names in all, and
//! one for what systems without access to raw devices share.

#[cfg(windows)]
mod no_raw;
#[cfg_attr(not(windows), path = "linux/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;

pub(crate) use system::*;
