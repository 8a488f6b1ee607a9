//! Records of nodes: taken into the store of this machine, or found there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::cluster::ClusterPart;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_fleet::{Expected, Fate, Keep, Ledger, NotKept};
use assay_store::{Keeper, RunState, Store, StoreError, Stored};

use super::ledgers;
use crate::failure::Failure;
use crate::recorder::{Saved, keep_finished};
use crate::{misplaced, state};

/// Why the record of a node is not that of what was to be there.
pub(super) type Guard = Box<dyn Fn(&str, &Record) -> Result<(), String> + Send + Sync>;

/// Takes records into the store of this machine.
pub(super) fn keep(
    expected: &Expected,
    keeper: Keeper,
    records: Arc<Mutex<BTreeMap<usize, Record>>>,
    guard: Option<Guard>,
) -> Keep {
    let (run, nodes) = (expected.run.clone(), expected.nodes.clone());
    let keeper = Mutex::new(keeper);
    Box::new(move |number, document| {
        let text = std::str::from_utf8(document).map_err(|_| "it is not text".to_owned())?;
        let record = Record::from_json(text).map_err(|error| format!("it is not a record: {error}"))?;
        let (name, attempt) = &nodes[number];
        // What an earlier attempt left on the node is handed over by a later one.
        let part = record.cluster.as_deref().filter(|c| c.run == run && c.node == *name && c.attempt <= *attempt);
        let Some(part) = part else { return Err("it is a record of something else".to_owned().into()) };
        let own = |c: &ClusterPart| (&c.run, &c.node, c.attempt) == (&part.run, &part.node, part.attempt);
        if record.outcome == Outcome::Running {
            return Err("it is not finished".to_owned().into());
        }
        guard.as_ref().map_or(Ok(()), |guard| guard(name, &record)).map_err(NotKept::Misplaced)?;
        let id = record.id.clone();
        let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let there = match keeper.store().map(|store| store.load(&id)) {
            Some(Ok(stored)) => Some(stored.record),
            None | Some(Err(StoreError::UnknownId { .. })) => None,
            Some(Err(error)) => return Err(error.to_string().into()),
        };
        // A node that shares this store may have left what it had before the end: that has no part in a cluster yet.
        let label = |there: &Record, name: &str, value: &str| there.labels.get(name).is_some_and(|said| said == value);
        let begun = |there: &Record| {
            there.outcome == Outcome::Running && label(there, "fleet", &run) && label(there, "node", name)
        };
        let same = |there: &Record| {
            let part = there.cluster.as_ref();
            part.map_or_else(|| begun(there), |c| own(c))
        };
        if !(label(&record, "fleet", &run) && label(&record, "node", name)) {
            return Err("its labels are those of something else".to_owned().into());
        }
        if there.is_some_and(|there| !same(&there)) {
            return Err(format!("another record here is called {id}").into());
        }
        match keep_finished(&mut keeper, &record) {
            Saved::Yes | Saved::Later(_) => {}
            Saved::No(reason) => return Err(reason.into()),
        }
        records.lock().unwrap_or_else(PoisonError::into_inner).insert(number, record);
        Ok(id)
    })
}

/// Takes records that are here already: a node of this machine may have finished after its coordinator was killed.
/// Those that the guard refuses are marked.
pub(super) fn adopt(ledger: &mut Ledger, guard: Option<&Guard>) -> Result<(), Failure> {
    let Some(mut store) = state::existing()? else { return Ok(()) };
    let ids = store.resolve(&format!("fleet={}", ledger.run)).unwrap_or_default();
    for id in ids {
        let Ok(Stored { mut record, .. }) = store.load(&id) else { continue };
        let Some(part) = record.cluster.as_deref().filter(|part| part.run == ledger.run && part.lost.is_none()) else {
            continue;
        };
        if guard.is_some_and(|guard| guard(&part.node, &record).is_err()) {
            if record.outcome != Outcome::Running && !misplaced::is_marked(&record) {
                misplaced::mark(&mut record);
                store.save(&record, RunState::Finished)?;
            }
            continue;
        }
        if let Some(entry) = ledger.nodes.iter_mut().find(|entry| entry.name == part.node)
            && record.outcome == Outcome::Completed
        {
            entry.fate = Some(Fate::Recorded { id });
        }
    }
    ledgers::keep(ledger)
}
