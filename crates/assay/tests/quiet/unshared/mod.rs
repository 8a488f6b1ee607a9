//! Tests that any load would disturb: each has the lab to itself. Their names come after those of the tests that share
//! the lab, so that they wait for all of these once, and not for one after the other.

mod accuracy;
mod host;
mod originals;

use assay_core::finding::Finding;
use assay_core::record::Record;

/// The program that used the processors most beside a run, where the run says so.
fn busy(record: &Record) -> Option<String> {
    record.all_warnings().find_map(|warning| match &warning.finding {
        Finding::LoadOfOthers { most, .. } => Some(most.clone()),
        _ => None,
    })
}
