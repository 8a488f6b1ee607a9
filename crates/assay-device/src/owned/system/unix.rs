//! Linux, and what all Unix systems share: everything uses descriptors, so that no path is resolved twice.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Gid, Mode as Bits, OFlags, RawMode, SeekFrom, StatVfsMountFlags,
    StatxFlags, Uid, XattrFlags, fchmod, fchown, fcntl_getfl, fcntl_setfl, fgetxattr, flistxattr, flock, fremovexattr,
    fsetxattr, fstat, fstatfs, fstatvfs, fsync, getxattr, listxattr, mkdirat, openat, renameat, seek, statat, statx,
    syncfs, unlinkat,
};
use rustix::io::Errno;

use super::Mode;
use crate::owned::attributes::{EntryKind, OpenHow, Stat};
use crate::owned::{Access, Caching, Space};

/// An open directory.
pub(in crate::owned) type Handle = OwnedFd;

/// A file that only the user who runs assay can read and write.
const PRIVATE_FILE: Bits = Bits::RUSR.union(Bits::WUSR);
const USUAL_FILE: Bits = PRIVATE_FILE.union(Bits::RGRP).union(Bits::WGRP).union(Bits::ROTH).union(Bits::WOTH);

/// Opens a directory in another; links are not followed.
pub(in crate::owned) fn directory_in(above: &Handle, name: &OsStr) -> io::Result<Handle> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(above, name, flags, Bits::empty())?)
}

/// Whether [`directory_in`] failed because no directory has that name.
pub(in crate::owned) fn is_no_directory(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// A second handle of the same directory.
pub(in crate::owned) fn again(directory: &Handle) -> io::Result<Handle> {
    directory.try_clone()
}

/// Passes each name in it to `visit`.
pub(in crate::owned) fn names(directory: &Handle, visit: &mut dyn FnMut(&OsStr) -> ControlFlow<()>) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." && visit(OsStr::from_bytes(name)).is_break() {
            break;
        }
    }
    Ok(())
}

/// Opens a file. Links are not followed, and opening a device does not wait. `flags` are additional ones of the system.
pub(super) fn open_at(directory: &Handle, name: &OsStr, access: Access, flags: OFlags) -> rustix::io::Result<File> {
    let access = match access {
        Access::Read => OFlags::RDONLY,
        Access::ReadWrite => OFlags::RDWR,
    };
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(directory, name, access | flags | careful, Bits::empty())?.into())
}

/// Called after `open_file` returned a regular file: without blocking mode, a ring returns EAGAIN instead of waiting.
pub(in crate::owned) fn wait_again(file: &File) -> io::Result<()> {
    Ok(fcntl_getfl(file).and_then(|set| fcntl_setfl(file, set - OFlags::NONBLOCK))?)
}

/// Start and end of the next data of a file, at or behind `from`; `None` if the rest is a hole. If the file system does
/// not tell, everything is data.
pub(in crate::owned) fn next_data(file: &File, from: u64, bytes: u64) -> io::Result<Option<(u64, u64)>> {
    let begin = match seek(file, SeekFrom::Data(from)) {
        Ok(begin) => begin,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => return Ok((from < bytes).then_some((from, bytes))),
        Err(error) => return Err(error.into()),
    };
    let end = seek(file, SeekFrom::Hole(begin)).unwrap_or(bytes);
    Ok((begin < bytes).then_some((begin, end.clamp(begin, bytes))).filter(|(begin, end)| begin < end))
}

/// Creates a file that must not exist, for reading and writing. `flags` are additional ones of the system.
pub(super) fn make_at(directory: &Handle, name: &OsStr, mode: Mode, flags: OFlags) -> rustix::io::Result<File> {
    let bits = match mode {
        Mode::Private => PRIVATE_FILE,
        Mode::Usual => USUAL_FILE,
    };
    let new = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags | new, bits)?.into())
}

/// Creates a directory for the user who runs assay only.
pub(in crate::owned) fn make_directory(above: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(mkdirat(above, name, Bits::RWXU)?)
}

/// Removes a file's name.
pub(in crate::owned) fn remove_file(directory: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(directory, name, AtFlags::empty())?)
}

