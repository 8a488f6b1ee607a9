//! Before records are compared: which of them belong to one unit, which are copies, and which figures a user doubts.
//!
//! A record names its unit by a label, or else by the serial number that the medium reports ([`crate::identity()`]).
//! One card with two labels, or with a label on its first day only, would count as two units, and several cards with
//! one label as one unit. If the serial number belongs to the medium, it decides. Labels decide for USB devices, whose
//! number may belong to the reader, and where several models report one number.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use assay_core::draft::Draft;
use assay_core::finding::{Finding, Validity, ValidityVerdict};
use assay_core::medium::MediumKind;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::clean;
use assay_core::workload::{Op, Pattern};
use serde::Serialize;

use super::deciding::{LoadError, loads_named};
use crate::load::Load;
use crate::reading::numbered;

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

/// Gives all records of a unit the same labels `unit` and, where only some name it, `model`, and returns the contradictions.
pub fn settle_units<'a>(records: impl IntoIterator<Item = &'a mut Observation>) -> Vec<UnitNote> {
    let mut records: Vec<&mut Observation> = records.into_iter().collect();
    let (names, notes) = settled_names(&records.iter().map(|record| &**record).collect::<Vec<_>>());
    for (record, SettledName { model, unit }) in records.iter_mut().zip(names) {
        let given = [("model", model), ("unit", unit)];
        record.labels.extend(given.into_iter().filter_map(|(key, name)| Some((key.to_owned(), name?))));
    }
    notes
}

/// The model and the unit by which a record counts, where these are other ones than it names itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SettledName {
    pub(crate) model: Option<String>,
    pub(crate) unit: Option<String>,
}

/// The names by which records count, in their order, and the contradictions. The first label, by time, names a unit.
pub(crate) fn settled_names(records: &[&Observation]) -> (Vec<SettledName>, Vec<UnitNote>) {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by(|a, b| {
        let key = |at: usize| (&records[at].created, &records[at].id);
        key(*a).cmp(&key(*b))
    });
    let mut names = vec![SettledName::default(); records.len()];
    let mut notes = Vec::new();
    let mut numbers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in order {
        if let Some(number) = number(records[at]) {
            numbers.entry(number).or_default().push(at);
        }
    }
    let mut labelled: BTreeMap<(String, String), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for (number, of) in numbers {
        let mut labels: Vec<&str> = Vec::new();
        for label in of.iter().filter_map(|at| label(records[*at], "unit")) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        let owned = || labels.iter().map(|label| (*label).to_owned()).collect();
        let model = match model_of(of.iter().map(|at| records[*at])) {
            Ok(model) => model,
            Err(models) => {
                if labels.len() > 1 {
                    notes.push(UnitNote::NoNumber { number: number.to_owned(), models });
                }
                continue;
            }
        };
        for at in &of {
            names[*at].model = Some(model.clone()).filter(|model| *model != records[*at].model());
        }
        let Some(name) = labels.first() else { continue };
        of.iter().for_each(|at| names[*at].unit = Some((*name).to_owned()));
        if labels.len() > 1 {
            notes.push(UnitNote::OneUnit { model: model.clone(), number: number.to_owned(), labels: owned() });
        }
        labelled.entry((model, (*name).to_owned())).or_default().insert(number, of);
    }
    for ((model, label), numbers) in labelled.into_iter().filter(|(_, numbers)| numbers.len() > 1) {
        for (number, of) in &numbers {
            of.iter().for_each(|at| names[*at].unit = Some(format!("{label} ({number})")));
        }
        let numbers = numbers.into_keys().map(str::to_owned).collect();
        notes.push(UnitNote::SeveralUnits { model, label, numbers });
    }
    (names, notes)
}

/// The model of the records with one serial number. One label names it, and each record without a label reports the same
/// medium as a labelled one. Otherwise the models are returned: the number may belong to a reader.
fn model_of<'a>(records: impl Iterator<Item = &'a Observation> + Clone) -> Result<String, Vec<String>> {
    let mut models: BTreeSet<String> = records.clone().map(Observation::model).collect();
    if models.len() > 1 {
        let named: BTreeSet<&str> = records.clone().filter_map(|record| label(record, "model")).collect();
        let (with, without): (Vec<&Observation>, Vec<&Observation>) =
            records.partition(|record| label(record, "model").is_some());
        let reported: BTreeSet<String> = with.iter().map(|record| record.medium.title()).collect();
        let alike = without.iter().all(|record| reported.contains(&record.medium.title()));
        return match named.first() {
            Some(model) if named.len() == 1 && alike => Ok((*model).to_owned()),
            _ => Err(models.into_iter().collect()),
        };
    }
    models.pop_first().ok_or_else(Vec::new)
}

fn label<'r>(record: &'r Observation, key: &str) -> Option<&'r str> {
    record.labels.get(key).map(String::as_str).filter(|label| !label.is_empty())
}

