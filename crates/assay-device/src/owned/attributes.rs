//! Attributes of a file, as far as they tell its owner; how files are opened, and temporary names.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use assay_core::text::harmless;
use assay_core::units::Bytes;

/// Kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
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
    pub(super) kind: EntryKind,
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

    pub(super) fn must_be(&self, wanted: EntryKind) -> Result<(), Cause> {
        if self.kind == wanted {
            return Ok(());
        }
        Err(Cause::Kind { is: word(self.kind), wanted: word(wanted) })
    }
}

fn word(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "a file",
        EntryKind::Directory => "a directory",
        EntryKind::Link => "a symbolic link",
        EntryKind::Pipe => "a named pipe",
        EntryKind::Socket => "a socket",
        EntryKind::Device => "a device",
        EntryKind::Unknown => "of an unknown kind",
    }
}

// How a file is opened, and the space of its file system, in terms that all systems share.

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To be read.
    Read,
    /// To be read and written.
    ReadWrite,
}

/// Whether a file is accessed through the system's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// The usual way to open a file.
    Cached,
    /// Past the cache: `O_DIRECT` of open(2), `FILE_FLAG_NO_BUFFERING` of CreateFileW.
    Direct,
}

/// How an existing file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenHow {
    /// The access.
    pub(super) access: Access,
    /// Through the system's cache, or past it.
    pub(super) caching: Caching,
}

/// Size and room of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// All of it in bytes.
    pub bytes: u64,
    /// What this user may still write, in bytes.
    pub free_bytes: u64,
    /// Whether nothing can be written there.
    pub read_only: bool,
}

// Unpredictable temporary names.

const PREFIX: &str = "new-";
/// Digits of a 64 bit number in hexadecimal.
const DIGITS: usize = 16;

/// A name for a file that is not complete yet.
pub(super) fn temporary() -> io::Result<String> {
    let mut bytes = [0; 8];
    crate::random(&mut bytes)?;
    Ok(format!("{PREFIX}{:016x}", u64::from_ne_bytes(bytes)))
}

/// Whether a name is a temporary one of [`super::OwnDir::replace_small`], for a file that is not complete yet. A killed
/// process leaves such a file.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    name.strip_prefix(PREFIX).is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

// Errors about files on a medium that should be assay's own.

/// Why something on a medium is not created, opened or removed: one line, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum OwnedError {
    /// Something that assay did not make has a name that assay uses.
    #[error("{path}: {cause}, so assay did not make it and leaves it alone; move it away")]
    Foreign {
        /// Path, safe to show.
        path: String,
        /// How that is known.
        cause: Cause,
    },
    /// It does not exist, or exists and should not, or the system refuses.
    #[error("{path}: {source}")]
    Io {
        /// Path, safe to show.
        path: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// How something is known not to be assay's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A link, pipe, socket, device or directory where a file was expected, or a file instead of a directory.
    #[error("{is} and not {wanted}")]
    Kind {
        /// What it is.
        is: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// A file that has other names too.
    #[error("a file with {0} names")]
    Links(u64),
    /// It belongs to another user.
    #[error("of user {is} and not of user {wanted}")]
    Owner {
        /// Its owner.
        is: u32,
        /// The expected owner.
        wanted: u32,
    },
    /// A directory that others may write in.
    #[error("a directory that others may write in (mode {0:03o})")]
    Mode(u32),
    /// Something is mounted on it.
    #[error("on another mount than the directory it lies in")]
    Mount,
    /// Its name now belongs to something else than what was opened.
    #[error("not what had this name before")]
    Replaced,
    /// More bytes than assay writes there.
    #[error("longer than {}", Bytes(*.0))]
    Long(u64),
    /// More names than assay makes there.
    #[error("a directory of more than {0} names")]
    Many(u64),
    /// A name that assay never uses.
    #[error("a name that assay does not use")]
    Name,
    /// Files without the lock that a run of assay makes first.
    #[error("with files and without the lock of a run")]
    Unlocked,
    /// Content that assay does not write.
    #[error("with content that assay does not write ({0})")]
    Content(String),
}

impl OwnedError {
    /// Something foreign under `path`.
    #[must_use]
    pub fn foreign(path: &Path, cause: Cause) -> Self {
        Self::Foreign { path: harmless(&path.to_string_lossy()), cause }
    }

    /// The system's error about `path`.
    #[must_use]
    pub fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: harmless(&path.to_string_lossy()), source: source.into() }
    }

    pub(super) fn at(directory: &Path, name: &OsStr) -> impl Fn(Cause) -> Self {
        let path = directory.join(name);
        move |cause| Self::foreign(&path, cause)
    }

    /// The kind of the system's error; `None` if the system did not refuse.
    #[must_use]
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Foreign { .. } => None,
            Self::Io { source, .. } => Some(source.kind()),
        }
    }
}

impl From<OwnedError> for io::Error {
    /// The system's error with its number, so that a failing medium is distinguished from a hostile one.
    fn from(error: OwnedError) -> Self {
        match error {
            OwnedError::Io { source, .. } => source,
            foreign @ OwnedError::Foreign { .. } => Self::new(io::ErrorKind::InvalidData, foreign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_is_known_again_and_is_never_the_same() {
        let (one, other) = (temporary().unwrap(), temporary().unwrap());
        assert!(is_temporary(&one) && is_temporary(&other) && one != other);
        assert!(!is_temporary("new-") && !is_temporary("new-0123456789abcdeg") && !is_temporary("state.json"));
    }
}