/// Removes an empty directory, which is open as `_own` and was verified to still have the name.
pub(in crate::owned) fn remove_directory(above: &Handle, name: &OsStr, _own: &Handle, _stat: &Stat) -> io::Result<()> {
    Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

/// Renames a file and removes the previous one with that name. Attributes to keep were copied to the file before.
pub(in crate::owned) fn rename(directory: &Handle, from: &OsStr, to: &OsStr, _keeps: bool) -> io::Result<()> {
    Ok(renameat(directory, from, directory, to)?)
}

/// Gives `file` the mode of `old`, the one that it replaces, and its owner if the system permits. In between,
/// `attributes` copies the access list and what else the system keeps.
#[allow(clippy::unnecessary_cast, reason = "the type differs from one system to another")]
pub(super) fn keep_rights(old: &Stat, file: &File, attributes: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(old.uid), Gid::from_raw(old.gid));
    let given = fchown(file, Some(uid), Some(gid)).is_ok();
    // Before the mode, whose group bits limit what an access list grants.
    attributes()?;
    // Set-user and set-group bits are not passed on to another owner.
    let bits = if given { old.mode & 0o7777 } else { old.mode & 0o777 };
    match fchmod(file, Bits::from_raw_mode(bits as RawMode)) {
        Err(Errno::PERM | Errno::NOTSUP) => Ok(()),
        done => done.map_err(io::Error::from),
    }
}

/// Unit of `st_blocks` and `stx_blocks`, whatever the file system's block.
pub(super) const BLOCK: u64 = 512;

/// Converts the result of stat(2).
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "the types differ from one system and processor to another"
)]
pub(super) fn plain(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        mode: u32::from(stat.st_mode) & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: u64::try_from(stat.st_nlink).unwrap_or(u64::MAX),
        bytes: u64::try_from(stat.st_size).unwrap_or(0),
        taken_bytes: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(BLOCK),
        number: stat.st_ino.into(),
        dev: (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev)),
        mount: None,
    }
}

pub(super) fn kind(of: FileType) -> EntryKind {
    match of {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo => EntryKind::Pipe,
        FileType::Socket => EntryKind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => EntryKind::Device,
        FileType::Unknown => EntryKind::Unknown,
    }
}

/// Takes a lock on the whole file without waiting; false if another process holds it. Some file systems have no locks:
/// there every process gets it.
pub(in crate::owned) fn lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL | Errno::BADF) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Releases it. Closing the file is not enough: a process started by another thread has a copy of it until it executes
/// its own program, and the lock lasts as long as any copy (flock(2)).
pub(in crate::owned) fn unlock(file: &File) {
    let _ = flock(file, FlockOperation::Unlock);
}

/// Whether another process holds the lock of a file opened for reading.
pub(in crate::owned) fn is_taken(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

/// The user who runs assay.
pub(in crate::owned) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

// Linux.

/// Numbers of file systems that several hosts may use at once, from linux/magic.h and statfs(2). FUSE is one of them if
/// it has no device.
const SHARED: [u32; 13] = [
    0x6969,      // NFS_SUPER_MAGIC
    0x517b,      // SMB_SUPER_MAGIC
    0xff53_4d42, // CIFS_SUPER_MAGIC
    0xfe53_4d42, // SMB2_SUPER_MAGIC
    0x5346_414f, // AFS_SUPER_MAGIC
    0x7375_7245, // CODA_SUPER_MAGIC
    0x00c3_6400, // CEPH_SUPER_MAGIC
    0x0102_1997, // V9FS_MAGIC
    0x0116_1970, // GFS2_MAGIC
    0x7461_636f, // OCFS2_SUPER_MAGIC
    0x0bd0_0bd3, // LL_SUPER_MAGIC: Lustre
    0x2003_0528, // ORANGEFS_DEVREQ_MAGIC
    0x786f_4256, // VBOXSF_SUPER_MAGIC
];
const FUSE: u32 = 0x6573_5546;

/// Numbers of file systems with owners and modes of the mount or the server, from linux/magic.h and statfs(2).
const KEEP_NO_OWNERS: [u32; 14] = [
    0x4d44,      // MSDOS_SUPER_MAGIC: vfat
    0x2011_bab0, // EXFAT_SUPER_MAGIC
    0x5346_544e, // NTFS_SB_MAGIC
    0x7366_746e, // NTFS3_SUPER_MAGIC
    0x6573_5546, // FUSE_SUPER_MAGIC
    0x4244,      // HFS_SUPER_MAGIC
    0x482b,      // HFSPLUS_SUPER_MAGIC
    0x1501_3346, // UDF_SUPER_MAGIC
    0xadff,      // AFFS_SUPER_MAGIC
    0x0102_1997, // V9FS_MAGIC
    0x517b,      // SMB_SUPER_MAGIC
    0xff53_4d42, // CIFS_SUPER_MAGIC
    0xfe53_4d42, // SMB2_SUPER_MAGIC
    0x786f_4256, // VBOXSF_SUPER_MAGIC
];

/// Opens a directory and follows links.
pub(in crate::owned) fn open_directory(path: &Path) -> io::Result<Handle> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(CWD, path, flags | OFlags::RDONLY, Bits::empty()) {
        // A directory that may be written but not read only cannot be listed.
        Err(Errno::ACCESS) => Ok(openat(CWD, path, flags | OFlags::PATH, Bits::empty())?),
        opened => Ok(opened?),
    }
}

