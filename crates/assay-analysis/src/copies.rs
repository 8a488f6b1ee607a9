//! Records that are copies of another one.
//!
//! A file that is imported again under another name or label would count as a further day or unit. Its figures agree with the
//! first record to the last digit, which two runs never do. So the later record is left out.

use std::collections::HashMap;

use assay_core::finding::{Validity, ValidityVerdict};
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record};
use assay_core::workload::{Op, Pattern};

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
pub fn leave_out_copies<'a>(records: impl IntoIterator<Item = &'a mut Record>) {
    let mut records: Vec<&mut Record> = records.into_iter().filter(|record| !record.is_published()).collect();
    records.sort_by(|a, b| (&a.created, &a.id).cmp(&(&b.created, &b.id)));
    let mut known: HashMap<Print, String> = HashMap::with_capacity(records.len());
    for record in records {
        let Some(print) = print(record) else { continue };
        match known.get(&print) {
            Some(first) if *first != record.id => {
                let reason = format!("a copy: its repeats are those of record {first} to the last digit");
                record.validity = Validity { verdict: ValidityVerdict::Invalid, reasons: vec![reason] };
            }
            Some(_) => {}
            None => drop(known.insert(print, record.id.clone())),
        }
    }
}

/// What tells a record from any other; `None` where it says too little for that.
fn print(record: &Record) -> Option<Print> {
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
fn rates(measurement: &Measurement) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exclusion::excluded_whole;
    use assay_core::record::Repeat;
    use assay_core::workload::Workload;

    fn record(id: &str, day: u32, unit: &str, rates: &[f64]) -> Record {
        let mut measurement = Measurement::empty(Workload::new("w", Op::Read, Pattern::Random, 4096), "sync");
        let repeat = |rate: &f64| Repeat { bytes_per_second: *rate, ..Repeat::empty("", Outcome::Completed) };
        measurement.repeats = rates.iter().map(repeat).collect();
        let mut record = crate::samples::record(id, "A", unit, vec![measurement]);
        record.created = format!("2026-01-{day:02}T00:00:00Z");
        record
    }

    fn left_out(records: &mut [Record]) -> Vec<&str> {
        leave_out_copies(records.iter_mut());
        records.iter().filter(|record| excluded_whole(record).is_some()).map(|record| record.id.as_str()).collect()
    }

    #[test]
    fn the_later_of_two_that_agree_to_the_last_digit_is_left_out() {
        let rates = [22_912_345.678, 22_998_765.432];
        let mut all = [
            record("z2", 2, "2", &rates),
            record("z1", 1, "1", &rates),
            record("z3", 3, "3", &[rates[0], rates[1] + 0.001]),
        ];
        assert_eq!(left_out(&mut all), ["z2"]);
        let reason = excluded_whole(&all[0]).unwrap().to_string();
        assert!(reason.contains("those of record z1"), "{reason}");
    }

    #[test]
    fn figures_in_few_digits_agree_by_chance() {
        let mut all = [record("z1", 1, "1", &[23e6; 5]), record("z2", 2, "2", &[23e6; 5])];
        assert!(left_out(&mut all).is_empty());
        let mut all = [record("z1", 1, "1", &[22.9e6; 5]), record("z2", 2, "2", &[22.9e6; 5])];
        assert!(left_out(&mut all).is_empty());
        let operations = [999.0 * 4096.0, 1001.0 * 4096.0];
        let mut all = [record("z1", 1, "1", &operations), record("z2", 2, "2", &operations)];
        assert!(left_out(&mut all).is_empty());
    }
}
