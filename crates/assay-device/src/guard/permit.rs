//! The permit without which no raw device is opened for writing.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::HeldDevice;

/// Says that a device was checked and may be overwritten, and holds it: as long as a copy of the permit exists nobody else
/// can open it exclusively. Only [`check_raw`](super::check_raw) makes one.
#[derive(Debug, Clone)]
pub struct RawPermit {
    held: Arc<HeldDevice>,
    name: String,
    /// Keeps the lock on the whole disk, and other names of the storage.
    _kept: Arc<Vec<File>>,
}

impl RawPermit {
    /// For a device of this kernel name that was checked, with the files that are kept open as long as the permit: the
    /// whole disk that is locked where it is a part of one, and other names of the storage.
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

    /// The device, from which every file to be read and written comes.
    #[must_use]
    pub fn held(&self) -> &HeldDevice {
        &self.held
    }
}
