//! Where runs on clusters are kept: a file each, next to the store.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

use assay_core::text::harmless;
use assay_fleet::Ledger;

use crate::failure::Failure;
use crate::{files, output, state};

const DIRECTORY: &str = "fleet";

/// Names the newest run, as `last` names the newest record elsewhere.
pub(super) const LAST: &str = "last";

/// Writes what a run has come to, whole.
pub(super) fn keep(ledger: &Ledger) -> Result<(), Failure> {
    let path = state::subdirectory(DIRECTORY)?.join(format!("{}.json", ledger.run));
    let text = ledger.to_json().map_err(Failure::environment)?;
    files::write_whole(&path, text)
}

/// The file with the suite of a run that is a turn of a plan.
pub(super) fn suite(run: &str) -> Result<PathBuf, Failure> {
    Ok(state::subdirectory(DIRECTORY)?.join(format!("{run}.suite.toml")))
}

/// Its text.
pub(super) fn suite_text(run: &str) -> Result<String, Failure> {
    let path = suite(run)?;
    std::fs::read_to_string(&path).map_err(|error| Failure::environment(format!("{}: {error}", output::shown(&path))))
}

/// The file with a plan that was begun, by its label.
pub(super) fn plan(label: &str) -> Result<PathBuf, Failure> {
    Ok(state::subdirectory(DIRECTORY)?.join(format!("{label}.plan.toml")))
}

/// The run whose identity begins with `run`, or the last one.
pub(super) fn find(run: &str) -> Result<Ledger, Failure> {
    if run == LAST
        && let Some(newest) = all()?.pop()
    {
        return Ok(newest);
    }
    let mut found: Vec<PathBuf> = paths()?;
    found.retain(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with(run)));
    match found.as_slice() {
        [path] => read(path),
        [] => {
            Err(Failure::usage(format!("no run on a cluster is called {}; assay fleet list has them", harmless(run))))
        }
        _ => Err(Failure::usage(format!("several runs begin with {}; assay fleet list has them", harmless(run)))),
    }
}

/// All runs, the oldest first; files that cannot be read are named.
pub(super) fn all() -> Result<Vec<Ledger>, Failure> {
    let mut ledgers = Vec::new();
    for path in paths()? {
        match read(&path) {
            Ok(ledger) => ledgers.push(ledger),
            Err(failure) => output::tell_wrapped(&format!("warning: {}", failure.message())),
        }
    }
    ledgers.sort_by(|a, b| a.created.cmp(&b.created));
    Ok(ledgers)
}

/// Keeps a run from being resumed while it is under way.
pub(super) fn lock(run: &str) -> Result<File, Failure> {
    locked(&format!("{run}.lock"), || format!("run {run} is under way in another process"))
}

/// Keeps a plan, by its label, from being carried out by two processes: each would begin the next round.
pub(super) fn lock_plan(label: &str) -> Result<File, Failure> {
    locked(&format!("{label}.plan.lock"), || format!("plan {label} is carried out by another process at the moment"))
}

/// The lock lasts as long as the file is open.
fn locked(name: &str, held: impl Fn() -> String) -> Result<File, Failure> {
    let path = state::subdirectory(DIRECTORY)?.join(name);
    let refuse = |error: std::io::Error| Failure::environment(format!("{}: {error}", output::shown(&path)));
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(refuse)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::environment(held())),
        Err(TryLockError::Error(error)) => Err(refuse(error)),
    }
}

fn paths() -> Result<Vec<PathBuf>, Failure> {
    let directory = state::directory()?.join(DIRECTORY);
    let Ok(entries) = std::fs::read_dir(&directory) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    Ok(paths)
}

fn read(path: &PathBuf) -> Result<Ledger, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    let ledger = text.and_then(|text| Ledger::from_json(&text));
    ledger.map_err(|reason| Failure::environment(format!("{}: {reason}", output::shown(path))))
}
