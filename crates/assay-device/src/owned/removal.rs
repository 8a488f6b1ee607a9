//! A directory of assay's own is removed with its lock, also where a server hides files that are still open.

use std::io;
use std::time::Duration;

use super::error::OwnedError;
use super::lock::Lock;
use super::own::{OwnDir, is_hidden};

/// How often it is tried again to remove a directory in which something is hidden, and what is waited between.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);
const MOST_HIDDEN: u64 = 100;

impl OwnDir {
    /// Removes the file `name` of the lock that is held, and the directory, in which nothing else may be. Whoever took
    /// it for abandoned between the two steps removed it, or is about to.
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
            // The server hears later that a file is closed.
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
                // What was in it is gone by now, and so is the directory, or soon.
                match self.remove_self() {
                    Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Ok(()),
                    Err(again) if again.kind() == Some(io::ErrorKind::DirectoryNotEmpty) => Err(error),
                    removed => removed,
                }
            }
            removed => removed,
        }
    }

    /// Whether something is in it that was removed while it was open.
    fn hides(&self) -> Result<bool, OwnedError> {
        let mut hides = false;
        self.directory().names(MOST_HIDDEN, &mut |name| hides |= is_hidden(name))?;
        Ok(hides)
    }
}
