//! Records as JSON documents.

use assay_core::record::Record;

/// One record as a document, several (or none) as an array of documents.
#[must_use]
pub fn json(records: &[Record]) -> String {
    let text = match records {
        [one] => serde_json::to_string_pretty(one),
        many => serde_json::to_string_pretty(many),
    };
    // A record has string keys only, and numbers that JSON lacks become null: this cannot fail.
    text.map(|t| t + "\n").unwrap_or_default()
}
