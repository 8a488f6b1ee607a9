//! Assay's own directory while a check holds it, and what an earlier check left in it.
//!
//! It holds `lock`, on which a running check holds a lock; `state.json` with its owner and its progress; and `1.h2w`,
//! `2.h2w` and so on. Nothing else is ever removed. A directory of this name with anything else in it, or with files
//! but without a state, is not ours.

use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::outcome::RunFailure;
use assay_core::units::Bytes;
use assay_device::owned::{Directory, Lock, Locked, OwnDir, OwnedError};

use super::content::FILE_BYTES;
use super::state::{DIRECTORY, LOCK, STATE, State, file_number, is_ours, is_spread};
use crate::sys;

/// Number of other checks that may remove the directory in a row before it is an error.
const ATTEMPTS: u32 = 100;
/// Names in the directory: files of 1 GiB that fill the file system, or those of a quick check.
const MOST_OTHERS: u64 = 4096;
/// Never more than these, which take some 50 MB of memory.
const MOST_NAMES: u64 = 1 << 18;

/// Content of a directory of assay's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Held {
    /// Its state; `None` if a check was killed before it saved one.
    pub(crate) state: Option<State>,
    /// Files of a full or quick check.
    pub(crate) files: u64,
    /// Space that they take, in bytes.
    pub(crate) bytes: u64,
}

/// Reads the directory.
///
/// # Errors
/// Where anything in it is not assay's.
pub(crate) fn held(own: &OwnDir) -> Result<Held, VerifyError> {
    let state = State::load(own)?;
    let last = state.as_ref().map_or(0, |state| state.area_bytes.div_ceil(FILE_BYTES));
    let mut held = Held::default();
    let mut beyond = None;
    own.entries(most_names(own), &is_ours, &mut |entry| {
        let number = file_number(&entry.name);
        if number.is_some() || is_spread(&entry.name) {
            held.files += 1;
            held.bytes = held.bytes.saturating_add(entry.taken_bytes);
        }
        // A file of no bytes remains if the file system was full.
        if number.is_some_and(|number| number > last) && entry.bytes > 0 {
            beyond = Some(entry.name);
        }
    })?;
    if state.is_none() && held.files > 0 {
        return Err(VerifyError::NoState(own.path().to_owned()));
    }
    match beyond {
        Some(name) => Err(VerifyError::Foreign(own.path().join(name))),
        None => Ok(Held { state, ..held }),
    }
}

fn most_names(own: &OwnDir) -> u64 {
    let whole = own.directory().space().map_or(0, |space| space.bytes);
    (whole / FILE_BYTES + MOST_OTHERS).min(MOST_NAMES)
}

/// What an earlier check left in `target`; `None` if there is nothing.
///
/// # Errors
/// Where something not made by assay has the name of its directory, or lies in it.
pub(crate) fn present(target: &Directory) -> Result<Option<Held>, VerifyError> {
    match target.own(DIRECTORY)? {
        Some(own) => held(&own).map(Some),
        None => Ok(None),
    }
}

/// The directory while this check holds its lock.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    own: Arc<OwnDir>,
    /// Held until the directory is removed.
    lock: Arc<Mutex<Option<Lock>>>,
}

impl HeldDirectory {
    /// Takes the lock of the directory in `target`, and creates the directory if it is missing.
    ///
    /// # Errors
    /// Where another check holds it, it is not assay's, or the system fails.
    pub(crate) fn take(target: &Directory) -> Result<Self, VerifyError> {
        for _ in 0..ATTEMPTS {
            if let Some(place) = Self::existing(target)? {
                return Ok(place);
            }
            match target.make(DIRECTORY) {
                Err(error) if matches!(error.kind(), Some(ErrorKind::AlreadyExists | ErrorKind::NotFound)) => {}
                made => drop(made?),
            }
        }
        Err(VerifyError::Busy(target.path().join(DIRECTORY)))
    }

    /// Takes the lock of the directory, if it exists.
    ///
    /// # Errors
    /// As [`HeldDirectory::take`].
    pub(crate) fn existing(target: &Directory) -> Result<Option<Self>, VerifyError> {
        let Some(own) = target.own(DIRECTORY)? else { return Ok(None) };
        // Not even a lock is created where anything is not ours.
        held(&own)?;
        let path = own.path().to_owned();
        match own.lock(LOCK)? {
            Locked::Held(lock) => Ok(Some(Self { own: Arc::new(own), lock: Arc::new(Mutex::new(Some(lock))) })),
            Locked::Taken => Err(VerifyError::Busy(path)),
            Locked::Elsewhere(host) => Err(VerifyError::Elsewhere { path, host }),
            Locked::Gone => Ok(None),
        }
    }

    /// The directory.
    pub(crate) fn own(&self) -> &Arc<OwnDir> {
        &self.own
    }

    pub(crate) fn path(&self) -> &Path {
        self.own.path()
    }

