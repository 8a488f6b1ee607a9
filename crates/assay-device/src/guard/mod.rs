//! Guards before a raw device is written. A device in use is never written, a device with data only if its name is
//! given once more, and only the device that was checked.

#[cfg_attr(windows, allow(dead_code, reason = "no raw device is written there"))]
mod permit;
#[cfg_attr(windows, allow(dead_code, reason = "no raw device is written there"))]
mod signature;
#[cfg_attr(not(windows), path = "linux/mod.rs")]
#[cfg_attr(windows, path = "no_raw.rs")]
mod system;
#[cfg_attr(windows, allow(dead_code, reason = "no raw device is written there"))]
mod usage;

pub use permit::RawPermit;
#[cfg(windows)]
pub use permit::{check_probe, check_raw};
pub use signature::signature;
pub use system::HeldDevice;
#[cfg(not(windows))]
pub use system::{check_probe, check_raw};
pub use usage::{MountPoint, SurveyedMedium, mounted_beside, mounted_on, survey};
