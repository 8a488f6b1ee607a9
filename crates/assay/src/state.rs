//! Where records are kept, and the key that stands for identities.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use assay_core::text::harmless;
use assay_device::owned::Directory;
use assay_report::Redactor;
use assay_store::{Keeper, Spool, SqliteStore, Store, StoreError, data_dir};

use crate::copies::Copy;
use crate::failure::Failure;
use crate::{output, system};

/// What is said of a store without records.
pub(crate) const EMPTY: &str = "the store is empty; measure something first: assay run";

/// Work that takes longer than this is reported.
const LONG: Duration = Duration::from_secs(1);

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
    match open_existing(&directory()?) {
        Err(StoreError::Locked { .. }) if !resume => Ok((None, true)),
        Err(error) => Err(error.into()),
        Ok(_) => Ok((existing()?, false)),
    }
}

/// The store as it is; none where there is none yet.
pub(crate) fn existing() -> Result<Option<SqliteStore>, Failure> {
    existing_in(&directory()?)
}

/// Opens the store, and says so where it takes long to bring an older one up to date.
fn open_existing(directory: &Path) -> Result<Option<SqliteStore>, StoreError> {
    let (begun, mut reported) = (Instant::now(), false);
    SqliteStore::open_existing_telling(directory, &mut |done, of| {
        if !reported && begun.elapsed() > LONG {
            reported = true;
            output::tell_wrapped(&format!(
                "brings the store of an older version up to date, once: {done} of {of} records are done"
            ));
        }
    })
}

fn existing_in(directory: &Path) -> Result<Option<SqliteStore>, Failure> {
    let store = match open_existing(directory) {
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
    let copy = Copy::of(&opened, directory)?;
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
    let key = match store {
        Some(store) => store.identity_key()?,
        None => random_key()?,
    };
    Ok(Redactor::with_key(key))
}

/// The same at the end of long work, whose result is shown whatever is wrong with the store.
pub(crate) fn redactor_at_any_rate(store: Option<&mut SqliteStore>) -> Result<Redactor, Failure> {
    redactor_of(store).or_else(|_| redactor_of(None))
}

fn random_key() -> Result<[u8; 32], Failure> {
    let mut key = [0; 32];
    match assay_device::random(&mut key) {
        Ok(()) => Ok(key),
        // A key that could be guessed would be worse than no report.
        _ => Err(Failure::environment(
            "the kernel gives no random numbers, which stand for serial numbers; use --identities",
        )),
    }
}
