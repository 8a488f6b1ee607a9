//! Copies of other stores, which are read and gone afterwards.
//!
//! A copy is a directory `import-ID` in the data directory, with a lock that is held while it is read. One whose lock can
//! be taken was left by a command that was killed, and the next that reads such a store removes it. A directory with
//! anything else in it stays.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use assay_core::base32;
use assay_device::owned::{Caching, Directory, Lock, Locked, OwnDir, OwnedError};
use assay_store::new_id;

use crate::failure::Failure;
use crate::output;

const PREFIX: &str = "import-";
/// Digits of an id.
const ID: usize = 10;
const LOCK: &str = "lock";
/// The file of a store in its directory.
pub(crate) const DATABASE: &str = "assay.sqlite";
/// What is not in the database yet stands in its log.
const LOG: &str = "assay.sqlite-wal";
/// All that SQLite makes beside it when the copy is opened.
const FILES: [&str; 4] = [DATABASE, LOG, "assay.sqlite-shm", "assay.sqlite-journal"];
/// Copies that others may take for abandoned, one after another, before it is an error.
const ATTEMPTS: u32 = 100;
/// Copies that are looked at.
const MOST_LEFT: usize = 1_000;

/// A copy of a store; removed when dropped.
#[derive(Debug)]
pub(crate) struct Copy {
    directory: OwnDir,
    /// Kept while it is read.
    lock: Option<Lock>,
}

impl Copy {
    /// Copies the store in the directory `from` into the data directory, and removes what killed commands left there.
    pub(crate) fn of(from: &Path, data: &Path) -> Result<Self, Failure> {
        let unwritable = |error: OwnedError| {
            Failure::environment(format!("a copy of {} cannot be made: {error}", output::shown(from)))
        };
        let parent = Directory::open(data).map_err(unwritable)?;
        clean(&parent);
        let copy = Self::empty(&parent).map_err(unwritable)?;
        for name in [DATABASE, LOG] {
            let mut original = match File::open(from.join(name)) {
                Err(error) if error.kind() == ErrorKind::NotFound && name != DATABASE => continue,
                opened => opened.map_err(|error| cannot_copy(from, &error))?,
            };
            let mut file = copy.directory.create_file(name, Caching::Cached).map_err(unwritable)?;
            io::copy(&mut original, &mut file).map_err(|error| cannot_copy(from, &error))?;
        }
        Ok(copy)
    }

    fn empty(parent: &Directory) -> Result<Self, OwnedError> {
        for _ in 0..ATTEMPTS {
            match parent.make(&format!("{PREFIX}{}", new_id())) {
                // It is gone when it was taken for abandoned before it was even opened.
                Err(error) if matches!(error.kind(), Some(ErrorKind::NotFound | ErrorKind::AlreadyExists)) => {}
                made => {
                    let directory = made?;
                    if let Locked::Held(lock) = directory.lock(LOCK)? {
                        return Ok(Self { directory, lock: Some(lock) });
                    }
                }
            }
        }
        Err(OwnedError::io(parent.path(), ErrorKind::AlreadyExists))
    }

    /// The directory of the copy.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = remove(&self.directory, self.lock.take());
    }
}

fn cannot_copy(from: &Path, error: &io::Error) -> Failure {
    Failure::environment(format!("the store in {} cannot be copied: {error}", output::shown(from)))
}

/// Removes the copies of killed commands.
fn clean(parent: &Directory) {
    let mut names = Vec::new();
    let listed = parent.names(u64::MAX, &mut |name| {
        if let Some(name) = name.to_str().filter(|name| is_named(name))
            && names.len() < MOST_LEFT
        {
            names.push(name.to_owned());
        }
    });
    if listed.is_err() {
        return;
    }
    for name in names {
        let Some(directory) = parent.own(&name).ok().flatten() else { continue };
        let known = |name: &str| name == LOCK || FILES.contains(&name);
        let own = directory.entries(FILES.len() as u64 + 1, &known, &mut |_| {}).is_ok();
        if let (true, Ok(Locked::Held(lock))) = (own, directory.lock(LOCK)) {
            // What cannot be removed now is tried again the next time.
            let _ = remove(&directory, Some(lock));
        }
    }
}

fn is_named(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|id| id.len() == ID && id.bytes().all(base32::is_digit))
}

fn remove(directory: &OwnDir, lock: Option<Lock>) -> Result<(), OwnedError> {
    for name in FILES {
        directory.remove(name)?;
    }
    directory.remove_with(LOCK, lock)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A directory as a killed command leaves it.
    fn left(data: &Path, name: &str, files: &[&str]) {
        let path = data.join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        for file in files {
            std::fs::write(path.join(file), b"x").unwrap();
        }
    }

    fn names(data: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            data.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_killed_commands_left_is_removed_and_nothing_else() {
        let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(other.path().join(DATABASE), b"not read here").unwrap();
        left(data.path(), "import-0123456789", &["lock", "assay.sqlite", "assay.sqlite-wal", "assay.sqlite-shm"]);
        left(data.path(), "import-aaaaaaaaaa", &["assay.sqlite"]);
        left(data.path(), "import-bbbbbbbbbb", &["lock", "assay.sqlite", "thesis.tex"]);
        left(data.path(), "import-of-mine", &["lock"]);
        std::fs::write(data.path().join("import-cccccccccc"), b"a file").unwrap();
        let kept = ["import-bbbbbbbbbb", "import-cccccccccc", "import-of-mine"];

        let first = Copy::of(other.path(), data.path()).unwrap();
        let second = Copy::of(other.path(), data.path()).unwrap();
        assert_eq!(names(data.path()).len(), kept.len() + 2, "a copy that is read stays: {:?}", names(data.path()));
        assert_eq!(std::fs::read(first.path().join(DATABASE)).unwrap(), b"not read here");
        drop((first, second));
        assert_eq!(names(data.path()), kept);
        assert_eq!(names(&data.path().join("import-bbbbbbbbbb")), ["assay.sqlite", "lock", "thesis.tex"]);
    }

    #[test]
    fn a_store_that_cannot_be_copied_leaves_nothing() {
        let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert!(Copy::of(other.path(), data.path()).is_err());
        assert!(names(data.path()).is_empty());
    }
}
