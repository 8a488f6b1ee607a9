//! A block device that is opened once; whatever is opened of it later is the same device.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::block::Node;
use crate::error::{DeviceError, shown};
use crate::look::Seen;
use crate::owned::Caching;
use crate::sysroot::Sysroot;
use crate::target::What;

/// A medium that is put in while its device is opened makes the kernel number it anew.
const ATTEMPTS: u32 = 3;

/// An open block device. The path that leads to it is followed once; from then on every file comes
/// from the first one and is compared with it.
#[derive(Debug)]
pub struct HeldDevice {
    sysroot: Sysroot,
    path: PathBuf,
    file: File,
    piece: Piece,
    writable: bool,
}

/// What tells one device from another that has taken its name or its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Major and minor.
    number: (u32, u32),
    bytes: u64,
    /// What the kernel counts up with each device and each change of medium (kernel
    /// Documentation/ABI/stable/sysfs-block, `diskseq`, Linux 5.15); 0 where it does not, `None`
    /// where sysfs does not list the device.
    sequence: Option<u64>,
}

impl HeldDevice {
    /// Opens a device to be read only, beside whoever else uses it.
    ///
    /// # Errors
    /// Where it is no block device, or the kernel refuses.
    pub fn to_read(sysroot: &Sysroot, path: &Path) -> Result<Self, DeviceError> {
        Self::open(sysroot, path, OFlags::empty(), false)
    }

    /// Opens it for reading and writing. `O_EXCL` makes the kernel refuse a device that anybody
    /// uses, in whatever mount namespace, and keeps others from mounting it as long as the file is
    /// open (open(2)).
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
            let piece = Piece::of(sysroot, &file).map_err(device_error)?;
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

    /// What `stat` says of it, by which [`crate::look_by_dev`] finds out what it is.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { what: What::BlockDevice, dev: self.piece.number }
    }

    /// The first file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Another file of the same device, past the page cache or not: through the descriptor, so that no name is looked
    /// up again.
    ///
    /// # Errors
    /// [`DeviceError::Changed`] where it is no longer the device that was opened first; else what
    /// the kernel answers.
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
        let piece = Piece::of(&self.sysroot, &file).map_err(|error| DeviceError::from_io(&self.path, error))?;
        if piece == self.piece { Ok(file) } else { Err(DeviceError::Changed { device: shown(&self.path) }) }
    }

    /// A name of the time for which it is attached: which boot of the host, and what the kernel counts up with each
    /// device and each change of medium. Another name means that it was attached anew. `None` where the host does not tell.
    /// Before Linux 5.15, which does not count, only a new boot gives another name.
    #[must_use]
    pub fn attachment(&self) -> Option<String> {
        let boot = fs::read_to_string(self.sysroot.path("/proc/sys/kernel/random/boot_id")).ok()?;
        Some(format!("{} {}", boot.trim(), self.piece.sequence.unwrap_or(0)))
    }

    /// Whether the device is still there, the same and as large: the kernel takes it from sysfs, or
    /// sets its size to zero, when the medium is taken out.
    #[must_use]
    pub fn present(&self) -> bool {
        Piece::of(&self.sysroot, &self.file).is_ok_and(|piece| piece == self.piece)
    }
}

impl Piece {
    fn of(sysroot: &Sysroot, mut file: &File) -> io::Result<Self> {
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
        assert!(Piece::of(&Sysroot::real(), &file).is_err());
    }
}
