//! A block device that is opened once; every file opened from it later is the same device.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::block::Node;
use crate::error::{DeviceError, shown};
use crate::files::Sysroot;
use crate::look::{Seen, What};
use crate::owned::Caching;

/// If a medium is inserted while its device is opened, the kernel numbers it anew.
const ATTEMPTS: u32 = 3;

/// An open block device. The path to it is resolved once. From then on every file is opened through the first one and
/// compared with it.
#[derive(Debug)]
pub struct HeldDevice {
    sysroot: Sysroot,
    path: PathBuf,
    file: File,
    piece: Piece,
    writable: bool,
}

/// Distinguishes a device from another that has taken its name or its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Major and minor.
    number: (u32, u32),
    bytes: u64,
    /// Counter that the kernel increments for each device and each change of medium (kernel
    /// Documentation/ABI/stable/sysfs-block, `diskseq`, Linux 5.15). 0 if the kernel has none; `None` if sysfs does not
    /// list the device.
    sequence: Option<u64>,
}

impl HeldDevice {
    /// Opens a device for reading only, even if it is in use.
    ///
    /// # Errors
    /// Where it is no block device, or the kernel refuses.
    pub fn to_read(sysroot: &Sysroot, path: &Path) -> Result<Self, DeviceError> {
        Self::open(sysroot, path, OFlags::empty(), false)
    }

    /// Opens it for reading and writing. With `O_EXCL` the kernel refuses a device that is in use, in any mount
    /// namespace, and prevents mounting it as long as the file is open (open(2)).
    pub(super) fn exclusively(sysroot: &Sysroot, path: &Path) -> Result<Self, DeviceError> {
        Self::open(sysroot, path, OFlags::EXCL, true)
    }

    fn open(sysroot: &Sysroot, path: &Path, flags: OFlags, writable: bool) -> Result<Self, DeviceError> {
        let device_error = |error| DeviceError::from_io(path, error);
        let real = fs::canonicalize(path).map_err(device_error)?;
        for _ in 0..ATTEMPTS {
            let seen = Seen::at(&real)?;
            if seen.what != What::BlockDevice {
                return Err(DeviceError::NotABlockDevice { path: shown(path) });
            }
            let before = sequence(sysroot, seen.dev);
            let flags = (OFlags::NOFOLLOW | flags).bits() as i32;
            let file =
                OpenOptions::new().read(true).write(writable).custom_flags(flags).open(&real).map_err(device_error)?;
            let piece = Piece::from_file(sysroot, &file).map_err(device_error)?;
            if (piece.number, piece.sequence) == (seen.dev, before) {
                return Ok(Self { sysroot: sysroot.clone(), path: path.to_owned(), file, piece, writable });
            }
        }
        Err(DeviceError::Changed { device: shown(path) })
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Announced size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.piece.bytes
    }

    /// Result of `stat`, by which [`crate::look_by_dev`] identifies it.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { what: What::BlockDevice, dev: self.piece.number }
    }

    /// The file that was opened first.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Opens another file of the same device, past the page cache or not. This goes through the descriptor, so that no
    /// name is resolved again.
    ///
    /// # Errors
    /// [`DeviceError::Changed`] if it is no longer the device that was opened first; otherwise the kernel's error.
    pub fn reopen(&self, caching: Caching) -> Result<File, DeviceError> {
        let flags = match caching {
            Caching::Cached => OFlags::empty(),
            Caching::Direct => OFlags::DIRECT,
        };
        let flags = flags.bits() as i32;
        let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let opened = OpenOptions::new().read(true).write(self.writable).custom_flags(flags).open(link);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let source = io::Error::other("opening it once more needs /proc to be mounted");
                DeviceError::Unreadable { path: shown(&self.path), source }
            }
            _ => DeviceError::from_io(&self.path, error),
        })?;
        let piece = Piece::from_file(&self.sysroot, &file).map_err(|error| DeviceError::from_io(&self.path, error))?;
        if piece == self.piece { Ok(file) } else { Err(DeviceError::Changed { device: shown(&self.path) }) }
    }

    /// Identifies the time for which it is attached, by the boot of the host and the kernel's counter for devices and
    /// changes of medium. A different value means that it was attached anew. `None` if the host does not tell. Linux
    /// before 5.15 has no counter, so only a new boot changes the value.
    #[must_use]
    pub fn attachment(&self) -> Option<String> {
        let boot = fs::read_to_string(self.sysroot.path("/proc/sys/kernel/random/boot_id")).ok()?;
        Some(format!("{} {}", boot.trim(), self.piece.sequence.unwrap_or(0)))
    }

    /// Whether the device is still there, the same and with the same size. When the medium is removed, the kernel
    /// removes it from sysfs or sets its size to zero.
    #[must_use]
    pub fn present(&self) -> bool {
        Piece::from_file(&self.sysroot, &self.file).is_ok_and(|piece| piece == self.piece)
    }
}

impl Piece {
    fn from_file(sysroot: &Sysroot, mut file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        if !meta.file_type().is_block_device() {
            return Err(io::Error::other("another file has taken its name"));
        }
        let number = (rustix::fs::major(meta.rdev()), rustix::fs::minor(meta.rdev()));
        let bytes = file.seek(SeekFrom::End(0))?;
        Ok(Self { number, bytes, sequence: sequence(sysroot, number) })
    }
}

/// See [`Piece::sequence`].
fn sequence(sysroot: &Sysroot, number: (u32, u32)) -> Option<u64> {
    Node::by_number(sysroot, number).map(|node| node.sequence().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_size_or_medium_is_another_piece() {
        let piece = Piece { number: (8, 16), bytes: 1 << 30, sequence: Some(7) };
        for other in [
            Piece { number: (8, 32), ..piece },
            Piece { bytes: 1 << 31, ..piece },
            Piece { sequence: Some(8), ..piece },
            Piece { sequence: None, ..piece },
        ] {
            assert_ne!(piece, other);
        }
    }

    #[test]
    fn what_is_no_block_device_is_no_piece() {
        let file = tempfile::tempfile().unwrap();
        assert!(Piece::from_file(&Sysroot::real(), &file).is_err());
    }
}
