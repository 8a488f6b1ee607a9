//! Records as JSON documents.

use assay_core::record::Record;
use assay_core::text;

/// One record as a document; several (or none) as an array of documents. Terminal control characters are escaped.
#[must_use]
pub fn json(records: &[Record]) -> String {
    let document = match records {
        [one] => one.to_value(),
        many => many.iter().map(Record::to_value).collect(),
    };
    // A record has string keys only, and numbers that JSON lacks become null: this cannot fail.
    document.map(|document| text::json(&format!("{document:#}\n"))).unwrap_or_default()
}
