//! Windows: no raw device may be overwritten, so none is checked.

use std::path::Path;

use crate::error::{DeviceError, shown};
use crate::files::Sysroot;
use crate::guard::permit::RawPermit;

/// Always refuses.
///
/// # Errors
/// Always [`DeviceError::NoRawDevices`].
pub fn check_raw(_sysroot: &Sysroot, path: &Path, _forced_by_name: Option<&str>) -> Result<RawPermit, DeviceError> {
    Err(DeviceError::NoRawDevices { path: shown(path) })
}

/// Always refuses.
///
/// # Errors
/// Always [`DeviceError::NoRawDevices`].
pub fn check_probe(_sysroot: &Sysroot, path: &Path) -> Result<RawPermit, DeviceError> {
    Err(DeviceError::NoRawDevices { path: shown(path) })
}
