//! Linux: everything goes by descriptors, so that no path is looked up twice.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Gid, Mode as Bits, OFlags, StatVfsMountFlags, StatxFlags, Uid, fchmod,
    fchown, fcntl_getfl, fcntl_setfl, flock, fstat, fstatfs, fstatvfs, fsync, mkdirat, openat, renameat, statat, statx,
    syncfs, unlinkat,
};
use rustix::io::Errno;

use super::Mode;
use crate::owned::Access;
use crate::owned::stat::{Kind, Stat};
use crate::owned::{Caching, Directory, OwnDir, Space};

/// A directory that is open.
pub(in crate::owned) type Handle = OwnedFd;

/// A file that only the user who runs assay can read and write.
const PRIVATE_FILE: Bits = Bits::RUSR.union(Bits::WUSR);
const USUAL_FILE: Bits = PRIVATE_FILE.union(Bits::RGRP).union(Bits::WGRP).union(Bits::ROTH).union(Bits::WOTH);

/// Numbers of file systems that several hosts may use at once, from linux/magic.h and statfs(2); FUSE is one where
/// no device lies under it.
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

/// Numbers of file systems whose owners and modes are the mount's or the server's, from linux/magic.h and statfs(2).
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

/// Opens a directory, whose links are followed.
pub(in crate::owned) fn open_directory(path: &Path) -> io::Result<Handle> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(CWD, path, flags | OFlags::RDONLY, Bits::empty()) {
        // One that may be written and not be read cannot be listed, and that is all.
        Err(Errno::ACCESS) => Ok(openat(CWD, path, flags | OFlags::PATH, Bits::empty())?),
        opened => Ok(opened?),
    }
}

/// Opens a directory in another; links are not followed.
pub(in crate::owned) fn directory_in(above: &Handle, name: &OsStr) -> io::Result<Handle> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(above, name, flags, Bits::empty())?)
}

/// Whether [`directory_in`] failed as nothing of that name is a directory.
pub(in crate::owned) fn is_no_directory(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// The same directory once more.
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

fn flags(caching: Caching) -> OFlags {
    match caching {
        Caching::Cached => OFlags::empty(),
        Caching::Direct => OFlags::DIRECT,
    }
}

/// Opens a file; links are not followed, and no device waits for anything.
pub(in crate::owned) fn open_file(
    directory: &Handle,
    name: &OsStr,
    access: Access,
    caching: Caching,
) -> io::Result<File> {
    let access = match access {
        Access::Read => OFlags::RDONLY,
        Access::ReadWrite => OFlags::RDWR,
    };
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(directory, name, access | flags(caching) | careful, Bits::empty())?.into())
}

/// After [`open_file`] has given a regular file: a ring gives EAGAIN instead of waiting where a file does not block.
pub(in crate::owned) fn wait_again(file: &File) -> io::Result<()> {
    Ok(fcntl_getfl(file).and_then(|set| fcntl_setfl(file, set - OFlags::NONBLOCK))?)
}

/// Makes a file that must not be there, to be read and written.
pub(in crate::owned) fn make_file(directory: &Handle, name: &OsStr, caching: Caching, mode: Mode) -> io::Result<File> {
    let bits = match mode {
        Mode::Private => PRIVATE_FILE,
        Mode::Usual => USUAL_FILE,
    };
    let new = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags(caching) | new, bits)?.into())
}

/// Makes a directory, for the user who runs assay alone.
pub(in crate::owned) fn make_directory(above: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(mkdirat(above, name, Bits::RWXU)?)
}

/// Removes a file's name.
pub(in crate::owned) fn remove_file(directory: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(directory, name, AtFlags::empty())?)
}

