//! File systems whose driver is a program (FUSE). It caches data of the device in the host's memory, and a direct read
//! of a file does not bypass that cache.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::sys;

/// The layer between the files and the medium, beside the kernel.
#[derive(Debug)]
pub(crate) enum DriverLayer {
    /// Nothing.
    Nothing,
    /// A program, and the device under it.
    Program(File),
    /// A program. Its device is unknown, or may not be opened.
    Unknown,
}

impl DriverLayer {
    /// The layer under the directory.
    pub(crate) fn of(directory: &Path) -> Self {
        match sys::is_program(directory) {
            true => sys::cached_device_under(directory).map_or(Self::Unknown, Self::Program),
            false => Self::Nothing,
        }
    }

    /// Why data read may not come from the medium, with direct I/O or through the page cache.
    pub(crate) fn doubt(&self, direct: bool) -> Option<String> {
        let doubt = match self {
            Self::Unknown => Some(
                "the driver of this file system is a program that keeps data in memory, and its device cannot be opened; \
                 run as root, or check with a driver of the kernel",
            ),
            _ if direct => None,
            _ => sys::CACHED_DOUBT,
        };
        doubt.map(str::to_owned)
    }

    /// Work that flushes and drops what the program caches of the device.
    pub(crate) fn settle(&self) -> io::Result<Option<impl FnOnce() -> io::Result<()> + Send + 'static>> {
        let Self::Program(device) = self else { return Ok(None) };
        let device = device.try_clone()?;
        Ok(Some(move || {
            device.sync_all()?;
            sys::forget(&device, 0, None)
        }))
    }
}
