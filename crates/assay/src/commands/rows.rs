//! Records as rows of a list for machines.

use assay_store::Summary;
use serde_json::{Value, json};

/// One object a record, as `assay list --json` prints them.
pub(super) fn rows(summaries: &[Summary]) -> Value {
    let row = |s: &Summary| {
        json!({
            "id": s.id, "created": s.created, "medium": s.title, "kind": s.kind, "unit": s.unit,
            "host": s.host, "slot": s.slot, "suite": s.suite, "outcome": s.outcome,
            "verdict": s.verdict, "labels": s.labels,
        })
    };
    summaries.iter().map(row).collect()
}
