//! A model medium behind a real block device.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use assay_verify::probe::{Device, Fault};
use rustix::io::Errno;

use super::failure::Failure;
use super::gate::Gate;
use super::medium::ModelMedium;
use crate::fake::Backing;

/// A model medium that the kernel reads and writes through a [`crate::FakeCard`], and that a test inspects and makes
/// fail. Clones share the medium.
#[derive(Debug, Clone)]
pub struct SharedMedium {
    medium: Arc<Mutex<ModelMedium>>,
    // Separate, since a hanging operation holds the lock.
    gate: Gate,
}

impl SharedMedium {
    /// Shares `medium`.
    #[must_use]
    pub fn new(medium: ModelMedium) -> Self {
        Self { gate: medium.gate(), medium: Arc::new(Mutex::new(medium)) }
    }

    /// Calls `act` with the medium; waits while it hangs.
    pub fn with<T>(&self, act: impl FnOnce(&mut ModelMedium) -> T) -> T {
        act(&mut self.medium.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes it fail now.
    pub fn fail(&self, failure: Failure) {
        self.with(|medium| medium.fail(failure));
    }

    /// The gate where its operations wait during a hang; a test may also close and open it.
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }
}

impl Backing for SharedMedium {
    fn bytes(&self) -> u64 {
        self.with(|medium| medium.bytes())
    }

    fn block_bytes(&self) -> u32 {
        self.with(|medium| medium.block_bytes())
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.with(|medium| medium.read_at(offset, buffer)).map_err(error)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(|medium| medium.write_at(offset, data)).map_err(error)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(Device::sync).map_err(error)
    }
}

fn error(fault: Fault) -> io::Error {
    match fault {
        Fault::ReadOnly => Errno::ROFS,
        Fault::Gone => Errno::NODEV,
        Fault::Denied => Errno::PERM,
        Fault::Medium | Fault::AllErrors | Fault::WriteErrors | Fault::DropsWrites | Fault::Hung | Fault::Exchanged => {
            Errno::IO
        }
    }
    .into()
}
