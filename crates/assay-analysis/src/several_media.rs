//! Units whose records are of several media, by what these hold.

use std::collections::BTreeMap;

use assay_core::observation::Observation;

use crate::identity::{identity, unit_name};

/// One medium says one capacity; what tools print of it is a volume, in units of 1000 or 1024, which is up to a tenth less. A card
/// of twice the size is another card, whatever its label.
const OTHER: f64 = 1.5;

/// A unit whose records say capacities that one medium cannot have: the label is wrong, or a card was not mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeveralMedia {
    /// Model and unit, as people say them.
    pub name: String,
    /// The smallest capacity that a record says.
    pub least_bytes: u64,
    /// The largest.
    pub most_bytes: u64,
}

/// The units among `records` that are of several media.
pub(crate) fn several_media<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Vec<SeveralMedia> {
    let mut units: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for record in records {
        let Some(bytes) = record.medium.capacity_bytes.filter(|bytes| *bytes > 0) else { continue };
        let of = identity(record);
        let (least, most) = units.entry(unit_name(&of.model, &of.unit)).or_insert((bytes, bytes));
        (*least, *most) = ((*least).min(bytes), (*most).max(bytes));
    }
    let apart = |(least, most): (u64, u64)| most as f64 > OTHER * least as f64;
    let found = units.into_iter().filter(|(_, ends)| apart(*ends));
    found.map(|(name, (least_bytes, most_bytes))| SeveralMedia { name, least_bytes, most_bytes }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(unit: &str, capacity_bytes: Option<u64>) -> Observation {
        let mut record = crate::samples::record("a", "Card", unit, Vec::new());
        record.medium.capacity_bytes = capacity_bytes;
        record
    }

    #[test]
    fn a_unit_of_two_sizes_is_two_media() {
        let all =
            [record("1", Some(32_000_000_000)), record("1", Some(275_000_000_000)), record("2", Some(32_000_000_000))];
        let found = several_media(&all);
        assert_eq!(
            found,
            [SeveralMedia {
                name: "Card · unit 1".to_owned(),
                least_bytes: 32_000_000_000,
                most_bytes: 275_000_000_000
            }]
        );
    }

    #[test]
    fn a_capacity_in_other_units_or_none_is_the_same_medium() {
        let all = [record("1", Some(32_000_000_000)), record("1", Some(29_300_000_000)), record("1", None)];
        assert_eq!(several_media(&all), []);
    }
}
