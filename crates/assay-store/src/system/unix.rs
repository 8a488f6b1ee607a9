//! Functions that all Unix systems share.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock};
use rustix::io::Errno;

use super::{Inode, Need, Refusal};

/// Converts a path to bytes for [`path_of`].
#[must_use]
pub fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Converts bytes back to a path.
#[must_use]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Converts a path to bytes in a URI, where it begins with a slash.
pub(crate) fn path_in_uri(path: &Path) -> Vec<u8> {
    bytes_of(path)
}

/// The identity of the file at a path.
pub(crate) fn inode(file: &Path) -> io::Result<Inode> {
    fs::metadata(file).map(|meta| Inode { device: meta.dev(), number: meta.ino(), names: meta.nlink() })
}

/// Fails unless `path` may be used for `need`.
pub(crate) fn may(path: &Path, need: Need) -> io::Result<()> {
    let how = match need {
        Need::Read => Access::READ_OK,
        Need::ReadWrite => Access::READ_OK | Access::WRITE_OK,
        Need::MakeIn => Access::WRITE_OK | Access::EXEC_OK,
    };
    Ok(access(path, how)?)
}

/// Opens the directory `dir`, which is locked while a store in it is set up. This needs no extra file.
pub(crate) fn open_set_up(dir: &Path, _file: &Path) -> io::Result<File> {
    File::open(dir)
}

/// Takes the lock on a file from [`open_set_up`] without waiting; an error of the kind [`io::ErrorKind::WouldBlock`] if
/// another process holds it. It ends with the file.
pub(crate) fn lock(open: &File) -> io::Result<()> {
    Ok(flock(open, FlockOperation::NonBlockingLockExclusive)?)
}

/// Why the system refuses something.
pub(crate) fn refusal(error: &io::Error) -> Option<Refusal> {
    match error.raw_os_error().map(Errno::from_raw_os_error)? {
        Errno::ACCESS => Some(Refusal::Permission),
        // EPERM: the file or directory is immutable (chattr +i).
        Errno::ROFS | Errno::PERM => Some(Refusal::ReadOnly),
        Errno::NOSPC | Errno::DQUOT => Some(Refusal::Full),
        Errno::NOTDIR => Some(Refusal::NotADirectory),
        _ => None,
    }
}

/// Name of the host.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
