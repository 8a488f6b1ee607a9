//! What all Unix systems share: everything uses descriptors, so that no path is resolved twice.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Gid, Mode as Bits, OFlags, RawMode, SeekFrom, Uid, fchmod, fchown,
    fcntl_getfl, fcntl_setfl, flock, mkdirat, openat, renameat, seek, unlinkat,
};
use rustix::io::Errno;

use super::Mode;
use crate::owned::Access;
use crate::owned::stat::{Kind, Stat};

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

pub(super) fn kind(of: FileType) -> Kind {
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
