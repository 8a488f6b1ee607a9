//! What the systems do in ways of their own: a directory for each system, with the same names in all of them, and one for
//! what those have in common where no raw device is opened.

#[cfg(windows)]
mod no_raw;
#[cfg_attr(not(windows), path = "linux/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;

pub(crate) use system::*;
