//! The block device under a directory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use assay_device::owned::Directory;
use rustix::fs::{OFlags, statfs};
use rustix::io::Errno;

/// `FUSE_SUPER_MAGIC` of linux/magic.h.
const FUSE: u64 = 0x6573_5546;

/// Whether the driver of the file system is a program (FUSE).
pub(crate) fn is_program(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|fs| fs.f_type as u64 == FUSE)
}

/// File systems that compare what they read with checksums, by the numbers of statfs(2): btrfs
/// (`BTRFS_SUPER_MAGIC` of linux/magic.h), ZFS (`ZFS_SUPER_MAGIC` of OpenZFS) and bcachefs
/// (`BCACHEFS_STATFS_MAGIC`).
const WITH_CHECKSUMS: [u64; 3] = [0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e];

/// Whether the file system returns an error if the medium returns other data than were written.
pub(crate) fn has_checksums(directory: &Path) -> bool {
    // The number has 32 bits, whatever the size of the field.
    statfs(directory).is_ok_and(|fs| WITH_CHECKSUMS.contains(&(fs.f_type as u64 & 0xffff_ffff)))
}

/// The device under the directory, past the page cache; `None` if it is no block device, or may not be read.
pub(crate) fn device_under(directory: &Path) -> Option<File> {
    open(directory, OFlags::DIRECT)
}

/// The same through the page cache.
pub(crate) fn cached_device_under(directory: &Path) -> Option<File> {
    open(directory, OFlags::empty())
}

fn open(directory: &Path, flags: OFlags) -> Option<File> {
    let flags = i32::try_from(flags.bits()).ok()?;
    let file = File::options().read(true).custom_flags(flags).open(device(directory)?).ok()?;
    file.metadata().is_ok_and(|meta| meta.file_type().is_block_device()).then_some(file)
}

/// The single device that is mounted there: by its number, or as reported to the kernel by a driver.
fn device(directory: &Path) -> Option<PathBuf> {
    let number = directory.metadata().ok()?.dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let event = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).unwrap_or_default();
    if let Some(name) = event.lines().find_map(|line| line.strip_prefix("DEVNAME=")) {
        return Some(Path::new("/dev").join(name));
    }
    // Kernel file systems without a device number lie on several devices, or on none.
    is_program(directory).then_some(())?;
    // Fields of proc(5): the third is the number; the second after the hyphen is the source.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let wanted = format!("{major}:{minor}");
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(&wanted))?;
    let source = line.split_once(" - ")?.1.split(' ').nth(1)?;
    source.starts_with("/dev/").then(|| PathBuf::from(source))
}

/// Text of `/sys/dev/block/MAJOR:MINOR/size`: sectors of 512 bytes (Documentation/ABI/stable/sysfs-block).
fn sectors(directory: &Directory) -> io::Result<String> {
    let (major, minor) = directory.device();
    std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/size"))
}

/// Size of the block device of a file system, in bytes.
pub(crate) fn device_bytes(directory: &Directory) -> Option<u64> {
    sectors(directory).ok()?.trim().parse::<u64>().ok()?.checked_mul(512).filter(|bytes| *bytes > 0)
}

/// Open files are reached directly, so they cannot be on another medium.
///
/// # Errors
/// None.
pub(crate) fn still_there(_directory: &Directory) -> io::Result<()> {
    Ok(())
}

/// Whether the block device under `directory` has gone or has no capacity left. File systems without a device are never
/// gone.
pub(crate) fn is_gone(directory: &Directory) -> bool {
    directory.device().0 != 0 && sectors(directory).map_or(true, |sectors| sectors.trim() == "0")
}

/// The error of a device that has gone.
pub(crate) fn gone() -> io::Error {
    Errno::NODEV.into()
}

/// Opens a block device for reading past the page cache, even if it is in use.
///
/// # Errors
/// Where it is no block device, or the kernel refuses.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = (OFlags::DIRECT | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.file_type().is_block_device() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Size of a block of an open device, in bytes.
///
/// # Errors
/// The kernel's answer.
pub(crate) fn block_bytes(device: &File) -> io::Result<u32> {
    rustix::fs::ioctl_blksszget(device).map_err(Into::into)
}
