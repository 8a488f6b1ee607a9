//! The data directory of the store and its file, before SQLite opens them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_core::private;

use crate::error;
use crate::error::StoreError;
use crate::system::{self, HOMES};
pub(crate) use crate::system::{Inode, Need, kind_of};

/// Name of the store within the data directory.
const NAME: &str = "assay.sqlite";
/// Suffixes of all files that belong to it.
const ENDS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The data directory: `ASSAY_DATA`, else `$XDG_DATA_HOME/assay`, else `$HOME/.local/share/assay`; on Windows
/// `ASSAY_DATA`, else `%LOCALAPPDATA%\assay`.
///
/// According to the XDG Base Directory Specification 0.8, a relative `XDG_DATA_HOME` is invalid and ignored. Empty
/// variables count as not set.
///
/// # Errors
/// [`StoreError::NoHome`] if no variable names a directory.
pub fn data_dir(env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(own) = path("ASSAY_DATA") {
        return Ok(own);
    }
    let mut homes = HOMES.into_iter().filter_map(|(name, below)| Some(path(name)?.join(below)));
    homes.find(|home| home.is_absolute()).ok_or(StoreError::NoHome)
}

/// Names of the files of a store in its directory.
pub fn store_files() -> impl Iterator<Item = String> {
    ENDS.iter().map(|end| format!("{NAME}{end}"))
}

pub(crate) fn store_in(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Creates the data directory, or one in it, with missing parents, for this user only: serial numbers and host names
/// are stored there. An existing directory is left as it is.
///
/// # Errors
/// [`StoreError::NotADirectory`], or the system's refusal.
pub fn make_directory(dir: &Path) -> Result<(), StoreError> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|at| !at.as_os_str().is_empty() && !at.is_dir()).collect();
    match private::directories().recursive(true).create(dir) {
        // A parent may be new too; a power cut would then remove the store with it.
        Ok(()) => missing
            .into_iter()
            .filter_map(Path::parent)
            .try_for_each(sync_directory)
            .map_err(|error| error::system("create", dir, error)),
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory) => {
            Err(StoreError::NotADirectory { path: in_the_way(dir) })
        }
        Err(error) => Err(error::system("create", dir, error)),
    }
}

/// Returns when the names in the directory survive a power cut.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    system::sync_directory(dir)
}

/// Creates the file for this user only, unless it exists; SQLite gives its -wal and -shm the same mode. An existing
/// file is never opened: closing it would release the locks that another connection of this process holds (POSIX locks,
/// fcntl_locking(2)).
pub(crate) fn make_file(file: &Path) -> Result<(), StoreError> {
    match private::file().write(true).create_new(true).open(file) {
        // SQLite syncs the directory for its log, but not for the file itself.
        Ok(_) => file.parent().map_or(Ok(()), sync_directory).map_err(|error| error::system("create", file, error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error::system("create", file, error)),
    }
}

/// What is at the path of the store.
pub(crate) enum FoundStore {
    Nothing,
    Empty,
    File { bytes: u64 },
}

/// Inspects the path without changing anything.
pub(crate) fn look(file: &Path) -> Result<FoundStore, StoreError> {
    match fs::metadata(file) {
        Ok(meta) if !meta.is_file() => Err(StoreError::NotAFile { path: file.to_owned() }),
        Ok(meta) if meta.len() == 0 => Ok(FoundStore::Empty),
        Ok(meta) => Ok(FoundStore::File { bytes: meta.len() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(FoundStore::Nothing),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(StoreError::NotADirectory { path: in_the_way(file.parent().unwrap_or(file)) })
        }
        Err(error) => Err(error::system("read", file, error)),
    }
}

/// The identity of the file at a path.
pub(crate) fn inode(file: &Path) -> Result<Inode, StoreError> {
    system::inode(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => StoreError::Moved { path: file.to_owned() },
        _ => error::system("read", file, error),
    })
}

/// Refuses a store if one of its files has other names. SQLite finds its log by the name of the database: two names
/// have two logs, and each is replayed into the same file without the other
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.4).
pub(crate) fn must_have_one_name(file: &Path) -> Result<(), StoreError> {
    for end in ENDS {
        let path = beside(file, end);
        match system::inode(&path) {
            Ok(Inode { names, .. }) if names > 1 => return Err(StoreError::Linked { path, names }),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error::system("read", &path, error)),
        }
    }
    Ok(())
}