fn flags(caching: Caching) -> OFlags {
    match caching {
        Caching::Cached => OFlags::empty(),
        Caching::Direct => OFlags::DIRECT,
    }
}

/// Opens a file. Links are not followed, and opening a device does not wait.
pub(in crate::owned) fn open_file(directory: &Handle, name: &OsStr, how: OpenHow) -> io::Result<File> {
    Ok(open_at(directory, name, how.access, flags(how.caching))?)
}

/// Creates a file that must not exist, for reading and writing.
pub(in crate::owned) fn make_file(directory: &Handle, name: &OsStr, caching: Caching, mode: Mode) -> io::Result<File> {
    Ok(make_at(directory, name, mode, flags(caching))?)
}

/// Returns when the names in it survive a power cut, if the file system supports that.
pub(in crate::owned) fn sync_names(directory: &Handle) -> io::Result<()> {
    match fsync(directory) {
        // Some file systems cannot sync directories, and one that may not be read was not opened for syncing.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns when everything in it and below survives a power cut, with everything else on its file system.
pub(in crate::owned) fn sync_all(directory: &Handle) -> io::Result<()> {
    Ok(syncfs(directory)?)
}

/// Size and room of the file system.
pub(in crate::owned) fn space(directory: &Handle) -> io::Result<Space> {
    let fs = fstatvfs(directory)?;
    let block = fs.f_frsize.max(1);
    Ok(Space {
        bytes: fs.f_blocks.saturating_mul(block),
        free_bytes: fs.f_bavail.saturating_mul(block),
        read_only: fs.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

/// Attributes of a directory entry. Links are not followed, and nothing is mounted for it.
pub(in crate::owned) fn stat_in(directory: &Handle, name: &OsStr) -> io::Result<Stat> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match stat_below(directory.as_fd(), name, flags) {
        Ok(stat) => Ok(stat),
        // On kernels before 4.11, and in containers that forbid it.
        Err(Errno::NOSYS | Errno::PERM) => Ok(plain(&statat(directory, name, flags)?)),
        Err(error) => Err(error.into()),
    }
}

/// Attributes of an open directory.
pub(in crate::owned) fn stat_directory(directory: &Handle) -> io::Result<Stat> {
    stat_open(directory.as_fd())
}

/// Attributes of an open file.
pub(in crate::owned) fn stat_file(file: &File) -> io::Result<Stat> {
    stat_open(file.as_fd())
}

fn stat_open(file: BorrowedFd<'_>) -> io::Result<Stat> {
    match stat_below(file, OsStr::new(""), AtFlags::EMPTY_PATH) {
        Ok(stat) => Ok(stat),
        Err(Errno::NOSYS | Errno::PERM) => Ok(plain(&fstat(file)?)),
        Err(error) => Err(error.into()),
    }
}

fn stat_below(directory: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> rustix::io::Result<Stat> {
    let stat = statx(directory, name, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)?;
    let known = StatxFlags::from_bits_retain(stat.stx_mask);
    Ok(Stat {
        kind: kind(FileType::from_raw_mode(u32::from(stat.stx_mode))),
        mode: u32::from(stat.stx_mode) & 0o7777,
        uid: stat.stx_uid,
        gid: stat.stx_gid,
        links: u64::from(stat.stx_nlink),
        bytes: stat.stx_size,
        taken_bytes: stat.stx_blocks.saturating_mul(BLOCK),
        number: stat.stx_ino.into(),
        dev: (stat.stx_dev_major, stat.stx_dev_minor),
        mount: known.contains(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
    })
}

/// Whether other hosts may use the file system at the same time.
pub(in crate::owned) fn is_shared(directory: &Handle, dev: (u32, u32)) -> bool {
    let kind = fstatfs(directory).map_or(0, |fs| fs.f_type as u32);
    SHARED.contains(&kind) || kind == FUSE && dev.0 == 0
}

/// An identifier that is new at each start of the host (random(4)).
pub(in crate::owned) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Whether the file system has no owners and modes of its own. If the system does not tell, it has them.
pub(in crate::owned) fn keeps_no_owners(directory: &Handle) -> bool {
    fstatfs(directory).is_ok_and(|fs| KEEP_NO_OWNERS.contains(&(fs.f_type as u32)))
}

/// Access control lists: of Linux (acl(5)), and of servers (nfs4_acl(5)).
const ACCESS_LISTS: [&CStr; 2] = [c"system.posix_acl_access", c"system.nfs4_acl"];
/// Attributes that belong to the user, to a security module, or say how a file is stored (xattr(7)).
const CARRIED: [&str; 3] = ["user.", "security.", "btrfs."];
/// These apply to the content of a file, or to executing it.
const OF_THE_CONTENT: [&str; 3] = ["security.capability", "security.ima", "security.evm"];
/// Largest size of a value, and of all names: `XATTR_SIZE_MAX` and `XATTR_LIST_MAX` of linux/limits.h.
const LARGEST: usize = 1 << 16;

/// Copies access rights to `file` from the one that it replaces, which is `old` and has `name`: owner if the system
/// permits, access list and mode; and other attributes if the system permits.
///
/// # Errors
/// Where the access list cannot be read or kept: others could then do more with the file than before.
pub(in crate::owned) fn keep(directory: &Handle, name: &OsStr, old: &Stat, file: &File) -> io::Result<()> {
    keep_rights(old, file, || keep_attributes(directory, name, old, file))
}

/// Gives `file` the access list of the one with `name`, which is `old`, or none if that has none, and its other
/// attributes if the system permits.
fn keep_attributes(directory: &Handle, name: &OsStr, old: &Stat, file: &File) -> io::Result<()> {
    let from = Attributes::open(directory, name, old)?;
    for list in ACCESS_LISTS {
        match from.value(list)? {
            Some(value) => fsetxattr(file, list, &value, XattrFlags::empty())?,
            // A list that a directory gives to new files in it (acl(5), "OBJECT CREATION AND DEFAULT ACLs").
            None => match fremovexattr(file, list) {
                Ok(()) | Err(Errno::NODATA | Errno::NOTSUP | Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(error.into()),
            },
        }
    }
    for name in from.names() {
        if let Ok(Some(value)) = from.value(&name) {
            let _ = fsetxattr(file, &*name, &value, XattrFlags::empty());
        }
    }
    Ok(())
}

/// The extended attributes of a file, even one that this user may not read.
struct Attributes {
    file: OwnedFd,
    /// Its path, if the file is open only as a reference (`O_PATH`).
    path: Option<String>,
}

impl Attributes {
    fn open(directory: &Handle, name: &OsStr, old: &Stat) -> io::Result<Self> {
        let of = match open_at(directory, name, Access::Read, OFlags::empty()) {
            Ok(file) => Self { file: file.into(), path: None },
            Err(Errno::ACCESS) => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(directory, name, flags, Bits::empty())?;
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                Self { file, path: Some(path) }
            }
            Err(error) => return Err(error.into()),
        };
        if !stat_open(of.file.as_fd())?.is_same(old) {
            return Err(io::Error::other("another file has taken its place meanwhile"));
        }
        Ok(of)
    }

    fn value(&self, name: &CStr) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; LARGEST];
        let read = match &self.path {
            None => fgetxattr(&self.file, name, value.as_mut_slice()),
            Some(path) => getxattr(path.as_str(), name, value.as_mut_slice()),
        };
        match read {
            Ok(length) => {
                value.truncate(length);
                Ok(Some(value))
            }
            Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Names of the attributes that another file may have too.
    fn names(&self) -> Vec<CString> {
        let mut list = vec![0; LARGEST];
        let read = match &self.path {
            None => flistxattr(&self.file, list.as_mut_slice()),
            Some(path) => listxattr(path.as_str(), list.as_mut_slice()),
        };
        list.truncate(read.unwrap_or(0));
        let carried = |name: &&CStr| {
            let name = name.to_string_lossy();
            CARRIED.iter().any(|prefix| name.starts_with(prefix)) && !OF_THE_CONTENT.contains(&&*name)
        };
        let names = list.split_inclusive(|byte| *byte == 0);
        names.filter_map(|name| CStr::from_bytes_with_nul(name).ok()).filter(carried).map(CStr::to_owned).collect()
    }
}
