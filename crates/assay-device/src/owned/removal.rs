//! Removes a directory of assay's own with its lock, even if a server hides files that are still open.

use std::io;
use std::time::Duration;

use super::error::OwnedError;
use super::lock::Lock;
use super::own::{OwnDir, is_hidden};

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
