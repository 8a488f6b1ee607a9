//! Which records belong to one unit, where labels and serial numbers contradict each other.
//!
//! A record names its unit by a label, or else by the serial number that the medium reports ([`crate::identity()`]).
//! One card with two labels, or with a label on its first day only, would count as two units, and several cards with
//! one label as one unit. If the serial number belongs to the medium, it decides. Labels decide for USB devices, whose
//! number may belong to the reader, and where several models report one number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use assay_core::medium::MediumKind;
use assay_core::record::Record;
use assay_core::text::clean;
use serde::Serialize;

/// A contradiction between labels and serial numbers, and how it was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UnitNote {
    /// One medium has several labels: it counts as one unit.
    OneUnit {
        /// Its model.
        model: String,
        /// Its serial number.
        number: String,
        /// Its labels. The first one becomes its name.
        labels: Vec<String>,
    },
    /// Several media have one label: each counts as a unit.
    SeveralUnits {
        /// Their model.
        model: String,
        /// The label.
        label: String,
        /// Their serial numbers.
        numbers: Vec<String>,
    },
    /// Media of several models report one number, such as media in a reader that reports its own: labels decide.
    NoNumber {
        /// The number.
        number: String,
        /// The models.
        models: Vec<String>,
    },
}

impl fmt::Display for UnitNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[String]| all.iter().map(|one| clean(one)).collect::<Vec<_>>().join(", ");
        match self {
            Self::OneUnit { model, number, labels } => write!(
                f,
                "{} {} is one unit by its serial number, though its labels are {}",
                clean(model),
                clean(number),
                list(labels)
            ),
            Self::SeveralUnits { model, label, numbers } => write!(
                f,
                "unit {} of {} is {} units by their serial numbers: {}",
                clean(label),
                clean(model),
                numbers.len(),
                list(numbers)
            ),
            Self::NoNumber { number, models } => write!(
                f,
                "serial number {} stands for {} and may be that of a reader: labels name the units",
                clean(number),
                list(models)
            ),
        }
    }
}

/// Gives all records of a unit the same label `unit`, and returns the contradictions.
pub fn settle_units<'a>(records: impl IntoIterator<Item = &'a mut Record>) -> Vec<UnitNote> {
    let mut records: Vec<&mut Record> = records.into_iter().collect();
    records.sort_by(|a, b| (&a.created, &a.id).cmp(&(&b.created, &b.id)));
    let mut numbers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, record) in records.iter().enumerate() {
        numbers.entry(number(record).unwrap_or_default().to_owned()).or_default().push(at);
    }
    numbers.remove("");
    let mut notes = Vec::new();
    numbers.retain(|number, of| {
        let models: BTreeSet<String> = of.iter().map(|at| records[*at].model()).collect();
        let mut labels: Vec<String> = Vec::new();
        for label in of.iter().filter_map(|at| label(records[*at])) {
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
        let number = number.clone();
        let Some(model) = models.first().filter(|_| models.len() == 1).cloned() else {
            if labels.len() > 1 {
                notes.push(UnitNote::NoNumber { number, models: models.into_iter().collect() });
            }
            return false;
        };
        if let Some(name) = labels.first() {
            of.iter().for_each(|at| give(records[*at], name.clone()));
        }
        if labels.len() > 1 {
            notes.push(UnitNote::OneUnit { model, number, labels });
        }
        true
    });
    let mut labels: BTreeMap<(String, String), BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for (number, of) in numbers {
        let Some(label) = of.first().and_then(|at| label(records[*at])) else { continue };
        let model = records[of[0]].model();
        labels.entry((model, label.to_owned())).or_default().insert(number, of);
    }
    for ((model, label), numbers) in labels.into_iter().filter(|(_, numbers)| numbers.len() > 1) {
        for (number, of) in &numbers {
            of.iter().for_each(|at| give(records[*at], format!("{label} ({number})")));
        }
        notes.push(UnitNote::SeveralUnits { model, label, numbers: numbers.into_keys().collect() });
    }
    notes
}

