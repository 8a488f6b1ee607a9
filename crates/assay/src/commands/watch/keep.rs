//! Where watches are kept: a file each, next to the store. The records of the nights are in the store; what the file says of
//! levels is made again of them where the file is of another version.

use std::fs::{File, TryLockError};

use assay_core::record::Record;
use assay_store::Store;
use assay_watch::{FIRST, KEPT_VERSION, Kept, Measured, Plan, RUN_LABEL, SECOND, WATCH_LABEL};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ending::Failure;
use crate::state::{self, DataDirectory};
use crate::{output, queries};

const DIRECTORY: &str = "watch";
/// Where watched clusters are kept.
const FLEETS: &str = "watch-fleet";
const ENDING: &str = ".json";

/// Names of all watches, sorted.
pub(in crate::commands) fn names() -> Result<Vec<String>, Failure> {
    let Some(directory) = DataDirectory::existing(DIRECTORY)? else { return Ok(Vec::new()) };
    Ok(directory.names()?.iter().filter_map(|name| name.strip_suffix(ENDING).map(str::to_owned)).collect())
}

/// Those that are asked for; all where none is named.
pub(super) fn named(asked: &[String]) -> Result<Vec<String>, Failure> {
    let all = names()?;
    if all.is_empty() {
        return Err(Failure::usage("no medium is watched; begin with: assay watch add DIR"));
    }
    match asked.iter().find(|name| !all.contains(name)) {
        Some(unknown) => Err(Failure::usage(format!(
            "no watch is named {}; there are {}",
            assay_core::text::quoted(unknown),
            all.join(", ")
        ))),
        None if asked.is_empty() => Ok(all),
        None => Ok(asked.to_vec()),
    }
}

/// Those that this machine measures.
pub(super) fn here(asked: &[String]) -> Result<Vec<String>, Failure> {
    let mut here = Vec::new();
    for name in named(asked)? {
        match read(&name)?.plan.measured {
            Measured::Here => here.push(name),
            Measured::Node { fleet, .. } if asked.contains(&name) => {
                return Err(Failure::usage(format!(
                    "{name} is measured with its cluster: assay fleet watch run {fleet}"
                )));
            }
            Measured::Node { .. } => {}
        }
    }
    Ok(here)
}

/// The media of the nodes of a watched cluster.
pub(super) fn of_fleet(fleet: &str) -> Result<Vec<Kept>, Failure> {
    let all = names()?.iter().map(|name| read(name)).collect::<Result<Vec<Kept>, Failure>>()?;
    let is_of = |kept: &Kept| matches!(&kept.plan.measured, Measured::Node { fleet: of, .. } if of == fleet);
    Ok(all.into_iter().filter(is_of).collect())
}

/// Names of the watched clusters, sorted.
pub(super) fn fleet_names() -> Result<Vec<String>, Failure> {
    let Some(directory) = DataDirectory::existing(FLEETS)? else { return Ok(Vec::new()) };
    Ok(directory.names()?.iter().filter_map(|name| name.strip_suffix(ENDING).map(str::to_owned)).collect())
}

/// A watched cluster.
pub(super) fn read_fleet<T: DeserializeOwned>(name: &str) -> Result<T, Failure> {
    let file = format!("{name}{ENDING}");
    let directory = DataDirectory::existing(FLEETS)?;
    let text = directory.as_ref().map(|directory| directory.read(&file)).transpose()?.flatten();
    let (Some(directory), Some(text)) = (directory, text) else {
        return Err(Failure::usage(format!("no watched cluster is named {}", assay_core::text::quoted(name))));
    };
    serde_json::from_str(&text).map_err(|error| {
        let shown = output::shown(&directory.path(&file));
        Failure::environment(format!("{shown}: is damaged: {error}; remove it, and add the cluster again"))
    })
}

/// Writes one.
pub(super) fn write_fleet<T: Serialize>(name: &str, fleet: &T) -> Result<(), Failure> {
    let text = serde_json::to_string(fleet)
        .map_err(|error| Failure::environment(format!("the watch cannot be written as JSON: {error}")))?;
    DataDirectory::made(FLEETS)?.write(&format!("{name}{ENDING}"), text)
}

/// Removes one.
pub(super) fn remove_fleet(name: &str) -> Result<(), Failure> {
    let Some(directory) = DataDirectory::existing(FLEETS)? else { return Ok(()) };
    directory.remove(&format!("{name}{ENDING}")).map(drop)
}

