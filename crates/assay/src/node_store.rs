//! The store of a node while it takes part in a run: a directory of its own in the data directory. It is gone once the record
//! was handed over; what was not handed over goes to the user's store there.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_core::outcome::Outcome;
use assay_core::text::harmless;
use assay_runner::remove_abandoned;
use assay_store::{Keeper, Kept, RunState, Spool, SqliteStore, Store, new_id, store_files};

use crate::ending::Failure;
use crate::output;
use crate::state::{self, DataDirectory};
use crate::system::is_at;

/// Where these directories are, in the data directory.
const NODES: &str = "nodes";
/// A file in each that is locked while its run is under way.
const LOCK: &str = "lock";
/// The spool beside a store is empty when the store has taken it in.
const SPOOL: &str = "spool";
/// How long a save waits for other processes.
const BUSY: Duration = Duration::from_secs(5);
/// A command that looks for old directories may take the lock of a new one first, and removes it then.
const TRIES: u32 = 10;

/// The directory of a node under way.
pub(crate) struct NodeStore {
    name: String,
    path: PathBuf,
    /// Held while the run is under way.
    _lock: File,
    handed_over: bool,
}

impl NodeStore {
    /// Makes one.
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut refused = Failure::environment("no directory for the store of this node");
        for _ in 0..TRIES {
            let name = new_id();
            // The one above goes with the last one in it, even while this one is made.
            let made = DataDirectory::made(NODES).and_then(|nodes| {
                let lock = nodes.inside_or_made(&name)?.for_a_lock(LOCK)?;
                Ok((nodes.path(&name), lock))
            });
            let (path, lock) = match made {
                Ok(made) => made,
                Err(failure) => {
                    refused = failure;
                    continue;
                }
            };
            match lock.try_lock() {
                // On a file system without locks no other command can take the directory either.
                Ok(()) | Err(TryLockError::Error(_)) if is_at(&lock, &path.join(LOCK)) => {
                    return Ok(Self { path, name, _lock: lock, handed_over: false });
                }
                _ => {}
            }
        }
        Err(refused)
    }

    /// Its store, with the spool beside it.
    pub(crate) fn keeper(&self) -> Result<Keeper, Failure> {
        Ok(Keeper::open(&self.path)?)
    }

    /// The record is with the coordinator: none has to stay here.
    pub(crate) fn is_handed_over(&mut self) {
        self.handed_over = true;
    }
}

impl Drop for NodeStore {
    fn drop(&mut self) {
        let end = if self.handed_over { Ok(()) } else { move_records(&self.path) };
        if let Err(reason) = end.and_then(|()| remove(&self.name)) {
            output::tell_wrapped(&format!("warning: {}: {reason}", output::shown(&self.path)));
        }
    }
}

/// Takes what killed nodes left into the user's store, and removes their directories and the test files that they left on media.
/// Each run and each command on nodes begins so.
pub(crate) fn recover() {
    let Ok(Some(nodes)) = DataDirectory::existing(NODES) else { return };
    for name in nodes.names().unwrap_or_default() {
        let Ok(Some(own)) = nodes.inside(&name) else { continue };
        // A new directory gets its lock first. One without a store was left before anything was measured.
        let Ok(lock) = own.for_a_lock(LOCK) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        let path = nodes.path(&name);
        if let Err(reason) = move_records(&path).and_then(|()| remove(&name)) {
            output::tell_wrapped(&format!("warning: {}: {reason}", output::shown(&path)));
        }
    }
}

/// Takes the records of a node into the user's store.
fn move_records(path: &Path) -> Result<(), String> {
    let words = |error: assay_store::StoreError| error.to_string();
    let mut spool = Spool::in_directory(path);
    let store = match SqliteStore::open_existing(path).map_err(words)? {
        None if spool.waits() => Some(SqliteStore::open(path).map_err(words)?),
        store => store,
    };
    let Some(mut store) = store else { return Ok(()) };
    if spool.waits() {
        store.take_in(&mut spool).map_err(words)?;
    }
    for run in store.abandoned().map_err(words)? {
        let removed = run.scratch.as_deref().map(remove_abandoned).unwrap_or_default();
        let files = if removed.directories > 0 { "; its test file was removed" } else { "" };
        output::tell_wrapped(&format!("run {} of this node was killed{files}", harmless(&run.id)));
    }
    let all = store.list("all").map_err(words)?;
    if all.iter().any(|summary| summary.outcome == Outcome::Running) {
        return Err("a run of another host is under way there".to_owned());
    }
    if all.is_empty() {
        return Ok(());
    }
    let mut keeper = state::keeper().map_err(|failure| failure.message().to_owned())?;
    for summary in all {
        let record = store.load(&summary.id).map_err(words)?.record;
        if let Kept::Nowhere(error, _) = keeper.keep(&record, RunState::Finished, BUSY) {
            return Err(error.to_string());
        }
    }
    Ok(())
}

/// Removes the directory of a node, and those above it that became empty. Other files stay.
fn remove(name: &str) -> Result<(), String> {
    let words = |failure: Failure| failure.message().to_owned();
    let Some(nodes) = DataDirectory::existing(NODES).map_err(words)? else { return Ok(()) };
    let Some(own) = nodes.inside(name).map_err(words)? else { return Ok(()) };
    for file in store_files() {
        own.remove(&file).map_err(words)?;
    }
    // The lock is the last: who takes it finds nothing.
    let _ = std::fs::remove_dir(own.path(SPOOL));
    own.remove(LOCK).map_err(words)?;
    let path = nodes.path(name);
    std::fs::remove_dir(&path).map_err(|error| error.to_string())?;
    for above in path.ancestors().skip(1).take(2) {
        if std::fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}