fn give(record: &mut Record, name: String) {
    record.labels.insert("unit".to_owned(), name);
}

fn label(record: &Record) -> Option<&str> {
    record.labels.get("unit").map(String::as_str).filter(|label| !label.is_empty())
}

/// The number of a medium where it is its own, not that of a reader, bridge or volume.
fn number(record: &Record) -> Option<&str> {
    let own = matches!(
        record.medium.kind,
        MediumKind::Sd | MediumKind::Emmc | MediumKind::SataSsd | MediumKind::SataHdd | MediumKind::Nvme
    );
    let by_usb = record.medium.bus.as_ref().is_some_and(|bus| bus.kind == "usb");
    record.medium.unit.as_deref().filter(|unit| own && !by_usb && !record.is_published() && !unit.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity;

    /// A record of a day with this number and label.
    fn record(day: u32, model: &str, number: &str, label: &str) -> Record {
        let mut record = crate::samples::record(&format!("r{day}{number}{label}"), model, number, Vec::new());
        record.created = format!("2026-01-{day:02}T00:00:00Z");
        record.medium.kind = MediumKind::Sd;
        record.medium.unit = Some(number.to_owned());
        record.labels = [("model".to_owned(), model.to_owned())].into();
        if !label.is_empty() {
            record.labels.insert("unit".to_owned(), label.to_owned());
        }
        record
    }

    fn settled(records: &mut [Record]) -> (Vec<String>, Vec<UnitNote>) {
        let notes = settle_units(records.iter_mut());
        (records.iter().map(|record| identity(record).unit).collect(), notes)
    }

    #[test]
    fn the_number_of_a_medium_decides() {
        let mut all = [record(2, "A", "s1", "c0"), record(1, "A", "s1", "card0"), record(3, "A", "s1", "")];
        let (units, notes) = settled(&mut all);
        assert_eq!(units, ["card0"; 3]);
        let labels = vec!["card0".to_owned(), "c0".to_owned()];
        assert_eq!(notes, [UnitNote::OneUnit { model: "A".to_owned(), number: "s1".to_owned(), labels }]);
        assert!(notes[0].to_string().contains("card0, c0"), "{}", notes[0]);
        // A label on the first day only, and a number alone, contradict nothing.
        let mut all = [record(1, "A", "s1", "1"), record(2, "A", "s1", ""), record(1, "A", "s2", "")];
        assert_eq!(settled(&mut all), (vec!["1".to_owned(), "1".to_owned(), "s2".to_owned()], Vec::new()));
    }

    #[test]
    fn one_label_on_three_media_is_three_units() {
        let mut all = [record(1, "A", "s1", "1"), record(1, "A", "s2", "1"), record(2, "A", "s3", "1")];
        let (units, notes) = settled(&mut all);
        assert_eq!(units, ["1 (s1)", "1 (s2)", "1 (s3)"]);
        assert!(matches!(&notes[..], [UnitNote::SeveralUnits { numbers, .. }] if numbers.len() == 3), "{notes:?}");
        let mut all = [record(1, "A", "s1", "1"), record(1, "B", "s2", "1")];
        assert!(settled(&mut all).1.is_empty(), "units are counted by model");
    }

    #[test]
    fn the_number_of_a_reader_decides_nothing() {
        let mut all = [record(1, "A", "r", "1"), record(1, "A", "r", "2"), record(1, "B", "r", "3")];
        let (units, notes) = settled(&mut all);
        assert_eq!(units, ["1", "2", "3"]);
        assert!(matches!(&notes[..], [UnitNote::NoNumber { .. }]), "{notes:?}");
        let mut all = [record(1, "A", "r", "1"), record(1, "A", "r", "2")];
        all.iter_mut().for_each(|record| record.medium.kind = MediumKind::UsbStick);
        assert_eq!(settled(&mut all), (vec!["1".to_owned(), "2".to_owned()], Vec::new()));
    }
}
