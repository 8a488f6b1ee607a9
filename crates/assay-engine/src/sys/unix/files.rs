//! Files, as any Unix has them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

pub use std::os::fd::AsFd as AsOpen;
pub use std::os::unix::fs::FileExt;

/// Error number of an operation that failed without one: `EIO`.
pub(crate) const IO_ERROR: i32 = libc::EIO;

/// Has a new file be for this user alone.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// By what one thread reads and writes an open file at any place: `pread` and `pwrite`.
#[derive(Debug)]
pub(crate) struct Channel<'a>(BorrowedFd<'a>);

impl<'a> Channel<'a> {
    pub(crate) fn of(file: &'a File, _direct: bool) -> io::Result<Self> {
        Ok(Self(file.as_fd()))
    }

    #[inline]
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pread(self.0, buffer, offset)?)
    }

    #[inline]
    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(self.0, data, offset)?)
    }
}
