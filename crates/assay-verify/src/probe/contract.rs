//! What the probe needs from a device; real devices, models and decorators implement it.

use assay_core::outcome::RunFailure;

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The medium answered with an error at this place (`EIO` and its like).
    #[error("input/output error")]
    Medium,
    /// The device is no longer there.
    #[error("the device is gone")]
    Gone,
    /// The system denies access.
    #[error("permission denied")]
    Denied,
    /// The device, or the kernel for it, refuses writes.
    #[error("read-only")]
    ReadOnly,
    /// Places that were read and written before now answer only with errors.
    #[error("nothing but errors")]
    AllErrors,
    /// Places that were written before now refuse writes.
    #[error("every write fails")]
    WriteErrors,
    /// Writes to places that were written before change nothing.
    #[error("writes no longer change anything")]
    DropsWrites,
    /// No answer within the time limit.
    #[error("no answer")]
    Hung,
    /// Nothing that the probe wrote is on it any more: another medium is in its place.
    #[error("another medium took its place, or it lost all that it held")]
    Exchanged,
}

impl Fault {
    /// Classifies an error of the kernel: a missing device is distinguished from a medium with errors.
    #[must_use]
    pub fn from_io(error: &std::io::Error) -> Self {
        match error.raw_os_error().map(RunFailure::from_errno) {
            Some(RunFailure::Disappeared) => Self::Gone,
            Some(RunFailure::ReadOnly) => Self::ReadOnly,
            _ if error.kind() == std::io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Medium,
        }
    }
}

/// A device of blocks. Offsets and lengths are multiples of [`Device::block_bytes`] and stay
/// inside of [`Device::bytes`].
pub trait Device {
    /// Announced size in bytes.
    fn bytes(&self) -> u64;

    /// Smallest unit of reading and writing, in bytes.
    fn block_bytes(&self) -> u32 {
        512
    }

    /// Fills `buffer` from `offset`, from the device and not from a cache of the host.
    ///
    /// # Errors
    /// A [`Fault`]; the buffer's content is then undefined.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault>;

    /// Writes `data` at `offset`.
    ///
    /// # Errors
    /// A [`Fault`]; a part may have been written.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault>;

    /// Returns when all writes have left every cache that obeys a flush.
    ///
    /// # Errors
    /// A [`Fault`].
    fn sync(&mut self) -> Result<(), Fault>;

    /// Whether it is still the device that was opened; asked after an error.
    fn present(&mut self) -> bool {
        true
    }
}

impl<D: Device + ?Sized> Device for &mut D {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }
    fn block_bytes(&self) -> u32 {
        (**self).block_bytes()
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        (**self).read_at(offset, buffer)
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        (**self).write_at(offset, data)
    }
    fn sync(&mut self) -> Result<(), Fault> {
        (**self).sync()
    }
    fn present(&mut self) -> bool {
        (**self).present()
    }
}
