//! What stands before a raw device is written: nothing in use is ever written, nothing that holds
//! data without its name given once more, and nothing but the device that was checked.

#[cfg_attr(any(windows, target_os = "macos"), allow(dead_code, reason = "no raw device is written there"))]
mod blocks;
#[cfg(not(any(windows, target_os = "macos")))]
mod check;
#[cfg(not(any(windows, target_os = "macos")))]
mod contents;
#[cfg(not(any(windows, target_os = "macos")))]
mod held;
mod marks;
#[cfg(not(any(windows, target_os = "macos")))]
mod openers;
#[cfg_attr(any(windows, target_os = "macos"), allow(dead_code, reason = "no raw device is written there"))]
mod permit;
#[cfg(any(windows, target_os = "macos"))]
mod refused;
mod signature;
#[cfg(any(windows, target_os = "macos"))]
mod unchecked;
#[cfg_attr(any(windows, target_os = "macos"), allow(dead_code, reason = "no raw device is written there"))]
mod usage;

#[cfg(not(any(windows, target_os = "macos")))]
pub use check::check_raw;
#[cfg(not(any(windows, target_os = "macos")))]
pub use held::HeldDevice;
pub use permit::RawPermit;
#[cfg(any(windows, target_os = "macos"))]
pub use refused::HeldDevice;
pub use signature::signature;
#[cfg(any(windows, target_os = "macos"))]
pub use unchecked::check_raw;
pub use usage::{MountPoint, mounted_on};
