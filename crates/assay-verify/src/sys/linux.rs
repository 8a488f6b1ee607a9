//! Linux.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use assay_core::verification::Doubt;
use assay_device::owned::Directory;
use assay_device::{Storage, Sysroot};
use rustix::fs::{Access, Advice, FallocateFlags, OFlags, fadvise, fallocate, fstatfs, statfs, syncfs};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::sys::Extent;

// The block device under a directory.

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
    open_device(directory, OFlags::DIRECT)
}

/// The same through the page cache.
pub(crate) fn cached_device_under(directory: &Path) -> Option<File> {
    open_device(directory, OFlags::empty())
}

fn open_device(directory: &Path, flags: OFlags) -> Option<File> {
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

/// Size of a block of an open_device device, in bytes.
///
/// # Errors
/// The kernel's answer.
pub(crate) fn block_bytes(device: &File) -> io::Result<u32> {
    rustix::fs::ioctl_blksszget(device).map_err(Into::into)
}

// The host that runs the check.

/// Directories on file systems that everything else needs.
const SYSTEM: [&str; 10] = ["/", "/usr", "/var", "/home", "/boot", "/run", "/tmp", "/opt", "/srv", "/root"];

/// Whether this user may create files in a directory.
///
/// # Errors
/// Where the user may not.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).map_err(Into::into)
}

/// The storage that the file system of a path takes its space from: it is the same for all subvolumes of a btrfs.
pub(crate) fn file_system(path: &Path) -> Option<Storage> {
    Storage::of_file_system(&Sysroot::real(), path)
}

/// Paths on file systems that must not run out of space: directories that everything else needs, and swap files.
pub(crate) fn carriers() -> Vec<PathBuf> {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    SYSTEM.into_iter().map(PathBuf::from).chain(swap_files(&swaps)).collect()
}

/// Files of `/proc/swaps` (proc(5)): the name, then the kind.
fn swap_files(text: &str) -> Vec<PathBuf> {
    let lines = text.lines().skip(1).map(|line| line.split_whitespace());
    lines
        .filter_map(|mut words| Some((words.next()?, words.next()?)))
        .filter(|(_, kind)| *kind == "file")
        // Blanks and some other characters are written as three octal digits. Only blanks are decoded here.
        .map(|(path, _)| PathBuf::from(path.replace("\\040", " ")))
        .collect()
}

// Space and caches of files.

/// `MSDOS_SUPER_MAGIC` of linux/magic.h, the file system vfat.
const VFAT: u64 = 0x4d44;
/// Why data read may not come from the medium: no reason.
pub(crate) const CACHED_DOUBT: Option<Doubt> = None;

/// Drops the cached data of a file from the byte `offset` on: `bytes` of them, or all.
///
/// # Errors
/// The system's.
pub(crate) fn forget(file: &File, offset: u64, bytes: Option<NonZeroU64>) -> io::Result<()> {
    fadvise(file, offset, bytes, Advice::DontNeed).map_err(Into::into)
}

/// Sets space aside for a new file of `bytes`. The size is set only if that writes nothing. Returns whether the file
/// must be written in order from its start.
pub(crate) fn set_aside(file: &File, bytes: u64) -> bool {
    let vfat = is_vfat(file);
    fallocate(file, mode(vfat), 0, bytes).is_err() || vfat
}

/// Sets space aside for a new file of `bytes` with one place to be written. Returns whether the place may be anywhere.
///
/// # Errors
/// The system's, if it has no room.
pub(crate) fn reserve_place(file: &File, bytes: u64) -> io::Result<bool> {
    let vfat = is_vfat(file);
    match fallocate(file, mode(vfat), 0, bytes.max(1)) {
        Ok(()) => Ok(!vfat),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(bytes).map(|()| false),
        Err(error) => Err(error.into()),
    }
}

fn mode(vfat: bool) -> FallocateFlags {
    if vfat { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() }
}

/// Whether a file is on vfat, which extends a file by writing zeros.
fn is_vfat(file: &File) -> bool {
    fstatfs(file).is_ok_and(|fs| fs.f_type as u64 == VFAT)
}