/// The number of a medium where it is its own, not that of a reader, bridge or volume.
fn number(record: &Observation) -> Option<&str> {
    let own = matches!(
        record.medium.kind,
        MediumKind::Sd | MediumKind::Emmc | MediumKind::SataSsd | MediumKind::SataHdd | MediumKind::Nvme
    );
    let by_usb = record.medium.bus.as_ref().is_some_and(|bus| bus.kind == "usb");
    record.medium.unit.as_deref().filter(|unit| own && !by_usb && !record.is_published() && !unit.trim().is_empty())
}

// Records that are copies of another one.
//
// A file that is imported again under another name or label would count as a further day or unit. Its figures agree with the
// first record to the last digit, which two runs never do. So the later record is left out.

/// Digits of all figures of a record, beyond those in which figures of two runs may well agree, from which on agreement is
/// no chance: at 1 in 10^6 or less.
const DIGITS: f64 = 6.0;
/// Digits of a figure that two runs may have in common: steady media differ by a few thousandths.
const COMMON: f64 = 2.5;

/// Operation, pattern, bytes of a block, queue depth and jobs.
type Kind = (Op, Pattern, u64, u32, u32);
/// Each figure: its load, and the bits of its rates.
type Print = Vec<(Kind, Vec<u64>)>;

/// Marks a record invalid, with the reason, if its repeats equal those of an earlier record. Published records stay.
pub fn leave_out_copies<'a>(records: impl IntoIterator<Item = &'a mut Observation>) {
    let mut records: Vec<&mut Observation> = records.into_iter().filter(|record| !record.is_published()).collect();
    records.sort_by(|a, b| (&a.created, &a.id).cmp(&(&b.created, &b.id)));
    let mut known: HashMap<Print, String> = HashMap::with_capacity(records.len());
    for record in records {
        let Some(print) = print(record) else { continue };
        match known.get(&print) {
            Some(first) if *first != record.id => {
                let copy = Finding::CopyOf { record: first.clone() }.into();
                record.validity = Validity { verdict: ValidityVerdict::Invalid, reasons: vec![copy] };
            }
            Some(_) => {}
            None => drop(known.insert(print, record.id.clone())),
        }
    }
}

/// What tells a record from any other; `None` where it says too little for that.
fn print(record: &Observation) -> Option<Print> {
    let (mut print, mut told) = (Print::new(), 0.0);
    for measurement in &record.measurements {
        let rates = rates(measurement);
        // Whole operations in blocks of 4 KiB are rates of many digits.
        let block = measurement.workload.block_bytes.max(1) as f64;
        let own = |rate: f64| digits(rate).min(digits(rate / block));
        // Digits are counted until there are enough: of thousands of records that is a tenth of a ranking.
        for rate in &rates {
            if told < DIGITS {
                told += (own(*rate) - COMMON).max(0.0);
            }
        }
        let workload = &measurement.workload;
        let kind = (workload.op, workload.pattern, workload.block_bytes, workload.queue_depth, workload.jobs);
        print.push((kind, rates.iter().map(|rate| rate.to_bits()).collect()));
    }
    (told >= DIGITS).then_some(print)
}

/// The rate of each repeat; of a figure without repeats, the figure.
fn rates(measurement: &ObservedMeasurement) -> Vec<f64> {
    let completed = measurement.repeats.iter().filter(|repeat| repeat.outcome == Outcome::Completed);
    let mut rates: Vec<f64> = completed.map(|repeat| repeat.bytes_per_second).collect();
    if rates.is_empty() {
        rates.extend(measurement.bytes_per_second.iter().map(|estimate| estimate.point));
    }
    rates
}

/// Significant digits of a number in its shortest form.
fn digits(value: f64) -> f64 {
    let text = format!("{value:e}");
    let mantissa = text.split('e').next().unwrap_or_default();
    mantissa.chars().filter(char::is_ascii_digit).count() as f64
}

// Marks figures as doubtful on request of a user.

/// Marks the figures of a load as doubtful, such as misprinted ones. The figures are kept, and decide nothing. Returns
/// how many loads were marked.
///
/// # Errors
/// The record has no load of that name; it is unchanged.
pub fn mark_doubtful(record: &mut Record, load: &str, why: &str) -> Result<usize, LoadError> {
    let observation = Observation::from(&*record);
    let named = loads_named([&observation], load)?;
    let loads: Vec<Load> = numbered(&observation).into_iter().map(|(load, _)| load).collect();
    let outcome = record.outcome.clone();
    let mut draft = Draft::reopen(record.clone());
    for (measurement, _) in draft.fill().measurements.iter_mut().zip(&loads).filter(|(_, load)| named.contains(load)) {
        measurement.warn(Finding::MarkedDoubtful { why: why.to_owned() });
    }
    *record = draft.close(outcome);
    Ok(named.len())
}

