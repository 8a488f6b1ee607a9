//! One lab at a time.

use std::fs::File;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::command::Missing;

/// The right to measure; others wait until it is dropped.
#[derive(Debug)]
pub struct Lab {
    _lock: File,
}

impl Lab {
    /// Waits for the others.
    ///
    /// # Errors
    /// [`Missing`] where the lock file cannot be made.
    pub fn enter() -> Result<Self, Missing> {
        let path: PathBuf = std::env::temp_dir().join("assay-lab.lock");
        let lock = File::create(&path).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        Ok(Self { _lock: lock })
    }
}
