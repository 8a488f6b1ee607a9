//! The lock that shows whether a process is still running, and the removal of a directory with its lock.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use assay_core::text::label;

use super::attributes::{Access, Caching, OwnedError};
use super::own::{OwnDir, is_hidden};
use super::system;

/// Longest note in a lock, in bytes: a host's name of 64 and a number of 36 (boot_id of random(4)).
const NOTE: u64 = 256;

/// A lock, held until dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        system::unlock(&self.file);
    }
}

/// Whether a lock could be taken.
#[derive(Debug)]
pub enum Locked {
    /// It is held now.
    Held(Lock),
    /// Another process holds it.
    Taken,
    /// It was made by another host, on a file system where a lock may hold for one host only. Whether that host is
    /// still using it is unknown. The name is that of the host, safe to show.
    Elsewhere(String),
    /// The file or its directory was removed meanwhile.
    Gone,
}

impl OwnDir {
    /// Takes the lock in the file `name`, which is created if it is missing. Does not wait.
    ///
    /// # Errors
    /// Where something with that name is not assay's, or the system's.
    pub fn lock(&self, name: &str) -> Result<Locked, OwnedError> {
        let io = |error: io::Error| OwnedError::io(&self.path().join(name), error);
        let mut file = match self.create_file(name, Caching::Cached) {
            Err(error) if error.kind() == Some(io::ErrorKind::AlreadyExists) => {
                match self.open_file(name, Access::ReadWrite, Caching::Cached) {
                    Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(Locked::Gone),
                    opened => opened?,
                }
            }
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(Locked::Gone),
            made => made?,
        };
        // If a file system has no locks, only the content of the file can tell.
        if !system::lock(&file).map_err(io)? {
            return Ok(Locked::Taken);
        }
        let note = self.read_small(name, NOTE)?.unwrap_or_default();
        let here = Host::here();
        if is_shared(self)
            && let Some(host) = elsewhere(&note, &here)
        {
            return Ok(Locked::Elsewhere(host));
        }
        // A process that removes a directory holds its lock, so the directory found now stays until this lock is
        // dropped.
        let same = system::stat_file(&file).ok().zip(self.stat_in(name.as_ref()).ok());
        if !same.is_some_and(|(open, named)| open.is_same(&named)) || !self.is_in_place() {
            return Ok(Locked::Gone);
        }
        if note != here.note().as_bytes() {
            // A full or failing medium reports its own errors later.
            let _ = file.set_len(0).and_then(|()| file.write_all(here.note().as_bytes()));
        }
        Ok(Locked::Held(Lock { file }))
    }

    /// Whether the file `name` is a lock that assay made, held or not.
    ///
    /// # Errors
    /// Where something with that name is not assay's, or the system's.
    pub fn has_lock(&self, name: &str) -> Result<bool, OwnedError> {
        Ok(self.read_small(name, NOTE)?.is_some_and(|note| is_note(&note)))
    }

    /// Whether another process holds the lock, or may hold it on another host; creates nothing.
    #[must_use]
    pub fn is_locked(&self, name: &str) -> bool {
        let Ok(file) = self.open_file(name, Access::Read, Caching::Cached) else { return false };
        if system::is_taken(&file) {
            return true;
        }
        let note = self.read_small(name, NOTE).ok().flatten().unwrap_or_default();
        is_shared(self) && elsewhere(&note, &Host::here()).is_some()
    }
}

/// Whether other hosts may use the file system at the same time.
fn is_shared(directory: &OwnDir) -> bool {
    system::is_shared(&directory.directory().handle, directory.directory().device())
}

/// One start of a host.
struct Host {
    name: String,
    /// A value that is new at each start, if the system has one.
    boot: String,
}

impl Host {
    fn here() -> Self {
        let (boot, name) = (system::boot(), crate::host_name());
        Self { name: label(&name, 64).unwrap_or_default(), boot: boot.trim().to_owned() }
    }

    fn note(&self) -> String {
        format!("{} {}\n", self.boot, self.name)
    }
}

