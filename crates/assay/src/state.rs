//! Where records are kept, the key that stands for identities, and other files in the data directory.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use assay_core::text::harmless;
use assay_device::owned::{Caching, Directory, OwnedError};
use assay_report::Redactor;
use assay_store::{Keeper, Spool, SqliteStore, Store, StoreError, data_dir};
use serde_json::Value;

use crate::copies::Copy;
use crate::ending::Failure;
use crate::{output, system};

/// What is said of a store without records.
pub(crate) const EMPTY: &str = "the store is empty; measure something first: assay run";

/// The data directory. Where root finds it to be another user's, that is said, once.
pub(crate) fn directory() -> Result<PathBuf, Failure> {
    let directory = data_dir(&|name| std::env::var_os(name))?;
    FOREIGN.call_once(|| {
        if let Some(user) = system::foreign_owner(&directory) {
            output::tell_wrapped(&format!(
                "the data directory {} belongs to user {user}: what root makes there belongs to root, and links in it are not \
                 followed",
                output::shown(&directory)
            ));
        }
    });
    Ok(directory)
}

/// Said once by all threads of a command.
static FOREIGN: Once = Once::new();

/// Refuses a run that could not keep its record, and says how it can be made all the same.
pub(crate) fn refuse_homeless() -> Result<(), Failure> {
    match data_dir(&|name| std::env::var_os(name)) {
        Err(error @ StoreError::NoHome) => {
            Err(Failure::environment(format!("{error}, or measure without keeping the record: --no-save")))
        }
        _ => Ok(()),
    }
}

/// The store and the spool beside it, made where they are missing.
pub(crate) fn keeper() -> Result<Keeper, Failure> {
    let directory = directory()?;
    let mut keeper = Keeper::open(&directory)?;
    if let Some(store) = keeper.store() {
        take_in(store, &directory);
    }
    Ok(keeper)
}

/// The store, made where it is missing.
pub(crate) fn opened() -> Result<SqliteStore, Failure> {
    let directory = directory()?;
    let mut store = SqliteStore::open(&directory)?;
    take_in(&mut store, &directory);
    Ok(store)
}

/// The same at the end of long work, whose record goes to the spool whatever is wrong with the store.
pub(crate) fn keeper_at_any_rate() -> Result<Keeper, Failure> {
    Ok(Keeper::with(None, Spool::in_directory(&directory()?)))
}

/// The store before a run, and whether that is locked even for readers: the run then keeps its record
/// in the spool, unless it resumes one that has to be read.
pub(crate) fn before_a_run(resume: bool) -> Result<(Option<SqliteStore>, bool), Failure> {
    match SqliteStore::open_existing(&directory()?) {
        Err(StoreError::Locked { .. }) if !resume => Ok((None, true)),
        Err(error) => Err(error.into()),
        Ok(_) => Ok((existing()?, false)),
    }
}

/// The store as it is; none where there is none yet.
pub(crate) fn existing() -> Result<Option<SqliteStore>, Failure> {
    existing_in(&directory()?)
}

fn existing_in(directory: &Path) -> Result<Option<SqliteStore>, Failure> {
    let store = match SqliteStore::open_existing(directory) {
        // Its records wait for a store that was moved away.
        Ok(None) if Spool::in_directory(directory).waits() => Some(SqliteStore::open(directory)?),
        Err(error @ StoreError::Linked { .. }) => return by_copy(directory, &error),
        store => store?,
    };
    let Some(mut store) = store else { return Ok(None) };
    take_in(&mut store, directory);
    Ok(Some(store))
}

/// A store whose file has several names, which is not opened itself: even a reader may write what its log holds.
fn by_copy(directory: &Path, reason: &StoreError) -> Result<Option<SqliteStore>, Failure> {
    COPIED.call_once(|| output::tell_wrapped(&format!("{reason}; it is read by a copy")));
    let opened = Directory::open(directory).map_err(|error| Failure::environment(error.to_string()))?;
    let copy = Copy::make(&opened, directory)?;
    let path = copy.path().to_owned();
    Ok(SqliteStore::open_copied(directory, &path, Box::new(copy))?)
}

/// Said once by all threads of a command.
static COPIED: Once = Once::new();
static TAKEN_IN: Once = Once::new();
/// How long other users of the store are waited for before the command continues without.
const FOR_THE_SPOOL: Duration = Duration::from_millis(500);
const USUAL: Duration = Duration::from_secs(5);

/// Lets the store take in what a run could not save in it. An error is reported, and loses nothing.
fn take_in(store: &mut SqliteStore, directory: &Path) {
    TAKEN_IN.call_once(|| {
        let mut spool = Spool::in_directory(directory);
        if !spool.waits() {
            return;
        }
        let _ = store.set_busy_timeout(FOR_THE_SPOOL);
        let place = output::shown(spool.path());
        match store.take_in(&mut spool) {
            Ok(intake) => {
                for id in &intake.taken {
                    let id = harmless(id);
                    output::tell_wrapped(&format!("record {id} was kept in {place} and is in the store now"));
                }
                for left in &intake.left {
                    output::tell_wrapped(&format!(
                        "{place}/{} cannot be taken into the store: {}; move it away",
                        harmless(&left.name),
                        harmless(&left.reason)
                    ));
                }
            }
            Err(error) => output::tell_wrapped(&format!("records wait in {place} for the store: {error}")),
        }
        let _ = store.set_busy_timeout(USUAL);
    });
}

/// The store for a command that can do without it: also none where the environment names no place for one.
pub(crate) fn at_hand() -> Result<Option<SqliteStore>, Failure> {
    match directory() {
        Ok(directory) => existing_in(&directory),
        Err(_) => Ok(None),
    }
}

