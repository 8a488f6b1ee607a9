//! Counters of a disk's driver, if it has any (`IOCTL_DISK_PERFORMANCE`).

use std::fs::File;
use std::path::Path;

use super::totals::Counters;
use crate::error::DeviceError;
use crate::sysroot::Sysroot;
use crate::system;

/// A disk, open for queries.
#[derive(Debug)]
pub(super) struct Source {
    name: String,
    drive: File,
}

impl Source {
    pub(super) fn open(_sysroot: &Sysroot, name: &str) -> Result<Self, DeviceError> {
        let drive = system::drive(name).map_err(|error| DeviceError::from_io(Path::new(name), error))?;
        let source = Self { name: name.to_owned(), drive };
        // Windows counts from the first query on, and may refuse it.
        source.read().map(|_| source)
    }

    pub(super) fn read(&self) -> Result<Counters, DeviceError> {
        let unreadable = |source| DeviceError::Unreadable { path: self.name.clone(), source };
        system::counters(&self.drive).map_err(unreadable)
    }
}
