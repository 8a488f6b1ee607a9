//! Windows: no raw device is opened, neither for reading nor for writing.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;

use crate::error::{DeviceError, shown};
use crate::files::Sysroot;
use crate::look::Seen;
use crate::owned::Caching;

/// An open raw device, which does not exist here.
#[derive(Debug, Clone)]
pub struct HeldDevice(Infallible);

impl HeldDevice {
    /// Always refuses.
    ///
    /// # Errors
    /// Always [`DeviceError::NoRawDevices`].
    pub fn to_read(_sysroot: &Sysroot, path: &Path) -> Result<Self, DeviceError> {
        Err(DeviceError::NoRawDevices { path: shown(path) })
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Announced size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self.0 {}
    }

    /// What it is.
    #[must_use]
    pub fn seen(&self) -> Seen {
        match self.0 {}
    }

    /// Another file of the same device.
    ///
    /// # Errors
    /// None, as there is no such device.
    pub fn reopen(&self, _caching: Caching) -> Result<File, DeviceError> {
        match self.0 {}
    }

    /// Identifies the time for which it is attached.
    #[must_use]
    pub fn attachment(&self) -> Option<String> {
        match self.0 {}
    }

    /// Whether the device is still there.
    #[must_use]
    pub fn present(&self) -> bool {
        match self.0 {}
    }
}
