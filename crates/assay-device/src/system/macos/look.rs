//! What lies under a path.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::error::{DeviceError, shown};
use crate::files::Stat;
use crate::look::{Seen, bare};
use crate::storage::Backing;
use crate::system::mounted::Mounted;
use crate::target::{TargetInfo, What};

/// Nothing can be below what is no directory, so that a tree of a kernel is found nowhere.
pub(crate) const ROOT: &str = "/dev/null/none";

/// There are no trees that have such numbers.
pub(crate) fn stat(_path: &Path) -> Option<Stat> {
    None
}

/// There are no loop devices.
///
/// # Errors
/// Always.
pub(crate) fn loop_backing(_path: &Path, _number: (u32, u32)) -> io::Result<Option<Backing>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No file system is one.
pub(crate) fn btrfs_id(_path: &Path) -> Option<[u8; 16]> {
    None
}

/// What a path without links is.
pub(crate) fn seen(path: &Path) -> Result<Seen, DeviceError> {
    let meta = fs::metadata(path).map_err(|error| DeviceError::from_io(path, error))?;
    let what = What::of(path, &meta)?;
    let dev = i32::try_from(meta.dev()).map_or((0, 0), |dev| (rustix::fs::major(dev), rustix::fs::minor(dev)));
    Ok(Seen { what, dev })
}

/// Refuses a path that leads to a disk: `/dev/disk4`, and `/dev/rdisk4`, which is no block device.
pub(crate) fn refuse(path: &Path) -> Result<(), DeviceError> {
    let Ok(meta) = fs::metadata(path) else { return Ok(()) };
    let named = |path: &Path| path.to_string_lossy().starts_with("/dev/rdisk");
    let raw = || meta.file_type().is_char_device() && fs::canonicalize(path).is_ok_and(|real| named(&real));
    if meta.file_type().is_block_device() || raw() {
        return Err(DeviceError::NoRawDevices { path: shown(path) });
    }
    Ok(())
}

/// There is none that is read here.
pub(crate) fn kernel_log() -> Option<File> {
    None
}

/// What lies under a path without links.
pub(crate) fn target(path: &Path, seen: Seen) -> Option<TargetInfo> {
    let mut target = bare(path, seen.what);
    if let Ok(fs) = rustix::fs::statfs(path) {
        Mounted::of(&fs).describe(&mut target);
    }
    Some(target)
}
