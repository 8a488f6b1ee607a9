//! A directory that assay did not make: the one that was asked for.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, StatVfs, Uid, fchmod, fchown, fcntl_getfl, fcntl_setfl, fstatvfs,
    fsync, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use super::error::{Cause, OwnedError};
use super::names::temporary;
use super::stat::Stat;

/// A file that only the user who runs assay can read and write.
pub(super) const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A directory, opened once.
#[derive(Debug)]
pub struct Directory {
    pub(super) fd: OwnedFd,
    pub(super) path: PathBuf,
    pub(super) stat: Stat,
}

impl Directory {
    /// Opens `path`, whose links are followed: it is what the user named.
    ///
    /// # Errors
    /// The system's, also where it is no directory.
    pub fn open(path: &Path) -> Result<Self, OwnedError> {
        let io = |error: io::Error| OwnedError::io(path, error);
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = match openat(CWD, path, flags | OFlags::RDONLY, Mode::empty()) {
            // One that may be written and not be read cannot be listed, and that is all.
            Err(Errno::ACCESS) => openat(CWD, path, flags | OFlags::PATH, Mode::empty()),
            opened => opened,
        };
        let fd = fd.map_err(|error| io(error.into()))?;
        let stat = Stat::open(&fd).map_err(io)?;
        Ok(Self { fd, path: path.to_owned(), stat })
    }

    /// The same directory once more.
    ///
    /// # Errors
    /// Where no more files can be open.
    pub fn again(&self) -> Result<Self, OwnedError> {
        let fd = self.fd.try_clone().map_err(|error| OwnedError::io(&self.path, error))?;
        Ok(Self { fd, path: self.path.clone(), stat: self.stat })
    }

    /// The path that it was opened by, for messages only.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Major and minor number of the device of its file system.
    #[must_use]
    pub fn device(&self) -> (u32, u32) {
        self.stat.dev
    }

    /// The file system's size and free space.
    ///
    /// # Errors
    /// The system's.
    pub fn space(&self) -> Result<StatVfs, OwnedError> {
        fstatvfs(&self.fd).map_err(|error| OwnedError::io(&self.path, error))
    }

