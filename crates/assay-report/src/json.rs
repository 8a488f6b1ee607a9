//! Records as JSON documents.

use assay_core::record::Record;
use assay_core::text;

/// One record as a document, several (or none) as an array of documents. Nothing is left in it that a
/// terminal could obey.
#[must_use]
pub fn json(records: &[Record]) -> String {
    let document = match records {
        [one] => serde_json::to_string_pretty(one),
        many => serde_json::to_string_pretty(many),
    };
    // A record has string keys only, and numbers that JSON lacks become null: this cannot fail.
    document.map(|t| text::json(&t) + "\n").unwrap_or_default()
}
