//! Where runs on clusters are kept: a file each, next to the store. `assay fleet list` shows them.

use std::fs::{File, TryLockError};
use std::path::PathBuf;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_fleet::{FleetError, LAST_RUN, Ledger, run_named};

use crate::cli::FleetListArgs;
use crate::documents::fleet::FleetListDocument;
use crate::ending::Failure;
use crate::output;
use crate::state::DataDirectory;

const DIRECTORY: &str = "fleet";
/// How the file of a run ends.
const JSON: &str = ".json";

/// Writes what a run has come to, whole.
pub(super) fn keep(ledger: &Ledger) -> Result<(), Failure> {
    let text = ledger.to_json().map_err(Failure::environment)?;
    DataDirectory::made(DIRECTORY)?.write(&format!("{}{JSON}", ledger.run), text)
}

/// Keeps the suite of a run that is a turn of a plan; the file that has it.
pub(super) fn keep_suite(run: &str, text: &str) -> Result<PathBuf, Failure> {
    let (directory, name) = (DataDirectory::made(DIRECTORY)?, suite_name(run));
    directory.write(&name, text)?;
    Ok(directory.path(&name))
}

/// The file with the suite of a run that is a turn of a plan.
pub(super) fn suite(run: &str) -> Result<PathBuf, Failure> {
    Ok(DataDirectory::made(DIRECTORY)?.path(&suite_name(run)))
}

/// Its text.
pub(super) fn suite_text(run: &str) -> Result<String, Failure> {
    text(&suite_name(run))
}

fn suite_name(run: &str) -> String {
    format!("{run}.suite.toml")
}

/// Keeps a plan that was begun, by its label.
pub(super) fn keep_plan(label: &str, text: &str) -> Result<(), Failure> {
    DataDirectory::made(DIRECTORY)?.write(&plan_name(label), text)
}

/// The text of a plan that was begun, by its label, and the file that has it.
pub(super) fn plan(label: &str) -> Result<(String, PathBuf), Failure> {
    let name = plan_name(label);
    Ok((text(&name)?, DataDirectory::made(DIRECTORY)?.path(&name)))
}

fn plan_name(label: &str) -> String {
    format!("{label}.plan.toml")
}

/// The text of a file that has to be there.
fn text(name: &str) -> Result<String, Failure> {
    let directory = DataDirectory::made(DIRECTORY)?;
    let missing = || Failure::environment(format!("{}: no such file", output::shown(&directory.path(name))));
    directory.read(name)?.ok_or_else(missing)
}

/// The run whose identity begins with `run`, or the last one.
pub(super) fn find(run: &str) -> Result<Ledger, Failure> {
    if run == LAST_RUN
        && let Some(newest) = all()?.pop()
    {
        return Ok(newest);
    }
    let (directory, found) = files()?;
    let names = found.iter().map(|name| name.strip_suffix(JSON).unwrap_or(name));
    let at = run_named(names, run)?;
    match directory {
        Some(directory) => read(&directory, &found[at]),
        None => Err(FleetError::UnknownRun(run.to_owned()).into()),
    }
}

/// All runs, the oldest first; files that cannot be read are named.
pub(super) fn all() -> Result<Vec<Ledger>, Failure> {
    let mut ledgers = Vec::new();
    let (directory, names) = files()?;
    for (directory, name) in directory.iter().flat_map(|directory| names.iter().map(move |name| (directory, name))) {
        match read(directory, name) {
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
    let directory = DataDirectory::made(DIRECTORY)?;
    let file = directory.for_a_lock(name)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::environment(held())),
        Err(TryLockError::Error(error)) => {
            Err(Failure::environment(format!("{}: {error}", output::shown(&directory.path(name)))))
        }
    }
}

/// Names of the files of runs, and where they are; none where nothing was ever run.
fn files() -> Result<(Option<DataDirectory>, Vec<String>), Failure> {
    let Some(directory) = DataDirectory::existing(DIRECTORY)? else { return Ok((None, Vec::new())) };
    let mut names = directory.names()?;
    names.retain(|name| name.ends_with(JSON));
    Ok((Some(directory), names))
}

fn read(directory: &DataDirectory, name: &str) -> Result<Ledger, Failure> {
    let refuse = |reason: &str| Failure::environment(format!("{}: {reason}", output::shown(&directory.path(name))));
    let text = directory.read(name)?.ok_or_else(|| refuse("no such file"))?;
    Ledger::from_json(&text).map_err(|reason| refuse(&reason))
}

// `assay fleet list`

pub(super) fn list_runs(args: &FleetListArgs) -> Result<Exit, Failure> {
    let ledgers = all()?;
    if args.json {
        output::print_json(&FleetListDocument { runs: ledgers })?;
        return Ok(Exit::Good);
    }
    let lines: Vec<String> = ledgers.iter().map(run_line).collect();
    if lines.is_empty() {
        output::tell("no run on a cluster yet; assay fleet run begins one");
        return Ok(Exit::Good);
    }
    output::print(&lines.concat())?;
    Ok(Exit::Good)
}

fn run_line(ledger: &Ledger) -> String {
    let (nodes, missing) = (ledger.nodes.len(), ledger.missing().len());
    let day = ledger.created.get(..16).unwrap_or_default().replace('T', " ");
    let turn = ledger.rotation.as_ref().map(|turn| format!(", round {} of plan {}", turn.round, turn.plan));
    let turn = turn.unwrap_or_default();
    harmless(&format!("{}  {day}  {}  {} of {nodes} nodes{turn}", ledger.run, ledger.mode, nodes - missing)) + "\n"
}