/// Path of a file that belongs to the store.
fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns the system's refusal unless `path` may be used for `need`.
pub(crate) fn may(action: &'static str, path: &Path, need: Need) -> Result<(), StoreError> {
    system::may(path, need).map_err(|error| error::system(action, path, error))
}

/// The topmost of the directory and its ancestors that exists but is not a directory.
fn in_the_way(dir: &Path) -> PathBuf {
    let mut ancestors: Vec<&Path> = dir.ancestors().collect();
    ancestors.reverse();
    let blocks = |path: &&&Path| fs::metadata(path).is_ok_and(|meta| !meta.is_dir());
    ancestors.iter().find(blocks).map_or(dir, |path| *path).to_owned()
}

/// Bytes in the write-ahead log beside the store.
pub(crate) fn log_bytes(file: &Path) -> u64 {
    fs::metadata(beside(file, "-wal")).map_or(0, |meta| meta.len())
}

/// Held while a store is created or migrated, so that two first runs do not interfere. A lock on the directory needs no
/// file of its own, and ends with the process.
pub(crate) struct SetUp(#[expect(dead_code, reason = "the lock lives as long as the open file")] Option<File>);

pub(crate) fn lock_set_up(dir: &Path, file: &Path, busy_timeout: Duration) -> Result<SetUp, StoreError> {
    let open = system::open_set_up(dir, file).map_err(|error| error::system("read", dir, error))?;
    let end = Instant::now() + busy_timeout;
    loop {
        match system::lock(&open) {
            Ok(()) => return Ok(SetUp(Some(open))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= end {
                    return Err(StoreError::Locked { path: file.to_owned() });
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            // Some network file systems cannot lock directories; SQLite's own locks remain.
            Err(_) => return Ok(SetUp(None)),
        }
    }
}

/// Whether other hosts may have the same file open. A write-ahead log needs memory shared by all its users, so it must
/// not be used there (<https://www.sqlite.org/wal.html>). Magic numbers of statfs(2) and linux/magic.h.
pub(crate) fn is_network(magic: u64) -> bool {
    matches!(
        magic,
        0x6969          // NFS
        | 0x517b        // SMB
        | 0xff53_4d42   // CIFS
        | 0xfe53_4d42   // SMB2
        | 0x0102_1997   // 9P
        | 0x00c3_6400   // Ceph
        | 0x5346_414f   // AFS (OpenAFS)
        | 0x6b41_4653   // AFS (kernel)
        | 0x7375_7245   // Coda
        | 0x0116_1970   // GFS2
        | 0x7461_636f   // OCFS2
        | 0x6573_5546 // FUSE: sshfs, GlusterFS and others
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        assert!(is_network(0x6969));
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0xf2f5_2010] {
            assert!(!is_network(local), "{local:x}"); // ext4, tmpfs, btrfs, xfs, f2fs
        }
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let stone = dir.path().join("stone");
        fs::write(&stone, "x").unwrap();
        for below in [stone.clone(), stone.join("a"), stone.join("a/b")] {
            let error = make_directory(&below).unwrap_err();
            assert!(matches!(&error, StoreError::NotADirectory { path } if *path == stone), "{error}");
        }
    }

    fn with(variables: &[(&str, &str)]) -> Result<PathBuf, StoreError> {
        data_dir(&|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
    }

    #[cfg(not(windows))]
    #[test]
    fn the_own_variable_wins_over_xdg_and_home() {
        let all = [("ASSAY_DATA", "/a"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(with(&all).unwrap(), PathBuf::from("/a"));
        assert_eq!(with(&all[1..]).unwrap(), PathBuf::from("/x/assay"));
        assert_eq!(with(&all[2..]).unwrap(), PathBuf::from("/h/.local/share/assay"));
        assert_eq!(with(&[("ASSAY_DATA", "here")]).unwrap(), PathBuf::from("here"));
    }

    #[cfg(not(windows))]
    #[test]
    fn empty_and_relative_variables_are_passed_over() {
        let odd = [("ASSAY_DATA", ""), ("XDG_DATA_HOME", "relative"), ("HOME", "/h")];
        assert_eq!(with(&odd).unwrap(), PathBuf::from("/h/.local/share/assay"));
    }

    #[test]
    fn without_a_home_the_error_says_what_to_set() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "x")]] {
            let error = with(variables).unwrap_err();
            assert!(matches!(error, StoreError::NoHome));
            assert!(error.to_string().contains("set ASSAY_DATA"), "{error}");
        }
    }
}
