//! Whom that belongs to what assay makes in a place.
//!
//! On most file systems that is the user who runs it. FAT and its like keep no owners: everything belongs to whom
//! the mount says. Servers may give what root makes to somebody else (root_squash, exports(5)).

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat, unlinkat};

use super::error::Cause;
use super::names::temporary;
use super::stat::Stat;

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

/// Whether the file system has no owners and modes of its own. Where the system does not say, it has.
pub(super) fn keeps_no_owners(file: impl AsFd) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|fs| KEEP_NO_OWNERS.contains(&(fs.f_type as u32)))
}

/// The user to whom all in an own directory belongs. `made` says that it was made just now.
pub(super) fn owner(directory: impl AsFd, own: &Stat, parent: &Stat, made: bool) -> Result<u32, Cause> {
    let directory = directory.as_fd();
    let me = rustix::process::geteuid().as_raw();
    let free = keeps_no_owners(directory);
    if !free && own.mode & 0o022 != 0 {
        return Err(Cause::Mode(own.mode & 0o777));
    }
    let mine = own.uid == me || free && own.uid == parent.uid;
    if mine || made && learned(directory).is_ok_and(|given| given == own.uid) {
        return Ok(own.uid);
    }
    Err(Cause::Owner { is: own.uid, wanted: me })
}

/// To whom a file belongs that is made there.
fn learned(directory: impl AsFd) -> io::Result<u32> {
    let (directory, name) = (directory.as_fd(), temporary()?);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(directory, &name, flags, Mode::RUSR | Mode::WUSR)?;
    let uid = Stat::open(&file).map(|stat| stat.uid);
    unlinkat(directory, &name, rustix::fs::AtFlags::empty())?;
    uid
}
