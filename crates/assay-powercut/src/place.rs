//! What the load needs of a medium; real ones and models implement it.

use std::fs::File;
use std::io;

use assay_core::outcome::RunFailure;
use assay_endure::Fault;
use assay_engine::FileExt;

use crate::round::Mode;

/// A medium that several writers use at once.
pub trait Place: Send + Sync {
    /// Writes `data` at `offset`. With [`Mode::Dsync`] it returns when the medium acknowledged the write; otherwise
    /// [`Self::sync`] does that.
    ///
    /// # Errors
    /// A [`Fault`]; the write may then be there, in part, or not.
    fn write(&self, offset: u64, data: &[u8], mode: Mode) -> Result<(), Fault>;

    /// Returns when the medium acknowledged all writes that returned before.
    ///
    /// # Errors
    /// A [`Fault`].
    fn sync(&self, mode: Mode) -> Result<(), Fault>;
}

/// A device or a file, opened for direct I/O.
pub struct FilePlace {
    file: File,
    present: Box<dyn Fn() -> bool + Send + Sync>,
}

impl std::fmt::Debug for FilePlace {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("FilePlace").field("file", &self.file).finish_non_exhaustive()
    }
}

impl FilePlace {
    /// `present` says after an error whether the medium is still there.
    #[must_use]
    pub fn new(file: File, present: Box<dyn Fn() -> bool + Send + Sync>) -> Self {
        Self { file, present }
    }

    fn fault(&self, error: &io::Error) -> Fault {
        if !(self.present)() {
            return Fault::Gone;
        }
        match error.raw_os_error().map(RunFailure::from_errno) {
            Some(RunFailure::Disappeared) => Fault::Gone,
            Some(RunFailure::ReadOnly) => Fault::ReadOnly,
            Some(RunFailure::Hung) => Fault::Hung,
            _ => Fault::Errs,
        }
    }
}

impl Place for FilePlace {
    fn write(&self, offset: u64, data: &[u8], mode: Mode) -> Result<(), Fault> {
        let written = match mode {
            Mode::Dsync => write_durably(&self.file, offset, data),
            Mode::Fsync | Mode::Fdatasync => self.file.write_all_at(data, offset),
        };
        written.map_err(|error| self.fault(&error))
    }

    fn sync(&self, mode: Mode) -> Result<(), Fault> {
        let synced = match mode {
            Mode::Fsync => self.file.sync_all(),
            Mode::Fdatasync => self.file.sync_data(),
            Mode::Dsync => Ok(()),
        };
        synced.map_err(|error| self.fault(&error))
    }
}

/// `RWF_DSYNC` is `O_DSYNC` for one write. On a device the kernel then sets FUA, or writes and flushes where the device has
/// none (pwritev2(2); `dio_bio_write_op` and `generic_write_sync` of Linux).
#[cfg(not(windows))]
fn write_durably(file: &File, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
    use rustix::io::{Errno, ReadWriteFlags, pwritev2};
    while !data.is_empty() {
        match pwritev2(file, &[io::IoSlice::new(data)], offset, ReadWriteFlags::DSYNC) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => (data, offset) = (&data[written..], offset + written as u64),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_durably(file: &File, offset: u64, data: &[u8]) -> io::Result<()> {
    file.write_all_at(data, offset)?;
    file.sync_data()
}
