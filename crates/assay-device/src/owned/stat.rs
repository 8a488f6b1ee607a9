//! What the system says of a file, in the parts that tell whose it is.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FileType, StatxFlags, fstat, statat, statx};
use rustix::io::Errno;

use super::error::Cause;

/// Parts of `struct statx` (statx(2)).
#[derive(Debug, Clone, Copy)]
pub(super) struct Stat {
    pub(super) kind: FileType,
    /// Permission bits.
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) links: u64,
    pub(super) bytes: u64,
    /// Space taken in units of 512 bytes, whatever the file system's block.
    pub(super) blocks: u64,
    ino: u64,
    pub(super) dev: (u32, u32),
    /// The mount, which tells more than the device: a directory may be mounted on another of its own file
    /// system, and an overlay's files have devices of their own. Linux 5.8 and later.
    mount: Option<u64>,
}

impl Stat {
    /// Of what has a name in a directory; links are not followed, nothing is mounted for it.
    pub(super) fn at(directory: impl AsFd, name: &OsStr) -> io::Result<Self> {
        let directory = directory.as_fd();
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        match of(directory, name, flags) {
            Ok(stat) => Ok(stat),
            Err(Errno::NOSYS | Errno::PERM) => Ok(Self::old(&statat(directory, name, flags)?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Of what is open.
    pub(super) fn open(file: impl AsFd) -> io::Result<Self> {
        let file = file.as_fd();
        match of(file, OsStr::new(""), AtFlags::EMPTY_PATH) {
            Ok(stat) => Ok(stat),
            Err(Errno::NOSYS | Errno::PERM) => Ok(Self::old(&fstat(file)?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Without statx(2): kernels before 4.11, and containers that forbid it.
    #[allow(clippy::useless_conversion, reason = "the types differ from one architecture to another")]
    fn old(stat: &rustix::fs::Stat) -> Self {
        Self {
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            links: u64::try_from(stat.st_nlink).unwrap_or(u64::MAX),
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
            ino: stat.st_ino,
            dev: (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev)),
            mount: None,
        }
    }

    /// Whether both are the same file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.ino, self.dev) == (other.ino, other.dev)
    }

    /// Whether both are reached through the same mount.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        match (self.mount, other.mount) {
            (Some(one), Some(other)) => one == other,
            _ => self.dev == other.dev,
        }
    }

    pub(super) fn must_be(&self, wanted: FileType) -> Result<(), Cause> {
        if self.kind == wanted {
            return Ok(());
        }
        Err(Cause::Kind { is: word(self.kind), wanted: word(wanted) })
    }
}

fn of(directory: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> rustix::io::Result<Stat> {
    let stat = statx(directory, name, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)?;
    let known = StatxFlags::from_bits_retain(stat.stx_mask);
    Ok(Stat {
        kind: FileType::from_raw_mode(u32::from(stat.stx_mode)),
        mode: u32::from(stat.stx_mode) & 0o7777,
        uid: stat.stx_uid,
        gid: stat.stx_gid,
        links: u64::from(stat.stx_nlink),
        bytes: stat.stx_size,
        blocks: stat.stx_blocks,
        ino: stat.stx_ino,
        dev: (stat.stx_dev_major, stat.stx_dev_minor),
        mount: known.contains(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
    })
}

fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    }
}
