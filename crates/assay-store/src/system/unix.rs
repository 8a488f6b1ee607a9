//! What any Unix has.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock};
use rustix::io::Errno;

use super::{Inode, Need, Refusal};

/// A path as bytes that [`path_of`] reads.
#[must_use]
pub fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path whose bytes these are.
#[must_use]
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// A path as bytes in a URI, where it begins with a slash.
pub(crate) fn path_in_uri(path: &Path) -> Vec<u8> {
    bytes_of(path)
}

/// Which file stands at a path.
pub(crate) fn inode(file: &Path) -> io::Result<Inode> {
    fs::metadata(file).map(|meta| Inode { device: meta.dev(), number: meta.ino(), names: meta.nlink() })
}

/// Whether `path` may be used so.
pub(crate) fn may(path: &Path, need: Need) -> io::Result<()> {
    let how = match need {
        Need::Read => Access::READ_OK,
        Need::ReadWrite => Access::READ_OK | Access::WRITE_OK,
        Need::MakeIn => Access::WRITE_OK | Access::EXEC_OK,
    };
    Ok(access(path, how)?)
}

/// Opens what is locked while a store in `dir` is set up: the directory, which needs no file of its own.
pub(crate) fn open_set_up(dir: &Path, _file: &Path) -> io::Result<File> {
    File::open(dir)
}

/// Takes the lock of what was opened for that without waiting; an error of the kind [`io::ErrorKind::WouldBlock`] where
/// another has it. It ends with the file.
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