#[cfg(test)]
mod tests {
    use assay_core::finding::ValidityVerdict;
    use assay_core::observation::ObservedRepeat;
    use assay_core::workload::Workload;

    use super::*;
    use crate::exclusion::excluded_whole;
    use crate::{Quantity, Reason, admit, identity, loads, published_records};

    /// A record of a day with this number and label.
    fn record(day: u32, model: &str, number: &str, label: &str) -> Observation {
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

    fn settled(records: &mut [Observation]) -> (Vec<String>, Vec<UnitNote>) {
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

    /// `assay verify /mnt/card` is typed without the labels of the runs before.
    #[test]
    fn a_record_without_labels_is_of_the_medium_that_its_number_names() {
        let mut bare = record(2, "A", "s1", "");
        bare.labels.clear();
        let run = Observation { medium: bare.medium.clone(), ..record(1, "A", "s1", "1") };
        let mut all = [run.clone(), bare.clone()];
        assert_eq!(settled(&mut all), (vec!["1".to_owned(), "1".to_owned()], Vec::new()));
        assert_eq!(identity(&all[1]).model, "A");
        // Another medium with that number: a reader gives it.
        bare.medium.model = Some("another".to_owned());
        let mut all = [run.clone(), record(1, "A", "s1", "2"), bare];
        let (units, notes) = settled(&mut all);
        assert_eq!(units, ["1", "2", "s1"]);
        assert!(matches!(&notes[..], [UnitNote::NoNumber { .. }]), "{notes:?}");
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

    fn record_of_iops(id: &str, day: u32, unit: &str, rates: &[f64]) -> Observation {
        let mut measurement = ObservedMeasurement::new(Workload::new("w", Op::Read, Pattern::Random, 4096));
        let repeat = |rate: &f64| ObservedRepeat { bytes_per_second: *rate, ..ObservedRepeat::new(Outcome::Completed) };
        measurement.repeats = rates.iter().map(repeat).collect();
        let mut record = crate::samples::record(id, "A", unit, vec![measurement]);
        record.created = format!("2026-01-{day:02}T00:00:00Z");
        record
    }

    fn left_out(records: &mut [Observation]) -> Vec<&str> {
        leave_out_copies(records.iter_mut());
        records.iter().filter(|record| excluded_whole(record).is_some()).map(|record| record.id.as_str()).collect()
    }

    #[test]
    fn the_later_of_two_that_agree_to_the_last_digit_is_left_out() {
        let rates = [22_912_345.678, 22_998_765.432];
        let mut all = [
            record_of_iops("z2", 2, "2", &rates),
            record_of_iops("z1", 1, "1", &rates),
            record_of_iops("z3", 3, "3", &[rates[0], rates[1] + 0.001]),
        ];
        assert_eq!(left_out(&mut all), ["z2"]);
        let reason = excluded_whole(&all[0]).unwrap().to_string();
        assert!(reason.contains("those of record z1"), "{reason}");
    }

    #[test]
    fn figures_in_few_digits_agree_by_chance() {
        let mut all = [record_of_iops("z1", 1, "1", &[23e6; 5]), record_of_iops("z2", 2, "2", &[23e6; 5])];
        assert!(left_out(&mut all).is_empty());
        let mut all = [record_of_iops("z1", 1, "1", &[22.9e6; 5]), record_of_iops("z2", 2, "2", &[22.9e6; 5])];
        assert!(left_out(&mut all).is_empty());
        let operations = [999.0 * 4096.0, 1001.0 * 4096.0];
        let mut all = [record_of_iops("z1", 1, "1", &operations), record_of_iops("z2", 2, "2", &operations)];
        assert!(left_out(&mut all).is_empty());
    }

    #[test]
    fn a_marked_figure_stays_and_decides_nothing() {
        let mut whole = published_records("sandisk-extreme-a2").unwrap().remove(0);
        let before = Observation::from(&whole);
        let all = loads([&before]);
        let (first, other) = (&all[0], &all[1]);
        assert_eq!(mark_doubtful(&mut whole, &first.title(), "a point one place too far left"), Ok(1));
        let record = Observation::from(&whole);
        assert_eq!(record.validity.verdict, ValidityVerdict::Invalid);
        assert_eq!(excluded_whole(&record), None, "the other figures are sound");
        let quantity = Quantity::usual(first);
        let (reading, reasons) = admit(&record, first, quantity);
        assert!(reading.is_none());
        assert!(
            matches!(&reasons[..], [Reason::Invalid { warning: Some(warning) }] if warning.cause().contains("too far left")),
            "{reasons:?}"
        );
        assert!(admit(&record, other, Quantity::usual(other)).0.is_some());
        let figures = |record: &Observation| -> Vec<_> {
            record.measurements.iter().map(|m| (m.iops.clone(), m.bytes_per_second.clone())).collect()
        };
        assert_eq!(figures(&record), figures(&before));
        assert!(mark_doubtful(&mut whole, "random read 3 KiB", "").is_err());
    }
}
