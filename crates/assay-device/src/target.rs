//! The result of examining a path.

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
    /// A directory or a file with this path, for all systems.
    pub(crate) fn of(path: &Path, meta: &Metadata) -> Result<Self, DeviceError> {
        match () {
            () if meta.is_dir() => Ok(Self::Directory),
            () if meta.is_file() => Ok(Self::File),
            () => Err(DeviceError::NotMeasurable { path: shown(path) }),
        }
    }
}

/// What is under a path, and facts about it that a runner needs.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetInfo {
    /// The medium as the record keeps it.
    pub medium: Medium,
    /// Kernel names of the whole devices whose counters prove a measurement: the disk, or the array if several disks
    /// are joined (a mirror's disks would count each write twice). Empty if no block device is visible.
    pub devices: Vec<String>,
    /// Kernel names of the disks at the bottom.
    pub leaves: Vec<String>,
    /// Smallest unit that the device addresses.
    pub logical_block_bytes: Option<u32>,
    /// Whether the medium is removable.
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