/// The plan alone, which every version has.
#[derive(Deserialize)]
struct PlanOnly {
    version: u32,
    #[serde(default)]
    added_at: i64,
    plan: Plan,
}

/// One of the names that are there.
pub(super) fn read(name: &str) -> Result<Kept, Failure> {
    let file = format!("{name}{ENDING}");
    let directory = DataDirectory::existing(DIRECTORY)?;
    let text = directory.as_ref().map(|directory| directory.read(&file)).transpose()?.flatten();
    let (Some(directory), Some(text)) = (directory, text) else {
        return Err(Failure::usage(format!("no watch is named {}", assay_core::text::quoted(name))));
    };
    let shown = output::shown(&directory.path(&file));
    let broken = |error: serde_json::Error| {
        Failure::environment(format!("{shown}: is damaged: {error}; remove it, and add the medium again"))
    };
    let known: PlanOnly = serde_json::from_str(&text).map_err(broken)?;
    if known.version == KEPT_VERSION {
        return serde_json::from_str(&text).map_err(broken);
    }
    again(known.plan, known.added_at)
}

/// Writes one.
pub(super) fn write(kept: &Kept) -> Result<(), Failure> {
    let text = serde_json::to_string(kept)
        .map_err(|error| Failure::environment(format!("the watch cannot be written as JSON: {error}")))?;
    DataDirectory::made(DIRECTORY)?.write(&format!("{}{ENDING}", kept.plan.name), text)
}

/// Removes one.
pub(super) fn remove(name: &str) -> Result<(), Failure> {
    let Some(directory) = DataDirectory::existing(DIRECTORY)? else { return Ok(()) };
    directory.remove(&format!("{name}{ENDING}"))?;
    directory.remove(&format!("{name}.lock")).map(drop)
}

/// A lock on a watch, or none where another process has it.
pub(super) fn lock(name: &str) -> Result<Option<File>, Failure> {
    let file = DataDirectory::made(DIRECTORY)?.for_a_lock(&format!("{name}.lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Failure::environment(format!("the watch cannot be locked: {error}"))),
    }
}

/// When a record began, in seconds since 1970.
pub(super) fn began(record: &Record) -> Option<i64> {
    record.created.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

fn is(record: &Record, run: &str) -> bool {
    record.labels.get(RUN_LABEL).is_some_and(|label| label == run)
}

/// A record of the store.
pub(super) fn record(id: &str) -> Result<Record, Failure> {
    let store = state::existing()?.ok_or_else(|| Failure::environment(state::EMPTY))?;
    Ok(store.load(id)?.record)
}

/// The records of a watch, oldest first.
fn records(plan: &Plan) -> Result<Vec<Record>, Failure> {
    let Some(store) = state::existing()? else { return Ok(Vec::new()) };
    let (name, node) = match &plan.measured {
        Measured::Here => (&plan.name, None),
        Measured::Node { fleet, node } => (fleet, Some(node)),
    };
    let ids: Vec<String> =
        store.list(&format!("{WATCH_LABEL}={name}"))?.into_iter().map(|summary| summary.id).collect();
    let (records, _) = queries::readable(&ids, |id| store.load(id))?;
    let is_its =
        |record: &Record| node.is_none_or(|node| record.cluster.as_ref().is_some_and(|part| part.node == *node));
    Ok(records.into_iter().map(|stored| stored.record).filter(is_its).collect())
}

/// Those of the first run of each night.
pub(super) fn first_records(plan: &Plan) -> Result<Vec<Record>, Failure> {
    Ok(records(plan)?.into_iter().filter(|record| is(record, FIRST)).collect())
}

/// Makes what is kept again, of the records of a watch.
pub(super) fn again(plan: Plan, added_at: i64) -> Result<Kept, Failure> {
    let mut kept = Kept::new(plan, added_at);
    let records = records(&kept.plan)?;
    for (at, first) in records.iter().enumerate().filter(|(_, record)| is(record, FIRST)) {
        let Some(seconds) = began(first) else { continue };
        let second = records.get(at + 1).filter(|record| is(record, SECOND));
        // A record that is no night was skipped when it was made, too.
        let _ = kept.take(first, seconds, &mut || second.cloned());
    }
    Ok(kept)
}
