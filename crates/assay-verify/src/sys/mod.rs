//! What the systems do in ways of their own: a directory for each system, with the same names in both.

#[cfg_attr(not(windows), path = "linux/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;

pub(crate) use system::*;
