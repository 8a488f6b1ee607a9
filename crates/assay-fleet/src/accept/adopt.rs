//! Records that are here already, as results of a run.

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_store::{RunState, SqliteStore, Store, StoreError, Stored};

use super::criteria::{Claim, Criteria, Way};
use super::refusal::Refusal;
use crate::ledger::{Fate, Ledger};

/// The label of a record of another medium than the plan wants; it holds what the labels of the unit said.
const MISPLACED: &str = "misplaced";
/// Labels that name the unit of a record.
const UNIT_LABELS: [&str; 4] = ["plan", "model", "unit", "round"];

/// Removes the labels that name the unit of a record of another medium, so that it counts for no unit.
pub fn mark_misplaced(record: &mut Record) {
    let said = UNIT_LABELS.iter().filter_map(|key| Some(format!("{key}={}", record.labels.remove(*key)?)));
    let said = said.collect::<Vec<_>>().join(" ");
    record.labels.entry(MISPLACED.to_owned()).or_insert(said);
}

/// Whether [`mark_misplaced`] marked the record.
#[must_use]
pub fn is_misplaced(record: &Record) -> bool {
    record.labels.contains_key(MISPLACED)
}

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

#[cfg(test)]
mod tests {
    use super::super::home::samples::record;
    use super::*;
    use crate::ledger::NodeEntry;
    use crate::meeting::Mode;

    #[test]
    fn what_a_node_left_here_is_its_result_where_it_is_that_of_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(directory.path()).unwrap();
        let mut lost = record("lost", "d", 1);
        lost.cluster.iter_mut().for_each(|part| part.lost = Some("gone".to_owned()));
        let unit = |mut record: Record| {
            record.labels.insert("unit".to_owned(), "7".to_owned());
            record
        };
        let all = [record("good", "a", 1), record("early", "b", 2), unit(record("wrong", "c", 1)), lost];
        all.iter().for_each(|record| store.save(record, RunState::Finished).unwrap());
        let nodes = ["a", "b", "c", "d"].map(|name| NodeEntry { attempts: 1, ..NodeEntry::new(name, "/m") }).to_vec();
        let mut ledger = Ledger::begun("local", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes);
        ledger.run = "r".to_owned();
        let guard = |node: &str, _: &Record| if node == "c" { Err("another card".to_owned()) } else { Ok(()) };
        let criteria = Criteria { run: "r".to_owned(), asked: None, guard: Some(Box::new(guard)) };
        adopt(&mut ledger, &criteria, &mut store).unwrap();
        let here: Vec<_> = ledger.nodes.iter().map(|node| node.fate.as_ref().and_then(Fate::record)).collect();
        assert_eq!(here, [Some("good"), None, None, None]);
        let marked = store.load("wrong").unwrap().record;
        assert!(is_misplaced(&marked) && !marked.labels.contains_key("unit"));
        assert!(!is_misplaced(&store.load("good").unwrap().record));
    }
}
