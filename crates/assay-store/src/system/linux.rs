//! Linux.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock, fsync, statfs, statvfs};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use rustix::rand::{GetRandomFlags, getrandom};

use super::{Inode, Need, ProcessState, Refusal};

/// Variables that give a directory for the store, each with the path below it, in order of precedence.
pub(crate) const HOMES: [(&str, &str); 2] = [("XDG_DATA_HOME", "assay"), ("HOME", ".local/share/assay")];

/// Fills `bytes` from the kernel.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match getrandom(rest, GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Returns when the names in the directory survive a power cut.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    match synced {
        // Directories that may be used but not read, and file systems that cannot sync directories (fsync(2)).
        Err(error)
            if matches!(error.raw_os_error().map(Errno::from_raw_os_error), Some(Errno::ACCESS | Errno::INVAL)) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Returns when the names in an open directory survive a power cut.
pub(crate) fn sync_open(directory: impl AsFd) -> io::Result<()> {
    Ok(fsync(directory)?)
}

/// Kind of a directory's file system, as statfs(2) gives it.
pub(crate) fn kind_of(dir: &Path) -> io::Result<u64> {
    Ok(statfs(dir)?.f_type as u64 & 0xffff_ffff)
}

/// Whether the file system of a directory has no block or no inode left.
pub(crate) fn is_full(dir: &Path) -> bool {
    statvfs(dir).is_ok_and(|fs| fs.f_bavail == 0 || (fs.f_files > 0 && fs.f_favail == 0))
}

/// Boot id of the host (random(4)); empty if unknown.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Name space of process numbers (pid_namespaces(7)); empty if unknown.
pub(crate) fn process_numbers() -> String {
    fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default()
}

/// State of a process: field 22 of `/proc/PID/stat` in clock ticks since boot (proc(5)).
pub(crate) fn process(pid: u32) -> ProcessState {
    look_of_stat(pid, fs::read(format!("/proc/{pid}/stat")))
}

/// State according to the result of reading `/proc/PID/stat`.
fn look_of_stat(pid: u32, stat: std::io::Result<Vec<u8>>) -> ProcessState {
    match stat {
        Ok(stat) => match parse_stat(&String::from_utf8_lossy(&stat)) {
            // A killed process remains a zombie until its parent waits for it.
            Some(('Z' | 'X' | 'x', _)) => ProcessState::Gone,
            Some((_, start_time)) => ProcessState::There(start_time),
            None => ProcessState::Hidden,
        },
        // /proc may be missing, or hide the processes of other users (hidepid=2): the kernel is asked.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            match i32::try_from(pid).ok().and_then(Pid::from_raw).map(test_kill_process) {
                None | Some(Err(Errno::SRCH)) => ProcessState::Gone,
                Some(_) => ProcessState::Hidden,
            }
        }
        // ESRCH: it ended between open and read.
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => ProcessState::Gone,
        Err(_) => ProcessState::Hidden,
    }
}

/// State (field 3) and start time (field 22) of `/proc/PID/stat`. Field 2 is the name in parentheses, which may itself
/// contain spaces and parentheses, so counting starts after the last one.
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_ends_while_it_is_read_is_gone_and_one_that_is_hidden_is_not() {
        let of = |errno: Errno| look_of_stat(std::process::id(), Err(errno.into()));
        assert!(matches!(of(Errno::SRCH), ProcessState::Gone));
        assert!(matches!(of(Errno::ACCESS), ProcessState::Hidden));
        assert!(matches!(of(Errno::NOENT), ProcessState::Hidden), "the kernel knows it");
    }

    #[test]
    fn a_process_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "77 (a) S (b c) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
        assert_eq!(parse_stat(stat), Some(('R', 4711)));
        assert_eq!(parse_stat("77 (a"), None);
        assert_eq!(parse_stat("77 (a) R 1 2"), None);
    }
}
