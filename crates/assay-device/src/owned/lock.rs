//! The lock by which the living are told from the dead.

use std::fs::File;
use std::io::{self, Write};

use assay_core::text::label;
use rustix::fs::{FlockOperation, OFlags, flock, fstatfs, ftruncate};
use rustix::io::Errno;

use super::error::OwnedError;
use super::own::{Access, OwnDir};
use super::stat::Stat;

/// Longest note in a lock, in bytes: a host's name of 64 and a number of 36 (boot_id of random(4)).
const NOTE: u64 = 256;

/// Numbers of file systems that several hosts may use at once, from linux/magic.h and statfs(2); FUSE is one where
/// no device lies under it.
const SHARED: [u32; 13] = [
    0x6969,      // NFS_SUPER_MAGIC
    0x517b,      // SMB_SUPER_MAGIC
    0xff53_4d42, // CIFS_SUPER_MAGIC
    0xfe53_4d42, // SMB2_SUPER_MAGIC
    0x5346_414f, // AFS_SUPER_MAGIC
    0x7375_7245, // CODA_SUPER_MAGIC
    0x00c3_6400, // CEPH_SUPER_MAGIC
    0x0102_1997, // V9FS_MAGIC
    0x0116_1970, // GFS2_MAGIC
    0x7461_636f, // OCFS2_SUPER_MAGIC
    0x0bd0_0bd3, // LL_SUPER_MAGIC: Lustre
    0x2003_0528, // ORANGEFS_DEVREQ_MAGIC
    0x786f_4256, // VBOXSF_SUPER_MAGIC
];
const FUSE: u32 = 0x6573_5546;

/// A lock, held until dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// To close the file is not enough: a process that another thread starts has a copy of it until it runs its own
    /// program, and the lock lasts as long as any copy (flock(2)).
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Whether a lock could be taken.
#[derive(Debug)]
pub enum Locked {
    /// It is held now.
    Held(Lock),
    /// Another process has it.
    Taken,
    /// It was made by another host, on a file system where a lock may hold for one host only; whether that one
    /// still lives cannot be told from here. The name is that host's, as it may be shown.
    Elsewhere(String),
    /// The file or its directory was removed meanwhile.
    Gone,
}

impl OwnDir {
    /// Takes the lock that lies in the file `name`, which is made where it is missing. Does not wait.
    ///
    /// # Errors
    /// Where what has that name is not assay's, or the system's.
    pub fn lock(&self, name: &str) -> Result<Locked, OwnedError> {
        let io = |error: Errno| OwnedError::io(&self.path().join(name), error);
        let mut file = match self.create_file(name, OFlags::empty()) {
            Err(error) if error.kind() == Some(io::ErrorKind::AlreadyExists) => {
                match self.open_file(name, Access::ReadWrite, OFlags::empty()) {
                    Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(Locked::Gone),
                    opened => opened?,
                }
            }
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(Locked::Gone),
            made => made?,
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Ok(Locked::Taken),
            // Some file systems have no locks; what is written in it is all there is then.
            Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL | Errno::BADF) => {}
            Err(error) => return Err(io(error)),
        }
        let note = self.read_small(name, NOTE)?.unwrap_or_default();
        let here = Host::here();
        if is_shared(self)
            && let Some(host) = elsewhere(&note, &here)
        {
            return Ok(Locked::Elsewhere(host));
        }
        // Whoever removes a directory holds its lock: what is in place now stays until this lock is dropped.
        let same = Stat::open(&file).ok().zip(Stat::at(self, name.as_ref()).ok());
        if !same.is_some_and(|(open, named)| open.is_same(&named)) || !self.is_in_place() {
            return Ok(Locked::Gone);
        }
        if note != here.note().as_bytes() {
            // A medium that is full or fails has its own errors later.
            let _ = ftruncate(&file, 0).map_err(io::Error::from).and_then(|()| file.write_all(here.note().as_bytes()));
        }
        Ok(Locked::Held(Lock { file }))
    }

    /// Whether somebody holds the lock, or may hold it on another host; nothing is made for that.
    #[must_use]
    pub fn is_locked(&self, name: &str) -> bool {
        let Ok(file) = self.open_file(name, Access::Read, OFlags::empty()) else { return false };
        if flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK) {
            return true;
        }
        let note = self.read_small(name, NOTE).ok().flatten().unwrap_or_default();
        is_shared(self) && elsewhere(&note, &Host::here()).is_some()
    }
}

/// Whether other hosts may use the file system at the same time.
fn is_shared(directory: &OwnDir) -> bool {
    let kind = fstatfs(directory).map_or(0, |fs| fs.f_type as u32);
    SHARED.contains(&kind) || kind == FUSE && directory.directory().device().0 == 0
}

/// One start of a host.
struct Host {
    name: String,
    /// A number that is new at each start (random(4)).
    boot: String,
}

impl Host {
    fn here() -> Self {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { name: label(&name, 64).unwrap_or_default(), boot: boot.trim().to_owned() }
    }

    fn note(&self) -> String {
        format!("{} {}\n", self.boot, self.name)
    }
}

/// The host that wrote a note, where that is not this one; nothing was written by whoever was killed before.
fn elsewhere(note: &[u8], here: &Host) -> Option<String> {
    let note = String::from_utf8_lossy(note);
    let (boot, name) = note.trim_end().split_once(' ')?;
    (boot != here.boot).then(|| label(name, 64).unwrap_or_else(|| "another host".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owned::Directory;

    #[test]
    fn a_lock_is_held_once_and_not_in_a_directory_that_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let parent = Directory::open(place.path()).unwrap();
        let own = parent.make("own").unwrap();
        let held = own.lock("lock").unwrap();
        assert!(matches!(held, Locked::Held(_)), "{held:?}");
        assert!(matches!(parent.own("own").unwrap().unwrap().lock("lock").unwrap(), Locked::Taken));
        assert!(own.is_locked("lock"));
        drop(held);
        assert!(!own.is_locked("lock"));
        let second = parent.own("own").unwrap().unwrap();
        assert!(matches!(second.lock("lock").unwrap(), Locked::Held(_)));
        // As another run does that takes it for abandoned.
        own.remove("lock").unwrap();
        own.remove_self().unwrap();
        assert!(matches!(second.lock("lock").unwrap(), Locked::Gone));
        parent.make("own").unwrap();
        assert!(matches!(second.lock("lock").unwrap(), Locked::Gone), "another of that name");
    }

    #[test]
    fn a_lock_ends_though_a_process_that_is_being_started_has_its_file_still() {
        let place = tempfile::tempdir().unwrap();
        let own = Directory::open(place.path()).unwrap().make("own").unwrap();
        let Locked::Held(held) = own.lock("lock").unwrap() else { panic!("not held") };
        let copy = held.file.try_clone().unwrap();
        drop(held);
        assert!(!own.is_locked("lock"));
        drop(copy);
    }

    /// Threat 27: a lock on a network file system may hold for one host only.
    #[test]
    fn what_another_host_made_is_told_from_what_this_one_made() {
        let here = Host { name: "here".to_owned(), boot: "b1".to_owned() };
        assert_eq!(elsewhere(here.note().as_bytes(), &here), None);
        assert_eq!(elsewhere(b"", &here), None);
        assert_eq!(elsewhere(b"b2 other\x1b[2J\n", &here).as_deref(), Some("other\u{fffd}[2J"));
        assert_eq!(elsewhere(b"b0 here\n", &here).as_deref(), Some("here"), "before this start");
    }
}
