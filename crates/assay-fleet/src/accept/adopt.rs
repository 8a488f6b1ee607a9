//! Records that are here already, as results of a run.

use assay_core::outcome::Outcome;
use assay_store::{RunState, SqliteStore, Store, StoreError, Stored};

use super::criteria::{Claim, Criteria, Way};
use super::misplaced::{is_misplaced, mark_misplaced};
use super::refusal::Refusal;
use crate::ledger::{Fate, Ledger};

/// Takes complete records that are here into the ledger of their run: a node of this machine may have finished after its coordinator
/// was killed. Those of another medium than the one that was to be there are marked.
///
/// # Errors
/// [`StoreError`], where one cannot be marked.
pub fn adopt(ledger: &mut Ledger, criteria: &Criteria, store: &mut SqliteStore) -> Result<(), StoreError> {
    for id in store.resolve(&format!("fleet={}", ledger.run)).unwrap_or_default() {
        let Ok(Stored { mut record, .. }) = store.load(&id) else { continue };
        let Some(part) = record.cluster.as_deref().filter(|part| part.lost.is_none()) else { continue };
        let Some(entry) = ledger.nodes.iter_mut().find(|entry| entry.name == part.node) else { continue };
        let way = Way::Fetched { id: &id, attempts: Some(entry.attempts) };
        match criteria.judge(&Claim { node: &entry.name, way }, &record) {
            Ok(()) if record.outcome == Outcome::Completed => entry.fate = Some(Fate::Recorded { id }),
            Err(Refusal::Misplaced(_)) if !is_misplaced(&record) => {
                mark_misplaced(&mut record);
                store.save(&record, RunState::Finished)?;
            }
            _ => {}
        }
    }
    Ok(())
}
