//! Records of another medium than the one that an experiment plan wants in a place: they count for no unit.

use assay_core::record::Record;

/// The label of such a record, which has what its labels said before.
const MISPLACED: &str = "misplaced";
/// Labels that name the unit of a record.
const UNIT_LABELS: [&str; 4] = ["plan", "model", "unit", "round"];

/// Removes the labels that name the unit of the record.
pub fn mark_misplaced(record: &mut Record) {
    let said = UNIT_LABELS.iter().filter_map(|key| Some(format!("{key}={}", record.labels.remove(*key)?)));
    let said = said.collect::<Vec<_>>().join(" ");
    record.labels.entry(MISPLACED.to_owned()).or_insert(said);
}

/// Whether that was done.
#[must_use]
pub fn is_misplaced(record: &Record) -> bool {
    record.labels.contains_key(MISPLACED)
}
