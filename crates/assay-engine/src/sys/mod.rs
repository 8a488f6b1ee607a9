//! What the systems do in ways of their own: a directory for each system, with the same names in all of them, and one for
//! what Linux and macOS have in common.

#[cfg_attr(not(any(windows, target_os = "macos")), path = "linux/mod.rs")]
#[cfg_attr(target_os = "macos", path = "macos/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;
#[cfg(not(windows))]
mod unix;

pub use system::*;