    /// Opens a directory in it to be looked at, whoever made it; `None` where there is none of that name. Links are
    /// not followed.
    ///
    /// # Errors
    /// The system's.
    pub fn inside(&self, name: &str) -> Result<Option<Self>, OwnedError> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => {
                let stat = Stat::open(&fd).map_err(|error| OwnedError::io(&path, error))?;
                Ok(Some(Self { fd, path, stat }))
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(OwnedError::io(&path, error)),
        }
    }

    /// Passes the names in it to `visit`, at most `limit` of them, in no order.
    ///
    /// # Errors
    /// Where there are more, or the system's.
    pub fn names(&self, limit: u64, visit: &mut dyn FnMut(&OsStr)) -> Result<(), OwnedError> {
        let io = |error: Errno| OwnedError::io(&self.path, error);
        let mut seen = 0;
        for entry in Dir::read_from(&self.fd).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            seen += 1;
            if seen > limit {
                return Err(OwnedError::foreign(&self.path, Cause::Many(limit)));
            }
            visit(OsStr::from_bytes(name));
        }
        Ok(())
    }

    /// Size in bytes of a regular file in it, whoever made it; `None` where there is none of that name.
    #[must_use]
    pub fn file_bytes(&self, name: &OsStr) -> Option<u64> {
        Stat::at(&self.fd, name).ok().filter(|stat| stat.kind == FileType::RegularFile).map(|stat| stat.bytes)
    }

    /// Opens a regular file in it to be read, whoever made it; links are not followed, and nothing else is opened.
    ///
    /// # Errors
    /// Where it is no regular file, or the system's.
    pub fn read_file(&self, name: &str, flags: OFlags) -> Result<File, OwnedError> {
        let name = OsStr::new(name);
        self.regular(name, OFlags::RDONLY | flags).map(|(file, _)| file)
    }

    /// Opens a regular file. What it is is looked at before, since opening a device may be enough to make it do
    /// something, and again when it is open.
    pub(super) fn regular(&self, name: &OsStr, flags: OFlags) -> Result<(File, Stat), OwnedError> {
        let io = |error: io::Error| OwnedError::io(&self.path.join(name), error);
        let foreign = OwnedError::at(&self.path, name);
        Stat::at(&self.fd, name).map_err(io)?.must_be(FileType::RegularFile).map_err(&foreign)?;
        let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = openat(&self.fd, name, flags | careful, Mode::empty()).map_err(|error| io(error.into()))?;
        let stat = Stat::open(&fd).map_err(io)?;
        stat.must_be(FileType::RegularFile).map_err(&foreign)?;
        // A ring gives EAGAIN instead of waiting where a file does not block.
        let set = fcntl_getfl(&fd).and_then(|set| fcntl_setfl(&fd, set - OFlags::NONBLOCK));
        set.map_err(|error| io(error.into()))?;
        Ok((File::from(fd), stat))
    }

    /// Makes a file that must not be there, with the permission bits `mode`.
    pub(super) fn make_file(&self, name: &OsStr, flags: OFlags, mode: Mode) -> Result<File, OwnedError> {
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&self.fd, name, flags, mode).map_err(|error| OwnedError::io(&self.path.join(name), error))?;
        Ok(File::from(fd))
    }

    /// Gives a file in it new content, durably: whoever reads it sees the old or the new, also after a crash. What
    /// has that name is replaced whatever it is, but for a directory; mode and owner of a file are kept.
    ///
    /// # Errors
    /// The system's.
    pub fn replace(&self, name: &OsStr, content: &[u8]) -> Result<(), OwnedError> {
        let path = self.path.join(name);
        let io = |error: io::Error| OwnedError::io(&path, error);
        let old = Stat::at(&self.fd, name).ok().filter(|stat| stat.kind == FileType::RegularFile);
        // Nobody else may look before it has the mode that it is to have.
        let mode =
            if old.is_some() { PRIVATE_FILE } else { PRIVATE_FILE | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH };
        self.swap(name, mode, content, &mut |file| match old {
            Some(old) => keep(&old, file),
            None => Ok(()),
        })
        .map_err(io)
    }

    /// Whether a file can be made in it; leaves nothing behind.
    ///
    /// # Errors
    /// The system's.
    pub fn can_make(&self) -> Result<(), OwnedError> {
        let io = |error: io::Error| OwnedError::io(&self.path, error);
        let name = temporary().map_err(io)?;
        drop(self.make_file(OsStr::new(&name), OFlags::WRONLY, PRIVATE_FILE)?);
        unlinkat(&self.fd, &*name, AtFlags::empty()).map_err(|error| io(error.into()))
    }

    /// Writes `content` under a name that nobody can foresee, which then takes the place of `name`.
    pub(super) fn swap(
        &self,
        name: &OsStr,
        mode: Mode,
        content: &[u8],
        prepare: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let new = temporary()?;
        let mut file = self.make_file(OsStr::new(&new), OFlags::WRONLY, mode)?;
        let written = prepare(&file).and_then(|()| file.write_all(content)).and_then(|()| file.sync_data());
        let renamed = written.and_then(|()| Ok(renameat(&self.fd, &*new, &self.fd, name)?));
        renamed.inspect_err(|_| {
            let _ = unlinkat(&self.fd, &*new, AtFlags::empty());
        })?;
        match fsync(&self.fd) {
            // Some file systems know no such thing for directories, and one that may not be read was not opened for it.
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Path of something in it, for messages only.
    pub(super) fn shown(&self, name: impl Into<OsString>) -> PathBuf {
        self.path.join(name.into())
    }
}

/// Gives `file` the owner and the mode of the one that it replaces; the owner where the system lets.
fn keep(old: &Stat, file: &File) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(old.uid), Gid::from_raw(old.gid));
    let given = fchown(file, Some(uid), Some(gid)).is_ok();
    // Bits that act for an owner are not passed on to another.
    let bits = if given { old.mode & 0o7777 } else { old.mode & 0o777 };
    match fchmod(file, Mode::from_raw_mode(bits)) {
        Err(Errno::PERM | Errno::NOTSUP) => Ok(()),
        done => done.map_err(io::Error::from),
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
