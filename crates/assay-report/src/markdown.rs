//! Records as Markdown, for issues, wikis and forums.

use assay_core::record::Record;

use crate::presented::{Overview, Presented, record_document, records_document};

/// All records one after the other; several begin with what they come to, and a table that compares them.
#[must_use]
pub fn markdown(records: &[Record]) -> String {
    let overview = (records.len() > 1).then(|| records_document(&Overview::of(records)));
    let each = records.iter().map(|record| record_document(&Presented::of(record)));
    overview.into_iter().chain(each).map(|document| document.markdown()).collect::<Vec<_>>().join("\n")
}