/// Makes all writes to the file system of `file` durable.
///
/// # Errors
/// The system's.
pub(crate) fn settle<'a>(file: &File, _others: impl Iterator<Item = &'a File>) -> io::Result<()> {
    syncfs(file).map_err(Into::into)
}

// The files of a journal, on another disk than the one under test.

/// Creates a file for this user only, for appending and reading.
///
/// # Errors
/// The system's.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file for reading and, if its disk allows, for appending.
///
/// # Errors
/// The system's.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Otherwise a pipe would wait for a writer.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    options.clone().append(true).open(path).or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::TXTBSY) => options.open(path),
        _ => Err(error),
    })
}

/// Reserves room for `bytes`, if the file system can; the length does not change.
///
/// # Errors
/// Where the room is not available.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // Not every file system can; then a lack of room shows when writing.
        _ => Ok(()),
    }
}

/// Whether a file lies in memory: TMPFS_MAGIC, RAMFS_MAGIC of include/uapi/linux/magic.h.
pub(crate) fn is_volatile(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| [0x0102_1994, 0x8584_58f6].contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

/// Whether a file at `path` in a directory `home` would be the device `under_test`, or lie on its file system.
pub(crate) fn same_disk(path: &Path, home: &Metadata, under_test: &Metadata) -> bool {
    let itself = std::fs::metadata(path).is_ok_and(|there| there.rdev() != 0 && there.rdev() == under_test.rdev());
    itself || (under_test.rdev() != 0 && home.dev() == under_test.rdev())
}

/// Free bytes of the file system of a directory.
///
/// # Errors
/// The system's.
pub(crate) fn free_bytes(directory: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(directory)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns when the names in a directory survive a crash (fsync(2), notes).
///
/// # Errors
/// The system's.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

// Where a file lies on its device, as the file system reports it.
//
// ext2, ext3, ext4, XFS and others answer FIEMAP (linux/fiemap.h, Documentation/filesystems/fiemap.rst). The kernel's
// vfat and exfat answer only FIBMAP (linux/fs.h), block by block, and only to root.

/// Btrfs answers with addresses of its own logical space, which it maps to its devices (`BTRFS_SUPER_MAGIC` of
/// linux/magic.h).
const BTRFS: u64 = 0x9123_683e;
/// `MSDOS_SUPER_MAGIC` and `EXFAT_SUPER_MAGIC` of linux/magic.h.
const FATS: [u64; 2] = [0x4d44, 0x2011_bab0];
/// Most extents: a longer map is of no use.
const MOST: usize = 1 << 20;

/// Extents per request.
const AT_ONCE: usize = 128;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_UNKNOWN`, `_DELALLOC`, `_ENCODED`, `_DATA_ENCRYPTED`, `_DATA_INLINE` and `_DATA_TAIL`: the data are
/// not there as they are in the file.
const ELSEWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x200 | 0x400;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more_reserved: [u32; 3],
}

/// `struct fiemap`, with room for the answer.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [FiemapExtent; AT_ONCE],
}

/// `FS_IOC_FIEMAP`: its size is that of the head alone, 32 bytes.
const FIEMAP: Opcode = opcode::read_write::<[u8; 32]>(b'f', 11);
/// `FIBMAP` and `FIGETBSZ`.
const FIBMAP: Opcode = opcode::none(0, 1);
const FIGETBSZ: Opcode = opcode::none(0, 2);

/// Where `bytes` of a file lie; `None` if the file system does not report it in addresses of its device.
pub(crate) fn extents(file: &File, bytes: u64) -> Option<Vec<Extent>> {
    let kind = fstatfs(file).ok()?.f_type as u64;
    if kind == BTRFS {
        return None;
    }
    match fiemap(file, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOTTY) if FATS.contains(&kind) => fibmap(file, bytes),
        answer => answer.ok().flatten(),
    }
}

fn fiemap(file: &File, bytes: u64) -> Result<Option<Vec<Extent>>, Errno> {
    let (mut found, mut from) = (Vec::new(), 0);
    while from < bytes && found.len() < MOST {
        let mut request = Fiemap {
            start: from,
            length: bytes - from,
            // Without `FIEMAP_FLAG_SYNC`: written data are synced before the request.
            flags: 0,
            mapped: 0,
            room: AT_ONCE as u32,
            reserved: 0,
            extents: [FiemapExtent::default(); AT_ONCE],
        };
        // SAFETY: `FIEMAP` takes a `struct fiemap` followed by as many `struct fiemap_extent` as its
        // `fm_extent_count` says; `Fiemap` has both layouts (`repr(C)`, the fields of linux/fiemap.h in their
        // order) and room for `AT_ONCE` extents, which is the count. The kernel writes within it, for the
        // time of the call, and any bytes are values of its fields.
        let asked = unsafe { ioctl(file, Updater::<FIEMAP, Fiemap>::new(&mut request)) };
        asked?;
        let extents = &request.extents[..(request.mapped as usize).min(AT_ONCE)];
        for extent in extents {
            if extent.flags & ELSEWHERE != 0 {
                return Ok(None);
            }
            found.push(Extent { offset: extent.logical, address: extent.physical, bytes: extent.length });
        }
        match extents.last() {
            Some(last) if last.flags & LAST == 0 => from = last.logical.saturating_add(last.length).max(from + 1),
            _ => break,
        }
    }
    Ok((!found.is_empty()).then_some(found))
}

fn fibmap(file: &File, bytes: u64) -> Option<Vec<Extent>> {
    let block = u64::from(asked::<FIGETBSZ>(file, 0)?).max(512);
    // The allocation unit, which is at least a block.
    let cluster = u64::try_from(fstatfs(file).ok()?.f_bsize).ok()?.max(block) / block * block;
    let mut found: Vec<Extent> = Vec::new();
    let mut offset = 0;
    while offset < bytes && found.len() < MOST {
        let at = asked::<FIBMAP>(file, u32::try_from(offset / block).ok()?)?;
        let (address, length) = (u64::from(at) * block, cluster.min(bytes - offset));
        match found.last_mut() {
            // Block 0 means a hole.
            _ if at == 0 => return None,
            Some(last) if last.address + last.bytes == address => last.bytes += length,
            _ => found.push(Extent { offset, address, bytes: length }),
        }
        offset += cluster;
    }
    Some(found)
}

/// An ioctl that takes and returns an `int`.
fn asked<const CODE: Opcode>(file: &File, value: u32) -> Option<u32> {
    let mut number = value;
    // SAFETY: `FIBMAP` and `FIGETBSZ`, the codes that this is used with, read and write one `int` behind the
    // pointer for the time of the call (linux/fs.h); any bits are a value of `u32`.
    unsafe { ioctl(file, Updater::<CODE, u32>::new(&mut number)) }.ok()?;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_the_kernel_swaps_to_are_found() {
        let text = "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n/mnt/a\\040b/swap file 8 0 -3\n";
        assert_eq!(swap_files(text), [PathBuf::from("/mnt/a b/swap")]);
    }

    #[test]
    fn structures_have_the_sizes_of_the_kernels() {
        assert_eq!(size_of::<FiemapExtent>(), 56);
        assert_eq!(size_of::<Fiemap>(), 32 + AT_ONCE * 56);
        assert_eq!(FIEMAP, 0xc020_660b);
    }

    /// Both ways give the same answer, if a file system supports both.
    #[test]
    fn what_lies_where_is_told_alike_by_both_calls() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![7; 3 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        let Ok(Some(extents)) = fiemap(&file, 3 << 20) else { return };
        let covered: u64 = extents.iter().map(|extent| extent.bytes).sum();
        assert!(covered >= 3 << 20 && extents[0].offset == 0, "{extents:?}");
        if let Some(blocks) = fibmap(&file, 3 << 20) {
            let address = |extents: &[Extent], offset: u64| {
                let at = extents.iter().find(|extent| (extent.offset..extent.offset + extent.bytes).contains(&offset));
                at.map(|extent| extent.address + offset - extent.offset)
            };
            for offset in (0..3 << 20).step_by(4096) {
                assert_eq!(address(&extents, offset), address(&blocks, offset), "{offset}");
            }
        }
    }
}