    /// Work that removes the directory with all files, and then its lock. It runs in a thread that may wait for the
    /// medium.
    pub(crate) fn removal(&self) -> impl FnOnce() -> io::Result<()> + Send + 'static {
        let (own, lock) = (Arc::clone(&self.own), Arc::clone(&self.lock));
        move || Ok(remove_all(&own, lock.lock().unwrap_or_else(PoisonError::into_inner).take())?)
    }
}

/// Removes the files of a check, and nothing else.
///
/// # Errors
/// Where anything is not assay's, before anything is removed; or where the system fails.
pub(crate) fn remove_files(own: &OwnDir) -> Result<(), OwnedError> {
    let mut files = Vec::new();
    own.entries(most_names(own), &is_ours, &mut |entry| {
        if ![LOCK, STATE].contains(&&*entry.name) {
            files.push(entry.name);
        }
    })?;
    let there = || sys::still_there(own.directory()).map_err(|error| OwnedError::io(own.path(), error));
    files.iter().try_for_each(|name| {
        there()?;
        own.remove(name).map(drop)
    })?;
    // Proves that what is written or removed next is on this medium too.
    there()
}

/// Removes the directory with all files. The state goes last, so that the rest can still be recognised.
fn remove_all(own: &OwnDir, lock: Option<Lock>) -> Result<(), OwnedError> {
    remove_files(own)?;
    own.remove(STATE)?;
    own.remove_with(LOCK, lock)
}

/// What an earlier check left on a medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftCheck {
    /// The directory.
    pub path: PathBuf,
    /// Space that its files take, in bytes.
    pub bytes: u64,
    /// Whether the check is still running, here or on another host.
    pub alive: bool,
    /// Whether it keeps its files.
    pub kept: bool,
    /// Whether `--resume` can continue it.
    pub resumable: bool,
}

/// What an earlier check left in the directory `target`. Writes nothing.
///
/// # Errors
/// Where something not made by assay has the name of its directory, or lies in it.
pub fn left(target: &Path) -> Result<Option<LeftCheck>, VerifyError> {
    let target = Directory::open(target)?;
    let Some(own) = target.own(DIRECTORY)? else { return Ok(None) };
    let alive = own.is_locked(LOCK);
    Ok(Some(left_in(&own, &held(&own)?, alive)))
}

fn left_in(own: &OwnDir, held: &Held, alive: bool) -> LeftCheck {
    let state = held.state.as_ref();
    LeftCheck {
        path: own.path().to_owned(),
        bytes: held.bytes,
        alive,
        kept: state.is_some_and(|state| state.kept),
        resumable: state.is_some_and(|state| !state.kept && state.area_bytes > 0),
    }
}

/// Removes what an earlier check left in the directory `target`, including files that it kept on request. Returns what
/// that was.
///
/// # Errors
/// Where a check is still running, or something is not assay's; nothing is removed then.
pub fn remove(target: &Path) -> Result<Option<LeftCheck>, VerifyError> {
    let Some(place) = HeldDirectory::existing(&Directory::open(target)?)? else { return Ok(None) };
    let found = left_in(&place.own, &held(&place.own)?, false);
    place.removal()().map_err(|error| VerifyError::io(&found.path, error))?;
    Ok(Some(found))
}

/// Whether the medium under `directory` has gone.
pub(crate) fn gone(directory: &Directory) -> bool {
    sys::is_gone(directory)
}

/// Replaces the error of a medium that has gone: the kernel has many numbers for that.
pub(crate) fn gone_error(directory: &Directory, error: io::Error) -> io::Error {
    if gone(directory) { sys::gone() } else { error }
}

/// The failure that an error of the system means.
pub(crate) fn failure_of(error: &io::Error) -> RunFailure {
    error.raw_os_error().map_or(RunFailure::IoError, RunFailure::from_errno)
}

// Why a check of a mounted medium did not begin.

