//! Linux, and functions that all Unix systems share.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use assay_core::record::Host;
use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::DeviceError;
use crate::files::Stat;
use crate::look::{Seen, TargetInfo, What};
use crate::storage::Backing;

/// Root of the kernel's trees.
pub(crate) const ROOT: &str = "/";

/// Fills `bytes` with unpredictable random data (getrandom(2)).
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

/// Queries the kernel, and not the server of a network file system, which may never answer (statx(2),
/// `AT_STATX_DONT_SYNC`).
pub(crate) fn stat(path: &Path) -> Option<Stat> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO).ok()?;
    let is_block = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::BlockDevice;
    Some(Stat {
        of_block_device: is_block.then_some((stat.stx_rdev_major, stat.stx_rdev_minor)),
        device: (stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
    })
}

/// The kernel's backing of the loop device with this number at `path`; `None` if it is detached.
///
/// # Errors
/// Where the device cannot be opened, or the kernel does not answer.
pub(crate) fn loop_backing(path: &Path, number: (u32, u32)) -> io::Result<Option<Backing>> {
    /// `LOOP_GET_STATUS64` of linux/loop.h.
    const STATUS: Opcode = 0x4C05;
    /// The first three words of `struct loop_info64`, and the rest of its 232 bytes.
    #[repr(C)]
    struct LoopInfo {
        device: u64,
        inode: u64,
        rdevice: u64,
        rest: [u64; 26],
    }
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let rdev = file.metadata()?.rdev();
    if (rustix::fs::major(rdev), rustix::fs::minor(rdev)) != number {
        return Err(io::Error::other(format!("{} is another device", path.display())));
    }
    // SAFETY: for this request the kernel writes a `struct loop_info64`, which the type has the layout of; any bytes
    // are valid for it.
    let answer = unsafe { ioctl(&file, Getter::<STATUS, LoopInfo>::new()) };
    let info = match answer {
        Ok(info) => info,
        Err(Errno::NXIO) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let of = |number: u64| (rustix::fs::major(number), rustix::fs::minor(number));
    // For a file, older kernels also return the number of its file system as the third one (drivers/block/loop.c).
    Ok(Some(match info.rdevice {
        0 => Backing::File { device: of(info.device), inode: info.inode },
        rdevice if rdevice == info.device => Backing::File { device: of(info.device), inode: info.inode },
        rdevice => Backing::Device(of(rdevice)),
    }))
}

/// The fsid of the btrfs that holds `path`; `None` for another file system.
pub(crate) fn btrfs_id(path: &Path) -> Option<[u8; 16]> {
    /// `struct btrfs_ioctl_fs_info_args` of linux/btrfs.h, whose size is part of the request.
    #[repr(C)]
    struct FsInfo {
        max_id: u64,
        devices: u64,
        fsid: [u8; 16],
        rest: [u64; 124],
    }
    /// `BTRFS_IOC_FS_INFO`.
    const INFO: Opcode = opcode::read::<FsInfo>(0x94, 31);
    /// `BTRFS_SUPER_MAGIC` of linux/magic.h.
    const BTRFS: u64 = 0x9123_683e;
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).ok()?;
    // Only btrfs is opened: for others the request may mean something else.
    let kind = rustix::fs::statfs(path).ok()?.f_type as u64;
    let file = (kind == BTRFS).then(|| OpenOptions::new().read(true).custom_flags(flags).open(path).ok())??;
    // SAFETY: for this request btrfs fills the structure, which is as large as its own; any bytes are valid for it.
    unsafe { ioctl(&file, Getter::<INFO, FsInfo>::new()) }.ok().map(|info| info.fsid)
}

/// Kind and device of a path without links.
pub(crate) fn seen(path: &Path) -> Result<Seen, DeviceError> {
    let meta = fs::metadata(path).map_err(|error| DeviceError::from_io(path, error))?;
    let (what, dev) = match meta.file_type().is_block_device() {
        true => (What::BlockDevice, meta.rdev()),
        false => (What::from_metadata(path, &meta)?, meta.dev()),
    };
    Ok(Seen { what, dev: (rustix::fs::major(dev), rustix::fs::minor(dev)) })
}

/// Refuses a path to something that is not measured on this system.
pub(crate) fn refuse(_path: &Path) -> Result<(), DeviceError> {
    Ok(())
}

/// The kernel's log, opened without blocking: it returns what is available.
pub(crate) fn kernel_log() -> Option<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg").ok()
}

/// Read from the kernel's trees instead.
pub(crate) fn host() -> Option<Host> {
    None
}

/// Read from the kernel's trees instead.
pub(crate) fn available_memory() -> Option<u64> {
    None
}

/// Read from the kernel's trees instead.
pub(crate) fn target(_path: &Path, _seen: Seen) -> Option<TargetInfo> {
    None
}

/// Read from the kernel's trees instead.
pub(crate) fn load() -> Option<[u64; 3]> {
    None
}

// Functions that all Unix systems share.

/// Name of this host according to the system.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Reads at an offset; returns the number of bytes.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// A path as people write it.
pub(crate) fn as_written(path: &str) -> String {
    path.to_owned()
}
