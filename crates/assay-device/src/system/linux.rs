//! Linux.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use assay_core::record::Host;
use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::DeviceError;
use crate::files::Stat;
use crate::look::Seen;
use crate::target::{TargetInfo, What};

/// Where the trees of the kernel begin.
pub(crate) const ROOT: &str = "/";

/// Fills `bytes` by chance that nobody can foresee (getrandom(2)).
///
/// # Errors
/// The system's.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match getrandom(rest, GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Asks the kernel, and not the server of a network file system, which may never answer
/// (statx(2), `AT_STATX_DONT_SYNC`).
pub(crate) fn stat(path: &Path) -> Option<Stat> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::BlockDevice;
    Some(Stat {
        of_block_device: is_block.then_some((stat.stx_rdev_major, stat.stx_rdev_minor)),
        device: (stat.stx_dev_major, stat.stx_dev_minor),
    })
}

/// What a path without links is.
pub(crate) fn seen(path: &Path) -> Result<Seen, DeviceError> {
    let meta = fs::metadata(path).map_err(|error| DeviceError::from_io(path, error))?;
    let (what, dev) = match meta.file_type().is_block_device() {
        true => (What::BlockDevice, meta.rdev()),
        false => (What::of(path, &meta)?, meta.dev()),
    };
    Ok(Seen { what, dev: (rustix::fs::major(dev), rustix::fs::minor(dev)) })
}

/// Refuses a path that names what is not measured on this system.
pub(crate) fn refuse(_path: &Path) -> Result<(), DeviceError> {
    Ok(())
}

/// The kernel's log, which gives what there is and never waits.
pub(crate) fn kernel_log() -> Option<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg").ok()
}

/// The trees tell.
pub(crate) fn host() -> Option<Host> {
    None
}

/// The trees tell.
pub(crate) fn available_memory() -> Option<u64> {
    None
}

/// The trees tell.
pub(crate) fn target(_path: &Path, _seen: Seen) -> Option<TargetInfo> {
    None
}

/// The trees tell.
pub(crate) fn load() -> Option<[u64; 3]> {
    None
}
