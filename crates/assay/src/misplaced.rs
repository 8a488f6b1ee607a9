//! Records of another medium than the one that an experiment plan wants in a place: they count for no unit.

use assay_core::record::Record;

/// The label of such a record, which has what its labels said before.
const MARK: &str = "misplaced";
/// Labels that name the unit of a record.
const SAID: [&str; 4] = ["plan", "model", "unit", "round"];

/// Removes the labels that name the unit of the record.
pub(crate) fn mark(record: &mut Record) {
    let said = SAID.iter().filter_map(|key| Some(format!("{key}={}", record.labels.remove(*key)?)));
    let said = said.collect::<Vec<_>>().join(" ");
    record.labels.entry(MARK.to_owned()).or_insert(said);
}

/// Whether that was done.
pub(crate) fn is_marked(record: &Record) -> bool {
    record.labels.contains_key(MARK)
}
