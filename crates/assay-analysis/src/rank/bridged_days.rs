//! Days that have to be told from models: all units of one model were measured on Monday, all of another on Tuesday, and some on
//! both. What those did on either day tells the effect of the days, as a round of a plan does.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;

/// A model and one of its units.
type Unit<'a> = (&'a str, &'a str);

/// Models whose days differ by less than this share of their units have their days in common.
const UNLIKE: f64 = 0.25;

/// Makes each day a round of its own, where two models were measured on days of their own at one host and a unit leads from those of
/// one to those of the other. Elsewhere days are no rounds: where models had the same days, these take as much from both.
pub(super) fn days_as_rounds(entries: &mut [Entry<'_>]) {
    let hosts: BTreeSet<_> = entries.iter().map(|entry| entry.record.host.hostname.as_deref()).collect();
    if hosts.len() > 1 || !are_bridged(entries) {
        return;
    }
    let days: BTreeSet<String> = entries.iter().filter_map(|entry| entry.day.clone()).collect();
    let places: BTreeMap<String, u32> = days.into_iter().zip(0..).collect();
    for entry in entries {
        entry.wave = entry.day.as_ref().and_then(|day| places.get(day)).copied();
    }
}

fn are_bridged(entries: &[Entry<'_>]) -> bool {
    let mut days: BTreeMap<Unit<'_>, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries {
        // Of a run without a date it is not known on which day it was.
        let Some(day) = entry.day.as_deref() else { return false };
        days.entry((&entry.identity.model, &entry.identity.unit)).or_default().insert(day);
    }
    // What share of a model's units was measured on each day, and how many.
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

/// Whether two models were measured on other days to a large part, several units on one, and a unit leads from a day that the first had
/// more of to one that the second had more of.
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

    /// A card on a day of January, of which the second is a fifth slower.
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
