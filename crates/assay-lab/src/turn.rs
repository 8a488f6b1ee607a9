//! The lock of the lab: one test that measures, or several that do not.

use std::fs::File;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::command::Missing;

/// The right to have media; other tests wait until it is dropped.
#[derive(Debug)]
pub struct Lab {
    _lock: File,
}

impl Lab {
    /// Waits for all other tests: the right to measure media that only the machine limits.
    ///
    /// # Errors
    /// [`Missing`] if the lock file cannot be made.
    pub fn enter() -> Result<Self, Missing> {
        Self::locked(FlockOperation::LockExclusive)
    }

    /// Waits for a test that measures, and shares the lab with other tests. It is for tests that do not measure the
    /// speed of a medium, and for media that are slower than the machine, however busy the machine is.
    ///
    /// # Errors
    /// [`Missing`] if the lock file cannot be made.
    pub fn share() -> Result<Self, Missing> {
        Self::locked(FlockOperation::LockShared)
    }

    fn locked(how: FlockOperation) -> Result<Self, Missing> {
        let path: PathBuf = std::env::temp_dir().join("assay-lab.lock");
        let lock = File::create(&path).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        flock(&lock, how).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
        Ok(Self { _lock: lock })
    }
}