/// Takes identities out of what is written, unless they are asked for.
pub(crate) fn redactor(identities: bool) -> Result<Redactor, Failure> {
    if identities {
        return Ok(Redactor::keeping_identities());
    }
    // Without a place for a store, what is shown are figures that ship with the program.
    if directory().is_err() { redactor_of(None) } else { redactor_of(at_hand()?.as_mut()) }
}

/// Takes identities out by the key of the store; without a store by one that is not kept, so that the short
/// names mean nothing outside of the report.
pub(crate) fn redactor_of(store: Option<&mut SqliteStore>) -> Result<Redactor, Failure> {
    let Some(store) = store else { return Ok(Redactor::with_key(random_key()?)) };
    let units = store.units()?;
    Ok(Redactor::with_key(store.identity_key()?).knowing(units.iter().map(String::as_str)))
}

/// The same at the end of long work, whose result is shown whatever is wrong with the store.
pub(crate) fn redactor_at_any_rate(store: Option<&mut SqliteStore>) -> Result<Redactor, Failure> {
    redactor_of(store).or_else(|_| redactor_of(None))
}

/// The document of a record without identities.
pub(crate) fn redacted(document: &str, redactor: &Redactor) -> Result<String, Failure> {
    let mut value: Value = serde_json::from_str(document)
        .map_err(|e| Failure::environment(format!("a stored record is not JSON: {e}")))?;
    redactor.value(&mut value);
    Ok(value.to_string())
}

/// 256 random bits of the kernel.
pub(crate) fn random_key() -> Result<[u8; 32], Failure> {
    let mut key = [0; 32];
    match assay_device::random(&mut key) {
        Ok(()) => Ok(key),
        // A key that could be guessed would be worse than no report.
        _ => Err(Failure::environment(
            "the kernel gives no random numbers, which stand for serial numbers; use --identities",
        )),
    }
}

// Files of assay in a directory of the data directory. That may belong to another user while root is at work: what is there
// goes by the handle of a directory that was opened once, and no link is followed.

/// Longest file that is read, in bytes: the file of a run of thousands of nodes is some megabytes.
const LONGEST_FILE_BYTES: u64 = 64 << 20;
/// More files are made in no such directory.
const MOST_FILES: u64 = 1_000_000;

/// Where accounts at public instances and records on their way to them are, in the data directory.
pub(crate) const OUTBOX: &str = "submitted";

/// Where pages of records are, in the data directory.
pub(crate) const REPORTS: &str = "reports";

/// A directory in the data directory, opened once.
#[derive(Debug)]
pub(crate) struct DataDirectory(Directory);

impl DataDirectory {
    /// The one of this name; made, for this user alone, where it is missing.
    pub(crate) fn made(name: &str) -> Result<Self, Failure> {
        let data = directory()?;
        assay_store::make_directory(&data)?;
        Directory::open(&data).and_then(|data| data.inside_or_made(name)).map(Self).map_err(owned_failure)
    }

    /// The one of this name; none where there is none.
    pub(crate) fn existing(name: &str) -> Result<Option<Self>, Failure> {
        match Directory::open(&directory()?) {
            Err(error) if is_missing(&error) => Ok(None),
            data => Ok(data.and_then(|data| data.inside(name)).map_err(owned_failure)?.map(Self)),
        }
    }

    /// The directory itself.
    pub(crate) fn into_directory(self) -> Directory {
        self.0
    }

    /// A directory in it; none where there is none.
    pub(crate) fn inside(&self, name: &str) -> Result<Option<Self>, Failure> {
        Ok(self.0.inside(name).map_err(owned_failure)?.map(Self))
    }

    /// A directory in it; made, for this user alone, where it is missing.
    pub(crate) fn inside_or_made(&self, name: &str) -> Result<Self, Failure> {
        self.0.inside_or_made(name).map(Self).map_err(owned_failure)
    }

    /// Where it is.
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// Where a file in it is, for messages, and for the programs that receive it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The text of a file; none where there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, Failure> {
        let file = match self.0.read_file(name, Caching::Cached) {
            Err(error) if is_missing(&error) => return Ok(None),
            file => file.map_err(owned_failure)?,
        };
        let mut text = String::new();
        match file.take(LONGEST_FILE_BYTES + 1).read_to_string(&mut text) {
            Ok(bytes) if bytes as u64 > LONGEST_FILE_BYTES => {
                Err(self.cannot("be read", name, &"it is longer than 64 MiB"))
            }
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(self.cannot("be read", name, &error)),
        }
    }

    /// Gives a file new content, whole or not at all. What has its name is replaced, be it a link.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.0.replace(Path::new(name).as_os_str(), content.as_ref()).map_err(|error| match error {
            OwnedError::Io { source, .. } => self.cannot("be written", name, &source),
            foreign => owned_failure(foreign),
        })
    }

    /// Opens a file for a lock, which is made where it is missing.
    pub(crate) fn for_a_lock(&self, name: &str) -> Result<File, Failure> {
        self.0.file_or_made(name).map_err(owned_failure)
    }

    /// Removes a file; whether there was one.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, Failure> {
        self.0.unlink(name).map_err(owned_failure)
    }

    /// Names of all that is in it, sorted.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        self.0.names(MOST_FILES, &mut |name| names.extend(name.to_str().map(str::to_owned))).map_err(owned_failure)?;
        names.sort();
        Ok(names)
    }

    fn cannot(&self, what: &str, name: &str, why: &dyn std::fmt::Display) -> Failure {
        Failure::environment(format!("{} cannot {what}: {why}", output::shown(&self.path(name))))
    }
}

fn is_missing(error: &OwnedError) -> bool {
    error.kind() == Some(ErrorKind::NotFound)
}

fn owned_failure(error: OwnedError) -> Failure {
    Failure::environment(error.to_string())
}
