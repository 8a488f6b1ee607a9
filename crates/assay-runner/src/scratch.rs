//! A directory of assay's own, which is gone afterwards.
//!
//! It is called `.assay-ID` and holds `data`, `lock` and, while programs run, a directory `files`, or, while another tool
//! works there, `original`. The running process holds a lock on
//! `lock`; a directory whose lock can be taken belongs to a run that was killed, and the next run
//! removes it. Nothing else is ever removed: a directory with anything else in it is left alone, and so is one with
//! files but without such a lock, which somebody else made.
//!
//! A directory is ours only while its lock is held. Between making it and holding the lock another
//! run may take it for abandoned and remove it, so one whose lock was not had is given up, and
//! another is made.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_device::owned::{Access, Caching, Cause, Directory, Lock, Locked, OwnDir, OwnedError};

use crate::error::RunError;

const PREFIX: &str = ".assay-";
/// Letters of an identity, of `a` to `z` and `0` to `9`.
const ID: usize = 10;
/// The test file.
pub(crate) const DATA: &str = "data";
const LOCK: &str = "lock";
/// The directory of programs, and of tools that name their files themselves.
pub(crate) const FILES: &str = "files";
/// Directories that other runs may take for abandoned, one after another, before it is an error.
const ATTEMPTS: u32 = 100;
/// Directories that are looked at before the first of them is removed, and the most that may stay.
const AT_ONCE: usize = 10_000;
/// Rounds of these in one place, should others make more of them all the time.
const ROUNDS: u32 = 1_000;

/// The directory of this run; removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: OwnDir,
    /// Kept while the run lives.
    lock: Option<Lock>,
}

impl Scratch {
    /// Makes the directory in `parent`, called after `id`, or otherwise where that name is taken.
    pub(crate) fn create(parent: &Directory, id: &str) -> Result<Self, RunError> {
        let mut name = format!("{PREFIX}{id}");
        for _ in 0..ATTEMPTS {
            match parent.make(&name) {
                // It is gone when it was taken for abandoned before it was even opened.
                Err(error) if matches!(error.kind(), Some(ErrorKind::NotFound | ErrorKind::AlreadyExists)) => {}
                made => {
                    let directory = made?;
                    match directory.lock(LOCK) {
                        Ok(Locked::Held(lock)) => return Ok(Self { directory, lock: Some(lock) }),
                        Ok(_) => {}
                        Err(error) => {
                            let _ = directory.remove_self();
                            return Err(error.into());
                        }
                    }
                }
            }
            name = format!("{PREFIX}{}", another_id()?);
        }
        Err(OwnedError::io(&parent.path().join(name), ErrorKind::AlreadyExists).into())
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory, for a tool that makes a file in it.
    pub(crate) fn directory(&self) -> &Directory {
        self.directory.directory()
    }

    /// Removes what a tool made.
    pub(crate) fn remove_original(&self) -> Result<(), OwnedError> {
        self.directory.remove(assay_original::FILE)?;
        remove_files(&self.directory)
    }

    /// Makes the test file.
    pub(crate) fn create_data(&self) -> Result<File, OwnedError> {
        self.directory.create_file(DATA, Caching::Cached)
    }

    /// Opens the test file once more, which must be the one that is open as `first`.
    pub(crate) fn open_data(&self, first: &File, caching: Caching) -> Result<File, OwnedError> {
        self.directory.reopen(DATA, first, Access::ReadWrite, caching)
    }

    /// Makes the directory for the files of a program, in which nothing of an earlier one is left.
    pub(crate) fn files(&self) -> Result<OwnDir, OwnedError> {
        remove_files(&self.directory)?;
        self.directory.directory().make(FILES)
    }

    /// Removes the directory, which dropping does in silence.
    pub(crate) fn remove(mut self) -> Result<(), OwnedError> {
        remove(&self.directory, self.lock.take())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Without the lock it was tried before.
        if let Some(lock) = self.lock.take() {
            let _ = remove(&self.directory, Some(lock));
        }
    }
}

/// An identity that cannot be predicted.
fn another_id() -> Result<String, RunError> {
    let mut bytes = [0; ID];
    assay_device::random(&mut bytes).map_err(|error| OwnedError::io(Path::new("random numbers"), error))?;
    Ok(bytes.iter().map(|byte| char::from(b'a' + byte % 26)).collect())
}

/// What killed runs left behind and was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leftovers {
    /// Directories removed.
    pub directories: u32,
    /// Bytes they held.
    pub bytes: u64,
    /// Directories of runs that are still alive, or that another host made on a file system that
    /// both use.
    pub alive: u32,
    /// Whether there are more directories than were looked at.
    pub more: bool,
}

