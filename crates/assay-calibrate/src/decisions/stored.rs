//! What a store gives back of a fleet.

use std::path::Path;

use assay_core::record::Record;
use assay_lab::fleet::Fleet;
use assay_store::{Detail, RunState, SqliteStore, Store, observed};

use crate::found::Failure;

/// The records of a fleet as a store gives them back.
///
/// # Errors
/// A record that cannot be stored.
pub fn stored(fleet: &Fleet) -> Result<Vec<Record>, Failure> {
    let read = |record: &Record| observed(record, Detail::Repeats).map_err(Failure::from);
    fleet.records().iter().map(read).collect()
}

/// Saves the records of a fleet in the store in a directory, which is created if necessary.
///
/// # Errors
/// Those of the store.
pub fn save(directory: &Path, fleet: &Fleet) -> Result<(), Failure> {
    let mut store = SqliteStore::open(directory)?;
    fleet.records().iter().try_for_each(|record| Ok(store.save(record, RunState::Finished)?))
}

#[cfg(test)]
mod tests {
    use assay_lab::fleet::{Design, Load, Spread, Truth, Units};

    use super::*;

    #[test]
    fn rows_judge_what_a_store_gives_back() {
        let spread = Spread { run: 0.02, repeat: 0.01, common: 0.5, ..Spread::default() };
        let mut truth = Truth::equal(Load::random_read(), 2, Units::Normal(0.1), spread).with_fake(1, 0);
        truth.loads = Load::eight();
        let fleet = Fleet { truth, design: Design::units(&[2, 1]).on_days(2), seed: 7 };
        let directory = tempfile::tempdir().unwrap();
        save(directory.path(), &fleet).unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        let back = store.observations("all", Detail::Repeats).unwrap();
        assert_eq!(back, stored(&fleet).unwrap());
        assert_eq!(back.len(), 6);
    }
}