/// Why there is no check: one line each, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The target is no directory.
    #[error("{}: not a directory; give the directory where the medium is mounted", .0.display())]
    NotDirectory(PathBuf),
    /// The file system is mounted read-only.
    #[error("{}: mounted read-only; mount it writable, or check files that are there with --only read", .0.display())]
    ReadOnly(PathBuf),
    /// Nothing may be written there.
    #[error("{}: no permission to write; run as its owner or as root", .0.display())]
    Permission(PathBuf),
    /// Too little free space.
    #[error("{}: no room to check: {} free; make room, at least 3 MiB", .path.display(), Bytes(*.free_bytes))]
    Full {
        /// The target.
        path: PathBuf,
        /// What is free.
        free_bytes: u64,
    },
    /// The host needs the file system that is to be filled.
    #[error(
        "{}: the file system of {}; a check would fill it with {}: name another directory, check less (--bytes 1GiB), or add --fill-system",
        .path.display(), .carried.display(), Bytes(*.write_bytes)
    )]
    System {
        /// The target.
        path: PathBuf,
        /// What the host has there.
        carried: PathBuf,
        /// What would be written.
        write_bytes: u64,
    },
    /// The medium to be filled is the host's memory.
    #[error(
        "{}: is in the memory of this host; a check would fill it with {}: name a directory of a medium, check less (--bytes 1GiB), or add --fill-system",
        .path.display(), Bytes(*.write_bytes)
    )]
    Memory {
        /// The target.
        path: PathBuf,
        /// What would be written.
        write_bytes: u64,
    },
    /// Another check is running there.
    #[error("{}: another assay is checking it; wait for it", .0.display())]
    Busy(PathBuf),
    /// A check of another host uses it, on a file system that both hosts share.
    #[error("{}: made by assay on {host}, which may still be checking; look there first, then remove it", .path.display())]
    Elsewhere {
        /// The directory.
        path: PathBuf,
        /// Name of that host, safe to show.
        host: String,
    },
    /// Files that an earlier check kept by request.
    #[error("{}: kept by an earlier check; read them with --only read, or remove them with --remove", .0.display())]
    Kept(PathBuf),
    /// Files of a check that was interrupted, or is under way on another host.
    #[error("{}: of a check that has not ended; continue it with --resume, or remove it with --remove", .0.display())]
    Unfinished(PathBuf),
    /// Something not made by assay has the name of its directory.
    #[error("{}: not made by assay; move it away", .0.display())]
    Foreign(PathBuf),
    /// Files without the state that says what was written to them.
    #[error("{}: has no state.json, without which nobody knows what was written there; move it away", .0.display())]
    NoState(PathBuf),
    /// No check kept its files there.
    #[error("{}: no check kept its files here with --keep; --only read reads those of other tools", .0.display())]
    NothingKept(PathBuf),
    /// Nothing was interrupted there.
    #[error("{}: no interrupted check to resume; start one without --resume", .0.display())]
    NothingToResume(PathBuf),
    /// A limit that leaves nothing.
    #[error("--bytes {}: a check takes whole MiB; give 1MiB or more", .0)]
    Limit(u64),
    /// No files of the format.
    #[error("{}: no files 1.h2w, 2.h2w, ... to read", .0.display())]
    NothingToRead(PathBuf),
    /// Something not made by assay has the name of something that assay makes, or the system refuses it.
    #[error(transparent)]
    Owned(OwnedError),
    /// The system's error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What.
        #[source]
        source: io::Error,
    },
}

impl VerifyError {
    /// The error for `source` at `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path.to_owned()),
            io::ErrorKind::PermissionDenied => Self::Permission(path.to_owned()),
            _ => Self::Io { path: path.to_owned(), source },
        }
    }
}

impl From<OwnedError> for VerifyError {
    fn from(error: OwnedError) -> Self {
        match error {
            OwnedError::Io { path, source } => Self::io(Path::new(&path), source),
            foreign @ OwnedError::Foreign { .. } => Self::Owned(foreign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(target: &tempfile::TempDir) -> Directory {
        Directory::open(target.path()).unwrap()
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let target = tempfile::tempdir().unwrap();
        let path = target.path().join(DIRECTORY);
        assert_eq!(present(&open(&target)).unwrap(), None);
        let own = open(&target).make(DIRECTORY).unwrap();
        assert_eq!(present(&open(&target)).unwrap(), Some(Held::default()));
        std::fs::write(path.join("1.h2w"), b"holiday").unwrap();
        assert!(present(&open(&target)).is_err(), "no state");

        State::new(2 << 30).save(&own).unwrap();
        let held = present(&open(&target)).unwrap().unwrap();
        assert_eq!((held.files, held.state.unwrap().area_bytes), (1, 2 << 30));
        for name in ["3.h2w", "thesis.tex"] {
            std::fs::write(path.join(name), b"dear").unwrap();
            assert!(present(&open(&target)).is_err(), "{name}");
            assert!(HeldDirectory::take(&open(&target)).is_err() && remove(target.path()).is_err());
            assert!(path.join(name).exists() && path.join("1.h2w").exists() && !path.join("lock").exists());
            std::fs::remove_file(path.join(name)).unwrap();
        }
        // Windows removes no directory that is open.
        drop(own);
        let removed = remove(target.path()).unwrap().unwrap();
        assert!(removed.resumable && !removed.kept && !path.exists());
    }

    #[cfg(not(windows))]
    #[test]
    fn a_link_is_not_followed() {
        let target = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", target.path().join(DIRECTORY)).unwrap();
        assert!(present(&open(&target)).is_err() && remove(target.path()).is_err());
    }

    #[test]
    fn one_check_at_a_time() {
        let target = tempfile::tempdir().unwrap();
        let first = HeldDirectory::take(&open(&target)).unwrap();
        assert!(matches!(HeldDirectory::take(&open(&target)), Err(VerifyError::Busy(_))));
        assert!(matches!(remove(target.path()), Err(VerifyError::Busy(_))));
        assert!(left(target.path()).unwrap().unwrap().alive);
        drop(first);
        assert!(!left(target.path()).unwrap().unwrap().alive);
        assert!(HeldDirectory::take(&open(&target)).is_ok());
    }
}