/// What was removed of what killed runs left, and what was not.
#[derive(Debug, Default)]
pub struct Removal {
    /// What was removed.
    pub removed: Leftovers,
    /// Why each directory stays that has such a name: something that assay did not make is in it, or the system refuses.
    pub stays: Vec<OwnedError>,
}

/// Removes what killed runs left in `parent` and counts those still alive.
pub(crate) fn clean(parent: &Directory) -> Leftovers {
    clean_by(parent, AT_ONCE).removed
}

/// The same with `at_once` directories in a round: each round removes some, or finds those that stay.
fn clean_by(parent: &Directory, at_once: usize) -> Removal {
    let (mut done, mut kept) = (Removal::default(), HashSet::new());
    for _ in 0..ROUNDS {
        let (names, more) = left_in(parent, at_once, &kept);
        done.removed.more = more;
        for name in names {
            match remove_counted(parent, &name, &mut done.removed) {
                Outcome::Gone => continue,
                Outcome::Alive => {}
                Outcome::Stays(why) => done.stays.push(why),
            }
            kept.insert(name);
        }
        if !more || kept.len() >= at_once {
            break;
        }
    }
    done
}

/// Whether another run measures in the directory in which a run has its own directory `own`, as far as it can be seen.
pub(crate) fn has_another(own: &Path) -> bool {
    let Some((parent, name)) = own.parent().zip(own.file_name()) else { return false };
    let Ok(parent) = Directory::open(parent) else { return false };
    let (names, _) = left_in(&parent, AT_ONCE, &HashSet::from([name.to_string_lossy().into_owned()]));
    names.iter().any(|name| ours(&parent, name).is_ok_and(|(directory, _)| directory.is_locked(LOCK)))
}

/// Removes what killed runs left in the directory `parent`, and counts those still alive.
///
/// # Errors
/// Where it is no directory or cannot be opened.
pub fn remove_left(parent: &Path) -> Result<Removal, RunError> {
    Ok(clean_by(&Directory::open(parent)?, AT_ONCE))
}

/// Counts what killed runs left in the directory `parent`, as far as it can be seen; removes nothing.
#[must_use]
pub fn left_behind(parent: &Path) -> Leftovers {
    let mut found = Leftovers::default();
    let Ok(parent) = Directory::open(parent) else { return found };
    let (names, more) = left_in(&parent, AT_ONCE, &HashSet::new());
    found.more = more;
    for name in names {
        if let Ok((directory, bytes)) = ours(&parent, &name) {
            if directory.is_locked(LOCK) {
                found.alive += 1;
            } else {
                found.directories += 1;
                found.bytes = found.bytes.saturating_add(bytes);
            }
        }
    }
    found
}

/// What runs hold in `parent` that this one cannot remove: of a run under way, of another user, or with other files in it.
pub(crate) fn held_in(parent: &Directory) -> Option<String> {
    let (names, more) = left_in(parent, AT_ONCE, &HashSet::new());
    let name = names.first()?;
    let path = harmless(&parent.path().join(name).to_string_lossy());
    let what = match ours(parent, name) {
        Ok((directory, bytes)) if directory.is_locked(LOCK) => format!("a run under way holds {} there", Bytes(bytes)),
        Ok((_, bytes)) => format!("a killed run left {} there", Bytes(bytes)),
        Err(_) => "a run of another user, or one that was killed, holds space there".to_owned(),
    };
    let others = if names.len() > 1 || more { ", and others do" } else { "" };
    Some(format!("{path}: {what}{others}"))
}

/// Removes the directory of a run that the store knows to be dead, wherever it was.
#[must_use]
pub fn remove_abandoned(path: &Path) -> Leftovers {
    let mut found = Leftovers::default();
    if let Some(parent) = path.parent()
        && let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| is_named(name))
        && let Ok(parent) = Directory::open(parent)
    {
        remove_counted(&parent, name, &mut found);
    }
    found
}