/// Removes an empty directory, which is open as `_own` and was seen to be still what has the name.
pub(in crate::owned) fn remove_directory(above: &Handle, name: &OsStr, _own: &Handle, _stat: &Stat) -> io::Result<()> {
    Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

/// Gives a file another name, and removes what has that; what is to be kept of that was given to the file before.
pub(in crate::owned) fn rename(directory: &Handle, from: &OsStr, to: &OsStr, _keeps: bool) -> io::Result<()> {
    Ok(renameat(directory, from, directory, to)?)
}

/// Returns when the names in it survive a power cut, where the file system lets.
pub(in crate::owned) fn sync_names(directory: &Handle) -> io::Result<()> {
    match fsync(directory) {
        // Some file systems know no such thing for directories, and one that may not be read was not opened for it.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns when all in it and below survives a power cut, and all else on its file system with it.
pub(in crate::owned) fn sync_all(directory: &Handle) -> io::Result<()> {
    Ok(syncfs(directory)?)
}

/// Gives `file` the owner and the mode of the one that it replaces; the owner where the system lets.
pub(in crate::owned) fn keep(old: &Stat, file: &File) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(old.uid), Gid::from_raw(old.gid));
    let given = fchown(file, Some(uid), Some(gid)).is_ok();
    // Bits that act for an owner are not passed on to another.
    let bits = if given { old.mode & 0o7777 } else { old.mode & 0o777 };
    match fchmod(file, Bits::from_raw_mode(bits)) {
        Err(Errno::PERM | Errno::NOTSUP) => Ok(()),
        done => done.map_err(io::Error::from),
    }
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

/// Of what has a name in a directory; links are not followed, nothing is mounted for it.
pub(in crate::owned) fn stat_in(directory: &Handle, name: &OsStr) -> io::Result<Stat> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match of(directory.as_fd(), name, flags) {
        Ok(stat) => Ok(stat),
        Err(Errno::NOSYS | Errno::PERM) => Ok(old(&statat(directory, name, flags)?)),
        Err(error) => Err(error.into()),
    }
}

/// Of a directory that is open.
pub(in crate::owned) fn stat_directory(directory: &Handle) -> io::Result<Stat> {
    stat_open(directory.as_fd())
}

/// Of a file that is open.
pub(in crate::owned) fn stat_file(file: &File) -> io::Result<Stat> {
    stat_open(file.as_fd())
}

fn stat_open(file: BorrowedFd<'_>) -> io::Result<Stat> {
    match of(file, OsStr::new(""), AtFlags::EMPTY_PATH) {
        Ok(stat) => Ok(stat),
        Err(Errno::NOSYS | Errno::PERM) => Ok(old(&fstat(file)?)),
        Err(error) => Err(error.into()),
    }
}

fn of(directory: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> rustix::io::Result<Stat> {
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

/// Unit of `st_blocks` and `stx_blocks`, whatever the file system's block.
const BLOCK: u64 = 512;

/// Without statx(2): kernels before 4.11, and containers that forbid it.
#[allow(clippy::useless_conversion, reason = "the types differ from one architecture to another")]
fn old(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        mode: stat.st_mode & 0o7777,
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

fn kind(of: FileType) -> Kind {
    match of {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
        FileType::Unknown => Kind::Unknown,
    }
}

/// Takes a lock of the whole file without waiting; false where another has it. Some file systems have no locks:
/// there each has it.
pub(in crate::owned) fn lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL | Errno::BADF) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Gives it back. To close the file is not enough: a process that another thread starts has a copy of it until it runs
/// its own program, and the lock lasts as long as any copy (flock(2)).
pub(in crate::owned) fn unlock(file: &File) {
    let _ = flock(file, FlockOperation::Unlock);
}

/// Whether another has the lock of a file that is open to be read.
pub(in crate::owned) fn is_taken(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

/// Whether other hosts may use the file system at the same time.
pub(in crate::owned) fn is_shared(directory: &Handle, dev: (u32, u32)) -> bool {
    let kind = fstatfs(directory).map_or(0, |fs| fs.f_type as u32);
    SHARED.contains(&kind) || kind == FUSE && dev.0 == 0
}

/// A number that is new at each start of the host (random(4)).
pub(in crate::owned) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Whether the file system has no owners and modes of its own. Where the system does not say, it has.
pub(in crate::owned) fn keeps_no_owners(directory: &Handle) -> bool {
    fstatfs(directory).is_ok_and(|fs| KEEP_NO_OWNERS.contains(&(fs.f_type as u32)))
}

/// The user who runs assay.
pub(in crate::owned) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl AsFd for OwnDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory().as_fd()
    }
}
