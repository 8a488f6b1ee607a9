//! Separates the effect of days from that of models, where all units of one model were measured on Monday, all of another on
//! Tuesday, and some units on both days: these units show the effect of the days, as a round of a plan does.

use std::collections::{BTreeMap, BTreeSet};

/// A model and one of its units.
type Unit<'a> = (&'a str, &'a str);

/// Models whose days differ by less than this share of their units have their days in common.
const UNLIKE: f64 = 0.25;

/// Where and when a record was measured, and which unit it is about.
pub(super) struct Dated<'a> {
    pub(super) host: Option<&'a str>,
    pub(super) model: &'a str,
    pub(super) unit: &'a str,
    /// Its day and host; `None` of a record without a date.
    pub(super) day: Option<&'a str>,
}

/// The round of each record: its day, if two models were measured on days of their own at one host and a unit was
/// measured on days of both. Otherwise days are not rounds: if models had the same days, the days affect both equally.
pub(super) fn days_as_rounds(records: &[Dated<'_>]) -> Vec<Option<u32>> {
    let hosts: BTreeSet<_> = records.iter().map(|record| record.host).collect();
    if hosts.len() > 1 || !are_bridged(records) {
        return vec![None; records.len()];
    }
    let days: BTreeSet<&str> = records.iter().filter_map(|record| record.day).collect();
    let places: BTreeMap<&str, u32> = days.into_iter().zip(0..).collect();
    records.iter().map(|record| places.get(record.day?).copied()).collect()
}

fn are_bridged(records: &[Dated<'_>]) -> bool {
    let mut days: BTreeMap<Unit<'_>, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        // The day of a run without a date is unknown.
        let Some(day) = record.day else { return false };
        days.entry((record.model, record.unit)).or_default().insert(day);
    }
    // The share of a model's units that was measured on each day, and their number.
    let mut own: BTreeMap<&str, BTreeMap<&str, (f64, usize)>> = BTreeMap::new();
    for ((model, _), of_unit) in &days {
        for day in of_unit {
            let (share, units) = own.entry(model).or_default().entry(day).or_default();
            (*share, *units) = (*share + 1.0 / of_unit.len() as f64, *units + 1);
        }
    }
    for of_model in own.values_mut() {
        let units: f64 = of_model.values().map(|(share, _)| share).sum();
        of_model.values_mut().for_each(|(share, _)| *share /= units);
    }
    let bridges: Vec<&BTreeSet<&str>> = days.values().filter(|of_unit| of_unit.len() > 1).collect();
    let models: Vec<&BTreeMap<&str, (f64, usize)>> = own.values().collect();
    models.iter().enumerate().any(|(at, a)| models[..at].iter().any(|b| leads(&bridges, a, b)))
}

/// Whether two models were largely measured on different days, with several units of each on one day, and a unit was
/// measured on a day that the first model has more of and on one that the second has more of.
fn leads(bridges: &[&BTreeSet<&str>], a: &BTreeMap<&str, (f64, usize)>, b: &BTreeMap<&str, (f64, usize)>) -> bool {
    let share = |of: &BTreeMap<&str, (f64, usize)>, day: &str| of.get(day).map_or(0.0, |(share, _)| *share);
    let more = |day: &&str| share(a, day) - share(b, day);
    let all: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    let unlike = all.iter().map(|day| more(day).abs()).sum::<f64>() / 2.0 >= UNLIKE;
    let sitting = |of: &BTreeMap<&str, (f64, usize)>| of.values().any(|(_, units)| *units > 1);
    unlike
        && sitting(a)
        && sitting(b)
        && bridges.iter().any(|days| days.iter().any(|day| more(day) > 0.0) && days.iter().any(|day| more(day) < 0.0))
}

#[cfg(test)]
mod tests {
    use assay_core::outcome::Outcome;
    use assay_core::record::{Measurement, Record, Repeat};
    use assay_core::workload::{Op, Pattern, Workload};

    use crate::rank::{RankOptions, RankReport, rank};
    use crate::samples;

    /// A card on a day of January. The second of January is a fifth slower.
    fn card(model: &str, unit: u32, iops: f64, day: u32) -> Record {
        let workload = Workload::new("w", Op::Read, Pattern::Random, 4096);
        let iops = iops * (1.0 + 0.003 * f64::from(unit * unit % 5)) * if day == 2 { 0.8 } else { 1.0 };
        let repeat = |iops: f64| Repeat { operations: 100, iops, ..Repeat::empty("", Outcome::Completed) };
        let repeats = [iops * 0.999, iops, iops * 1.002].map(repeat).to_vec();
        let measurement = Measurement { repeats, ..Measurement::empty(workload, "sync") };
        let mut record = samples::record(&format!("{model}{unit}d{day}"), model, &unit.to_string(), vec![measurement]);
        record.created = format!("2026-01-{day:02}T10:00:{unit:02}Z");
        record
    }

    /// Six units of A on the first day, six of B on the second, and as many of A on both.
    fn ranked(b: f64, bridges: u32) -> RankReport {
        let mut records: Vec<Record> =
            (0..6).flat_map(|unit| [card("A", unit, 1000.0, 1), card("B", unit, b, 2)]).collect();
        records.extend((0..bridges).map(|unit| card("A", unit, 1000.1, 2)));
        rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap()
    }

    fn ratio(report: &RankReport) -> f64 {
        let pair = &report.primary.pairs[0];
        if pair.first == "A" { pair.ratio.point } else { 1.0 / pair.ratio.point }
    }

    #[test]
    fn units_on_both_days_tell_what_the_days_did() {
        // Without them the slow day is in the ratio.
        assert!((ratio(&ranked(1000.0, 0)) - 1.25).abs() < 0.02);
        for bridges in [1, 3, 6] {
            let report = ranked(1000.0, bridges);
            assert!((ratio(&report) - 1.0).abs() < 0.02, "{bridges}: {}", ratio(&report));
            assert_eq!(report.primary.basis.rounds, 0, "records name none");
        }
        let half = ranked(500.0, 3);
        assert!((ratio(&half) - 2.0).abs() < 0.05, "{}", ratio(&half));
    }
}
