//! The answer of looking at a path.

use std::fs::Metadata;
use std::path::Path;

use assay_core::medium::Medium;

use crate::error::{DeviceError, shown};

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A block device.
    BlockDevice,
}

impl What {
    /// A directory or a file that has this path, as all systems have them.
    pub(crate) fn of(path: &Path, meta: &Metadata) -> Result<Self, DeviceError> {
        match () {
            () if meta.is_dir() => Ok(Self::Directory),
            () if meta.is_file() => Ok(Self::File),
            () => Err(DeviceError::NotMeasurable { path: shown(path) }),
        }
    }
}

/// What lies under a path, and what a runner has to know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetInfo {
    /// The medium as the record keeps it.
    pub medium: Medium,
    /// Kernel names of the whole devices whose counters prove a measurement: the disk, or the
    /// array where several disks are joined (a mirror's disks would count each write twice).
    /// Empty where no block device is visible.
    pub devices: Vec<String>,
    /// Kernel names of the disks at the bottom.
    pub leaves: Vec<String>,
    /// Smallest unit that the device addresses.
    pub logical_block_bytes: Option<u32>,
    /// Whether the medium can be taken out.
    pub removable: bool,
    /// Whether the mount or the device refuses writes.
    pub read_only: bool,
    /// Whether the medium is the host's own memory.
    pub is_memory: bool,
    /// Whether the path is the device itself.
    pub raw: bool,
    /// What the path is.
    pub what: What,
}
