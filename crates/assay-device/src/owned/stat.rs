//! Attributes of a file, as far as they tell its owner.

use super::error::Cause;

/// Kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// Also other entries that lead elsewhere: junctions and other reparse points of Windows.
    Link,
    #[cfg_attr(windows, allow(dead_code, reason = "they have no names in directories there"))]
    Pipe,
    #[cfg_attr(windows, allow(dead_code, reason = "they have no names in directories there"))]
    Socket,
    Device,
    #[cfg_attr(windows, allow(dead_code, reason = "all kinds are known there"))]
    Unknown,
}

/// Parts of `struct statx` (statx(2)), or what a Windows handle reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stat {
    pub(super) kind: Kind,
    /// Permission bits; 0 where the system has none.
    pub(super) mode: u32,
    /// Numbers of user and group; 0 where the system has none.
    pub(super) uid: u32,
    #[cfg_attr(windows, allow(dead_code, reason = "there is none"))]
    pub(super) gid: u32,
    pub(super) links: u64,
    pub(super) bytes: u64,
    /// Space taken in bytes.
    pub(super) taken_bytes: u64,
    /// Number of the file in its file system.
    pub(super) number: u128,
    pub(super) dev: (u32, u32),
    /// The mount, which is more exact than the device: a directory may be mounted on another one of its own file
    /// system, and an overlay's files have devices of their own. Linux 5.8 and later.
    pub(super) mount: Option<u64>,
}

impl Stat {
    /// Whether both are the same file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.number, self.dev) == (other.number, other.dev)
    }

    /// Whether both are reached through the same mount.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        match (self.mount, other.mount) {
            (Some(one), Some(other)) => one == other,
            _ => self.dev == other.dev,
        }
    }

    pub(super) fn must_be(&self, wanted: Kind) -> Result<(), Cause> {
        if self.kind == wanted {
            return Ok(());
        }
        Err(Cause::Kind { is: word(self.kind), wanted: word(wanted) })
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Directory => "a directory",
        Kind::Link => "a symbolic link",
        Kind::Pipe => "a named pipe",
        Kind::Socket => "a socket",
        Kind::Device => "a device",
        Kind::Unknown => "of an unknown kind",
    }
}