/// Names of at most `most` such directories other than `kept`, and whether there are more.
fn left_in(parent: &Directory, most: usize, kept: &HashSet<String>) -> (Vec<String>, bool) {
    let (mut names, mut more) = (Vec::new(), false);
    let listed = parent.names(u64::MAX, &mut |name| {
        if let Some(name) = name.to_str().filter(|name| is_named(name) && !kept.contains(*name)) {
            if names.len() < most { names.push(name.to_owned()) } else { more = true }
        }
    });
    // What cannot be listed has nothing that could be removed.
    listed.map_or_else(|_| (Vec::new(), false), |()| (names, more))
}

fn is_named(name: &str) -> bool {
    let of_id = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    name.strip_prefix(PREFIX).is_some_and(|id| id.len() == ID && id.bytes().all(of_id))
}

/// A directory that holds what a run made and nothing else, with its bytes.
fn ours(parent: &Directory, name: &str) -> Result<(OwnDir, u64), OwnedError> {
    let gone = || OwnedError::io(&parent.path().join(name), ErrorKind::NotFound);
    let directory = parent.own(name)?.ok_or_else(gone)?;
    let tree = directory.tree(&is_known)?;
    // A run makes nothing before its lock, and removes nothing after it.
    if tree.files > 0 && !directory.has_lock(LOCK)? && directory.tree(&is_known)?.files > 0 {
        return Err(OwnedError::foreign(directory.path(), Cause::Unlocked));
    }
    Ok((directory, tree.bytes))
}

/// Whether a run gives such a name at this depth below its own directory.
fn is_known(depth: u32, name: &str) -> bool {
    match depth {
        0 => [DATA, LOCK, FILES, assay_original::FILE].contains(&name),
        below => is_known_file(below - 1, name),
    }
}

/// Whether a program or a tool gives such a name in the directory of both.
fn is_known_file(depth: u32, name: &str) -> bool {
    assay_programs::is_known(depth, name) || depth == 0 && assay_original::is_known(name)
}

/// Removes what programs and tools left; fails where anything else is inside.
fn remove_files(directory: &OwnDir) -> Result<(), OwnedError> {
    let Some(files) = directory.directory().own(FILES)? else { return Ok(()) };
    files.remove_tree(&is_known_file)?;
    files.remove_self()
}

/// What became of a directory that has the name of a run's.
enum Outcome {
    /// It is not there any more.
    Gone,
    /// Its run is under way.
    Alive,
    Stays(OwnedError),
}

fn remove_counted(parent: &Directory, name: &str, found: &mut Leftovers) -> Outcome {
    let removed = ours(parent, name).and_then(|(directory, bytes)| match directory.lock(LOCK)? {
        Locked::Held(lock) => {
            remove(&directory, Some(lock))?;
            found.directories += 1;
            found.bytes = found.bytes.saturating_add(bytes);
            Ok(Outcome::Gone)
        }
        Locked::Taken | Locked::Elsewhere(_) => {
            found.alive += 1;
            Ok(Outcome::Alive)
        }
        Locked::Gone => Ok(Outcome::Gone),
    });
    match removed {
        Ok(outcome) => outcome,
        Err(error) if error.kind() == Some(ErrorKind::NotFound) => Outcome::Gone,
        Err(error) => Outcome::Stays(error),
    }
}

/// Removes what is in it and the directory; fails where anything else is inside.
fn remove(directory: &OwnDir, lock: Option<Lock>) -> Result<(), OwnedError> {
    directory.remove(DATA)?;
    directory.remove(assay_original::FILE)?;
    remove_files(directory)?;
    directory.remove_with(LOCK, lock)
}

