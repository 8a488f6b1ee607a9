//! The permit without which no raw device is opened for writing.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::HeldDevice;
#[cfg(windows)]
use crate::error::{DeviceError, shown};
#[cfg(windows)]
use crate::files::Sysroot;

/// Proves that a device was checked and may be overwritten, and holds it: as long as a copy of the permit exists, no
/// other process can open it exclusively. Only [`check_raw`](super::check_raw) makes one.
#[derive(Debug, Clone)]
pub struct RawPermit {
    held: Arc<HeldDevice>,
    name: String,
    /// Keeps the lock on the whole disk, and the other names of the storage.
    _kept: Arc<Vec<File>>,
}

impl RawPermit {
    /// For a checked device with this kernel name. `kept` are files that stay open as long as the permit: the locked
    /// whole disk if the device is a part of one, and other names of the storage.
    pub(in crate::guard) fn new(held: HeldDevice, name: String, kept: Vec<File>) -> Self {
        Self { held: Arc::new(held), name, _kept: Arc::new(kept) }
    }

    /// The path that was checked.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// The device's kernel name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The device, through which all its files are opened for reading and writing.
    #[must_use]
    pub fn held(&self) -> &HeldDevice {
        &self.held
    }
}

// Windows gives none.

/// Always refuses.
///
/// # Errors
/// Always [`DeviceError::NoRawDevices`].
#[cfg(windows)]
pub fn check_raw(_sysroot: &Sysroot, path: &Path, _forced_by_name: Option<&str>) -> Result<RawPermit, DeviceError> {
    Err(DeviceError::NoRawDevices { path: shown(path) })
}

/// Always refuses.
///
/// # Errors
/// Always [`DeviceError::NoRawDevices`].
#[cfg(windows)]
pub fn check_probe(_sysroot: &Sysroot, path: &Path) -> Result<RawPermit, DeviceError> {
    Err(DeviceError::NoRawDevices { path: shown(path) })
}
