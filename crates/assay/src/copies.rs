//! Copies of other stores, which are read and gone afterwards.
//!
//! A copy is a directory `import-ID` in the data directory, with a lock that is held while it is read. One whose lock can
//! be taken was left by a command that was killed, and the next that reads such a store removes it. A directory with
//! anything else in it stays.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use assay_core::units::Bytes;
use assay_device::owned::{Caching, Directory, Lock, Locked, OwnDir, OwnedError, copy_data};
use assay_store::new_id;

use crate::ending::Failure;
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

/// Most bytes of a store and its log, holes included.
const LARGEST: u64 = 16 << 30;
/// A copy takes at most one of this many parts of the free space of the data directory. The rest is left for runs that save.
const SHARE: u64 = 4;
/// The free space is read again after this many bytes.
const LOOKED_AT: u64 = 64 << 20;

/// A copy of a store; removed when dropped.
#[derive(Debug)]
pub(crate) struct Copy {
    directory: OwnDir,
    /// Kept while it is read.
    lock: Option<Lock>,
}

impl Copy {
    /// Copies the store in the directory `from` into the data directory, and removes what killed commands left there.
    /// What lies in `from` may be anything: regular files are read, of them what is no hole, and no more than there is room
    /// for.
    pub(crate) fn make(from: &Directory, data: &Path) -> Result<Self, Failure> {
        let shown = output::shown(from.path());
        let unwritable = |error: OwnedError| Failure::environment(format!("a copy of {shown} cannot be made: {error}"));
        let cannot =
            |error: OwnedError| Failure::environment(format!("the store in {shown} cannot be copied: {error}"));
        let mut originals = Vec::new();
        for name in [DATABASE, LOG] {
            match from.read_file(name, Caching::Cached) {
                Err(error) if error.kind() == Some(ErrorKind::NotFound) && name != DATABASE => {}
                opened => originals.push((name, opened.map_err(cannot)?)),
            }
        }
        let parent = Directory::open(data).map_err(unwritable)?;
        clean(&parent);
        let mut room = Room::reserve(&originals, &parent, &shown)?;
        let copy = Self::empty(&parent).map_err(unwritable)?;
        for (name, original) in &originals {
            let file = copy.directory.create_file(name, Caching::Cached).map_err(unwritable)?;
            copy_data(original, &file, &mut |bytes| room.take(bytes)).map_err(|stopped: Stopped| match stopped {
                Stopped::Refused(failure) => failure,
                Stopped::System(error) => cannot(OwnedError::io(&from.path().join(name), error)),
            })?;
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

/// Why a copy was not made to its end.
enum Stopped {
    Refused(Failure),
    System(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// What a copy may take of the file system of the data directory.
struct Room<'a> {
    data: &'a Directory,
    shown: &'a str,
    /// What was free at first.
    free: u64,
    taken: u64,
    looked_at: u64,
}

impl<'a> Room<'a> {
    fn reserve(originals: &[(&str, File)], data: &'a Directory, shown: &'a str) -> Result<Self, Failure> {
        let bytes = originals.iter().filter_map(|(_, file)| Some(file.metadata().ok()?.len())).sum::<u64>();
        if bytes > LARGEST {
            let (bytes, most) = (Bytes(bytes), Bytes(LARGEST));
            return Err(Failure::environment(format!(
                "the store in {shown} has {bytes}, and at most {most} are read; export a part of it (assay export)"
            )));
        }
        Ok(Self { data, shown, free: free(data), taken: 0, looked_at: 0 })
    }

    /// Accounts for more bytes, or refuses them.
    fn take(&mut self, bytes: u64) -> Result<(), Stopped> {
        self.taken = self.taken.saturating_add(bytes);
        let mut full = self.taken > self.free / SHARE;
        if self.taken - self.looked_at >= LOOKED_AT {
            self.looked_at = self.taken;
            // Others write there too.
            full |= free(self.data) < self.free / 2;
        }
        if !full {
            return Ok(());
        }
        let (data, free) = (output::shown(self.data.path()), Bytes(self.free));
        Err(Stopped::Refused(Failure::environment(format!(
            "the store in {} is not copied: of the {free} that are free for {data} a copy takes a quarter at most; free some, or set ASSAY_DATA to a directory on another file system",
            self.shown
        ))))
    }
}

/// Bytes that are free; all where the file system does not say.
fn free(data: &Directory) -> u64 {
    data.space().map_or(u64::MAX, |space| space.free_bytes)
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
    name.strip_prefix(PREFIX).is_some_and(|id| id.len() == ID && id.bytes().all(assay_core::text::is_digit))
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

        let first = copy(other.path(), data.path()).unwrap();
        let second = copy(other.path(), data.path()).unwrap();
        assert_eq!(names(data.path()).len(), kept.len() + 2, "a copy that is read stays: {:?}", names(data.path()));
        assert_eq!(std::fs::read(first.path().join(DATABASE)).unwrap(), b"not read here");
        drop((first, second));
        assert_eq!(names(data.path()), kept);
        assert_eq!(names(&data.path().join("import-bbbbbbbbbb")), ["assay.sqlite", "lock", "thesis.tex"]);
    }

    #[test]
    fn a_store_that_cannot_be_copied_leaves_nothing() {
        let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert!(copy(other.path(), data.path()).is_err());
        assert!(names(data.path()).is_empty());
    }

    #[test]
    fn nothing_but_files_is_copied_and_nothing_waits() {
        let pipe = |path: &Path| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        };
        for log in [true, false] {
            let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (database, log) = (other.path().join(DATABASE), log.then(|| other.path().join(LOG)));
            for odd in 0..2 {
                let at = log.as_ref().unwrap_or(&database);
                if log.is_some() {
                    std::fs::write(&database, b"x").unwrap();
                }
                if odd == 0 {
                    pipe(at)
                } else {
                    std::os::unix::fs::symlink("/dev/zero", at).unwrap()
                }
                let error = copy(other.path(), data.path()).unwrap_err();
                let kind = if odd == 0 { "a named pipe and not a file" } else { "a symbolic link and not a file" };
                assert!(error.message().contains(kind), "{}", error.message());
                assert!(names(data.path()).is_empty());
                std::fs::remove_file(at).unwrap();
            }
        }
    }

    #[test]
    fn a_store_that_is_mostly_a_hole_takes_no_room_and_a_larger_one_is_refused() {
        let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = File::create(other.path().join(DATABASE)).unwrap();
        file.set_len(LARGEST).unwrap();
        let made = copy(other.path(), data.path()).unwrap();
        let there = std::fs::metadata(made.path().join(DATABASE)).unwrap();
        let taken = std::os::unix::fs::MetadataExt::blocks(&there) * 512;
        assert!(there.len() == LARGEST && taken < 1 << 20, "{taken} bytes");
        std::fs::write(other.path().join(LOG), b"x").unwrap();
        let error = copy(other.path(), data.path()).unwrap_err();
        assert!(error.message().contains("at most 16 GiB are read"), "{}", error.message());
    }

    #[test]
    fn a_copy_takes_a_quarter_of_what_is_free() {
        let data = tempfile::tempdir().unwrap();
        let data = Directory::open(data.path()).unwrap();
        let mut room = Room { data: &data, shown: "x", free: 1 << 20, taken: 0, looked_at: 0 };
        assert!(room.take(256 << 10).is_ok());
        let Err(Stopped::Refused(failure)) = room.take(1) else { panic!("no room is left") };
        assert!(failure.message().contains("of the 1 MiB that are free"), "{}", failure.message());
        let mut room = Room { free: u64::MAX, ..room };
        // What is free now is less than half of that.
        assert!(room.take(1).is_ok() && room.take(LOOKED_AT).is_err());
    }

    fn copy(from: &Path, data: &Path) -> Result<Copy, Failure> {
        Copy::make(&Directory::open(from).unwrap(), data)
    }
}
