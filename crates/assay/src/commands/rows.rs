//! Records as rows of a list for machines.

use assay_core::record::Record;
use serde_json::{Value, json};

/// One object a record, as `assay list --json` prints them. `verification` is the verdict of the checks of the unit, null
/// where it was not checked.
pub(super) fn rows(records: &[Record]) -> Value {
    let row = |r: &Record| {
        json!({
            "id": r.id, "created": r.created, "medium": r.medium.title(), "kind": r.medium.kind, "unit": r.medium.unit,
            "host": r.host.hostname, "slot": r.host.slot, "suite": r.suite.name, "outcome": r.outcome,
            "verdict": r.validity.verdict, "verification": r.verification.as_ref().map(|v| v.verdict),
            "labels": r.labels,
        })
    };
    records.iter().map(row).collect()
}
