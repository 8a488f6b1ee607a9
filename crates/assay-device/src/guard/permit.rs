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
    /// Keeps the lock on the whole disk.
    _lock: Option<Arc<File>>,
}

impl RawPermit {
    /// For a device of this kernel name that was checked, with the whole disk that is locked where it is a part of one.
    pub(in crate::guard) fn new(held: HeldDevice, name: String, lock: Option<File>) -> Self {
        Self { held: Arc::new(held), name, _lock: lock.map(Arc::new) }
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
