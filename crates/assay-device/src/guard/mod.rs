//! What stands before a raw device is written: nothing in use is ever written, nothing that holds
//! data without its name given once more, and nothing but the device that was checked.

#[cfg_attr(windows, allow(dead_code, reason = "no raw device is written there"))]
mod blocks;
#[cfg(not(windows))]
mod check;
#[cfg(not(windows))]
mod contents;
#[cfg(not(windows))]
mod held;
mod marks;
#[cfg(not(windows))]
mod openers;
#[cfg_attr(windows, allow(dead_code, reason = "no raw device is written there"))]
mod permit;
#[cfg(windows)]
mod refused;
mod signature;
#[cfg_attr(windows, allow(dead_code, reason = "no raw device is written there"))]
mod usage;

#[cfg(not(windows))]
pub use check::check_raw;
#[cfg(not(windows))]
pub use held::HeldDevice;
pub use permit::RawPermit;
#[cfg(windows)]
pub use refused::{HeldDevice, check_raw};
pub use signature::signature;
pub use usage::{MountPoint, mounted_on};
