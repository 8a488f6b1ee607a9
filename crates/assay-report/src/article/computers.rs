//! What kind of computer figures were measured with.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::{Load, identity, loads};
use assay_core::record::Record;
use assay_core::text::clean;

/// The kind of computer: its board, else its processor, else its name; empty where the record has none of them.
pub(super) fn computer(record: &Record) -> String {
    let host = &record.host;
    let all = [&host.board, &host.cpu, &host.hostname];
    all.into_iter().flatten().map(|name| clean(name)).find(|name| !name.is_empty()).unwrap_or_default()
}

/// The computers of these records, each once, in the order of the records.
pub(super) fn computers<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in records.into_iter().map(computer).filter(|name| !name.is_empty()) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Loads under which some model was measured with two kinds of computers or more: what differs there tells of the computers,
/// too. A computer for each medium compares none.
pub(super) fn crossed(records: &[Record]) -> BTreeSet<Load> {
    let mut seen: BTreeMap<(Load, String), BTreeSet<String>> = BTreeMap::new();
    for record in records {
        let name = computer(record);
        for load in loads([record]).into_iter().filter(|_| !name.is_empty()) {
            seen.entry((load, identity(record).model)).or_default().insert(name.clone());
        }
    }
    seen.into_iter().filter(|(_, with)| with.len() > 1).map(|((load, _), _)| load).collect()
}
