//! Who has a lab at a time: one test that measures, or several that do not.

use std::fs::File;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::command::Missing;

/// The right to have media; others wait until it is dropped.
#[derive(Debug)]
pub struct Lab {
    _lock: File,
}

impl Lab {
    /// Waits for all others: the right to measure media that only the machine limits.
    ///
    /// # Errors
    /// [`Missing`] where the lock file cannot be made.
    pub fn enter() -> Result<Self, Missing> {
        Self::locked(FlockOperation::LockExclusive)
    }

    /// Waits for whoever measures, and has media beside others: for tests that do not ask how fast a medium is, and for
    /// media that are slower than the machine, however busy it is.
    ///
    /// # Errors
    /// [`Missing`] where the lock file cannot be made.
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