// Links, pipes and modes are made here as Unix makes them; assay-device has tests of its own for Windows.
#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const TEST_ID: &str = "0123456789";

    fn parent(dir: &tempfile::TempDir) -> Directory {
        Directory::open(dir.path()).unwrap()
    }

    /// A directory as a run makes it, of a run that is no more.
    fn dead(dir: &tempfile::TempDir, id: &str) -> std::path::PathBuf {
        let path = dir.path().join(format!(".assay-{id}"));
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(path.join("lock"), b"").unwrap();
        path
    }

    #[test]
    fn the_directory_is_gone_after_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(&parent(&dir), TEST_ID).unwrap();
        scratch.create_data().unwrap();
        assert_eq!(clean(&parent(&dir)), Leftovers { alive: 1, ..Leftovers::default() });
        assert_eq!(left_behind(dir.path()), Leftovers { alive: 1, ..Leftovers::default() });
        assert_eq!(remove_abandoned(scratch.path()), Leftovers { alive: 1, ..Leftovers::default() });
        assert!(scratch.path().join(DATA).exists(), "a living run is never cleaned");
        drop(scratch);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// A full card says what of assay is on it.
    #[test]
    fn what_holds_space_is_named_with_why_it_stays() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(held_in(&parent(&dir)), None);
        let scratch = Scratch::create(&parent(&dir), TEST_ID).unwrap();
        let words = held_in(&parent(&dir)).unwrap();
        assert!(words.contains(".assay-0123456789: a run under way holds "), "{words}");
        drop(scratch);
        std::fs::write(dead(&dir, "aaaaaaaaaa").join("thesis.tex"), "dear").unwrap();
        let words = held_in(&parent(&dir)).unwrap();
        assert!(words.contains(".assay-aaaaaaaaaa: a run of another user"), "{words}");
    }

    #[test]
    fn only_what_a_killed_run_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dead(&dir, "aaaaaaaaaa");
        std::fs::write(gone.join("data"), vec![0; 1000]).unwrap();
        std::fs::write(gone.join("original"), vec![0; 400]).unwrap();
        std::fs::create_dir(gone.join("files")).unwrap();
        std::fs::set_permissions(gone.join("files"), std::fs::Permissions::from_mode(0o700)).unwrap();
        // As PostMark, f3 and bonnie++ call them.
        for name in ["1", "22", "1.h2w", "Bonnie.4711"] {
            std::fs::write(gone.join("files").join(name), [0; 25]).unwrap();
        }
        let foreign = dead(&dir, "bbbbbbbbbb");
        std::fs::write(foreign.join("thesis.tex"), b"dear").unwrap();
        let similar = dir.path().join(".assay-notes");
        std::fs::create_dir(&similar).unwrap();
        symlink("/etc", dir.path().join(".assay-cccccccccc")).unwrap();
        // Killed before there was a lock.
        let empty = dead(&dir, "dddddddddd");
        std::fs::remove_file(empty.join("lock")).unwrap();
        assert_eq!(left_behind(dir.path()), Leftovers { directories: 2, bytes: 1500, ..Leftovers::default() });
        let found = clean(&parent(&dir));
        assert_eq!((found.directories, found.bytes), (2, 1500));
        assert!(!gone.exists() && !empty.exists() && similar.exists());
        assert!(foreign.join("thesis.tex").exists() && foreign.join("lock").exists(), "left as it was");
        assert!(Path::new("/etc/passwd").exists());
    }

    /// Another program may have made it and used the same names inside.
    #[test]
    fn a_directory_of_another_name_stays_whatever_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        for name in
            ["notes", ".assay-", ".assay-eleven12345", ".assay-NINE123456", ".assay-nine-12345", "assay-0123456789"]
        {
            let path = dir.path().join(name);
            std::fs::rename(dead(&dir, TEST_ID), &path).unwrap();
            std::fs::write(path.join("data"), b"dear").unwrap();
            assert_eq!(left_behind(dir.path()), Leftovers::default(), "{name}");
            assert_eq!(clean(&parent(&dir)), Leftovers::default(), "{name}");
            assert_eq!(remove_abandoned(&path), Leftovers::default(), "{name}");
            assert_eq!(std::fs::read(path.join("data")).unwrap(), b"dear", "{name}");
        }
    }

    /// Somebody may have chosen the same names by hand.
    #[test]
    fn files_without_the_lock_of_a_run_stay() {
        let dir = tempfile::tempdir().unwrap();
        for (id, lock) in [("0000000000", None), ("aaaaaaaaaa", Some("dear"))] {
            let path = dead(&dir, id);
            std::fs::write(path.join("data"), b"dear").unwrap();
            match lock {
                None => std::fs::remove_file(path.join("lock")).unwrap(),
                Some(text) => std::fs::write(path.join("lock"), text).unwrap(),
            }
            assert_eq!(remove_abandoned(&path), Leftovers::default());
        }
        assert_eq!(left_behind(dir.path()), Leftovers::default());
        let done = clean_by(&parent(&dir), AT_ONCE);
        assert_eq!(done.removed, Leftovers::default());
        assert_eq!(done.stays.len(), 2);
        assert!(done.stays.iter().all(|why| why.to_string().contains("without the lock of a run")), "{:?}", done.stays);
        for id in ["0000000000", "aaaaaaaaaa"] {
            assert_eq!(std::fs::read(dir.path().join(format!(".assay-{id}/data"))).unwrap(), b"dear");
        }
    }

    #[test]
    fn all_that_killed_runs_left_is_removed_and_what_stays_is_told() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..25 {
            dead(&dir, &format!("{number:010}"));
        }
        for id in ["bbbbbbbbbb", "cccccccccc"] {
            std::fs::write(dead(&dir, id).join("thesis.tex"), b"dear").unwrap();
        }
        let alive = Scratch::create(&parent(&dir), TEST_ID).unwrap();
        let done = clean_by(&parent(&dir), 4);
        assert_eq!(done.removed, Leftovers { directories: 25, alive: 1, ..Leftovers::default() });
        let mut why: Vec<String> = done.stays.iter().map(ToString::to_string).collect();
        why.sort();
        assert!(why.len() == 2 && why[0].contains("bbbbbbbbbb/thesis.tex: a name that assay does not use"), "{why:?}");
        alive.remove().unwrap();
        // With more that stay than are looked at, the rest is not known, which is said.
        let done = clean_by(&parent(&dir), 1);
        assert!(done.removed.more && done.stays.len() == 1, "{done:?}");
    }

    /// Threat 11: what has the names of a run's files may be anything, and a pipe must not hang.
    #[test]
    fn what_only_looks_like_a_run_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        std::fs::write(&precious, b"dear").unwrap();
        let ids = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"];
        for (id, name) in ids.iter().flat_map(|id| [(id, "lock"), (id, "data")]) {
            let at = dir.path().join(format!(".assay-{id}"));
            if !at.exists() {
                std::fs::remove_file(dead(&dir, id).join("lock")).unwrap();
            }
            match *id {
                "aaaaaaaaaa" => symlink(&precious, at.join(name)).unwrap(),
                "bbbbbbbbbb" => std::fs::hard_link(&precious, at.join(name)).unwrap(),
                _ => rustix::fs::mknodat(
                    rustix::fs::CWD,
                    at.join(name),
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                    0,
                )
                .unwrap(),
            }
        }
        assert_eq!(clean(&parent(&dir)), Leftovers::default());
        for id in ids {
            assert_eq!(remove_abandoned(&dir.path().join(format!(".assay-{id}"))), Leftovers::default());
            assert_eq!(std::fs::read_dir(dir.path().join(format!(".assay-{id}"))).unwrap().count(), 2);
        }
        assert_eq!(std::fs::read(&precious).unwrap(), b"dear");
    }

    /// Threat 11: the directory is swapped for a link while the run lives.
    #[test]
    fn a_swapped_directory_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        for name in ["data", "lock"] {
            std::fs::write(theirs.join(name), b"dear").unwrap();
        }
        let scratch = Scratch::create(&parent(&dir), TEST_ID).unwrap();
        let first = scratch.create_data().unwrap();
        let path = scratch.path().to_owned();
        std::fs::rename(&path, dir.path().join("aside")).unwrap();
        symlink(&theirs, &path).unwrap();
        assert!(scratch.open_data(&first, Caching::Cached).is_ok(), "its own");
        assert!(scratch.remove().is_err());
        for name in ["data", "lock"] {
            assert_eq!(std::fs::read(theirs.join(name)).unwrap(), b"dear");
            assert!(!dir.path().join("aside").join(name).exists());
        }
    }

    /// Stops the others also where the test fails.
    struct Stop(Arc<AtomicBool>);

    impl Drop for Stop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Threat 27: between making the directory and holding its lock, others take it for abandoned.
    #[test]
    fn runs_that_begin_at_once_each_have_a_directory_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let cleaned = std::thread::scope(|threads| {
            let cleaners: Vec<_> = (0..2)
                .map(|_| {
                    threads.spawn(|| {
                        let mut removed = 0;
                        while !stop.load(Ordering::Relaxed) {
                            removed += clean(&parent(&dir)).directories;
                        }
                        removed
                    })
                })
                .collect();
            let stopping = Stop(Arc::clone(&stop));
            for _ in 0..200 {
                let scratch = Scratch::create(&parent(&dir), TEST_ID).unwrap();
                let first = scratch.create_data().unwrap();
                assert!(scratch.path().join("lock").exists());
                scratch.open_data(&first, Caching::Cached).unwrap();
                scratch.remove().unwrap();
            }
            drop(stopping);
            cleaners.into_iter().map(|cleaner| cleaner.join().unwrap()).sum::<u32>()
        });
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "{cleaned} were taken for abandoned");
    }
}