/// Whether [`Host::note`] can have written it. A process killed before that leaves nothing; after a power cut, some file
/// systems show zeros for what was not written yet.
fn is_note(note: &[u8]) -> bool {
    let is_line = |text: &str| text.ends_with('\n') && text.lines().count() == 1 && text.contains(' ');
    note.iter().all(|byte| *byte == 0) || std::str::from_utf8(note).is_ok_and(is_line)
}

/// The host that wrote a note, if it is another one. A process killed before that leaves an empty note.
fn elsewhere(note: &[u8], here: &Host) -> Option<String> {
    let note = String::from_utf8_lossy(note);
    let (boot, name) = note.trim_end().split_once(' ')?;
    (boot != here.boot).then(|| label(name, 64).unwrap_or_else(|| "another host".to_owned()))
}

// Removes a directory of assay's own with its lock, even if a server hides files that are still open.

/// Attempts to remove a directory that contains hidden files, and the pause between them.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);
const MOST_HIDDEN: u64 = 100;

impl OwnDir {
    /// Removes the file `name` of the held lock, and then the directory, which must otherwise be empty. A process that
    /// considers it abandoned between the two steps removes it, or is about to.
    ///
    /// # Errors
    /// Where anything else is in it, or the system's.
    pub fn remove_with(&self, name: &str, lock: Option<Lock>) -> Result<(), OwnedError> {
        self.remove(name)?;
        let mut removed = self.remove_self();
        drop(lock);
        for _ in 0..ATTEMPTS {
            let full = removed.as_ref().is_err_and(|error| error.kind() == Some(io::ErrorKind::DirectoryNotEmpty));
            if !full {
                break;
            }
            let hides = self.hides()?;
            removed = self.remove_self();
            if !hides {
                break;
            }
            // The server learns later that a file is closed.
            std::thread::sleep(PAUSE);
        }
        match removed {
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Ok(()),
            Err(error) if error.kind() == Some(io::ErrorKind::DirectoryNotEmpty) => {
                let mut theirs = false;
                match self.entries(1, &|known| known == name, &mut |_| theirs = true) {
                    Err(gone) if gone.kind() == Some(io::ErrorKind::NotFound) => return Ok(()),
                    looked => looked?,
                }
                if theirs {
                    return Ok(());
                }
                // Its content is gone by now, and so is the directory, or soon will be.
                match self.remove_self() {
                    Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Ok(()),
                    Err(again) if again.kind() == Some(io::ErrorKind::DirectoryNotEmpty) => Err(error),
                    removed => removed,
                }
            }
            removed => removed,
        }
    }

    /// Whether it contains a file that was removed while it was open.
    fn hides(&self) -> Result<bool, OwnedError> {
        let mut hides = false;
        self.directory().names(MOST_HIDDEN, &mut |name| hides |= is_hidden(name))?;
        Ok(hides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owned::Directory;

    // Windows removes no directory that is open.
    #[cfg(not(windows))]
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
        // As another run does that considers it abandoned.
        own.remove("lock").unwrap();
        own.remove_self().unwrap();
        assert!(matches!(second.lock("lock").unwrap(), Locked::Gone));
        parent.make("own").unwrap();
        assert!(matches!(second.lock("lock").unwrap(), Locked::Gone), "another of that name");
    }

    #[test]
    fn only_what_a_lock_holds_makes_a_file_a_lock() {
        let place = tempfile::tempdir().unwrap();
        let own = Directory::open(place.path()).unwrap().make("own").unwrap();
        assert!(!own.has_lock("lock").unwrap(), "none");
        drop(own.lock("lock").unwrap());
        assert!(own.has_lock("lock").unwrap());
        for (note, expected) in [(&b""[..], true), (&[0; 52], true), (b"dear", false), (b"dear Jo\nhow", false)] {
            own.replace_small("lock", note).unwrap();
            assert_eq!(own.has_lock("lock").unwrap(), expected, "{note:?}");
        }
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
