//! No verdict depends on the unit of the figures, or on how their sums are rounded.

use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::workload::{Op, Pattern, Workload};

use crate::compare::{By, PairVerdict, Request, compare, split};
use crate::rank::{Better, RankOptions, rank};
use crate::samples;

fn card(model: &str, unit: usize, iops: f64) -> Record {
    let workload = Workload { queue_depth: 1, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
    let mut measurement = Measurement::empty(workload, "sync");
    let repeat =
        Repeat { operations: 100, iops, bytes_per_second: iops * 4096.0, ..Repeat::empty("", Outcome::Completed) };
    measurement.repeats = vec![repeat; 3];
    let mut record = samples::record(&format!("{model}{unit}"), model, &unit.to_string(), vec![measurement]);
    record.created = format!("2026-01-{:02}T00:00:00Z", unit + 1);
    record
}

/// The verdicts on two models of these units.
fn said(a: &[f64], b: &[f64], factor: f64) -> (Option<Better>, PairVerdict, usize) {
    let of = |model: &'static str, values: &[f64]| -> Vec<Record> {
        values.iter().enumerate().map(|(at, value)| card(model, at, value * factor)).collect()
    };
    let records = [of("A", a), of("B", b)].concat();
    let ranked = rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap().primary;
    let groups = [records];
    let compared =
        compare(&split(&groups, By::Model), &Request::default()).unwrap().primary().unwrap().pairs[0].verdict;
    (ranked.pairs.first().map(|pair| pair.verdict), compared, ranked.odd.len())
}

/// Three units of 500 against three of 400 were "the best", 1500 against 1400 "not ranked".
#[test]
fn verdicts_are_the_same_for_figures_times_three_seven_and_a_thousand() {
    let stores: [(&[f64], &[f64]); 7] = [
        (&[500.0, 500.0, 500.0], &[400.0, 400.0, 400.0]),
        (&[1500.0, 1500.0, 1500.0], &[1400.0, 1400.0, 1400.0]),
        (&[22.0, 22.0, 22.0], &[23.0, 23.0, 23.0]),
        (&[22.0, 22.0, 23.0], &[23.0, 23.0, 23.0]),
        (&[500.0, 510.0, 520.0], &[400.0, 400.0, 400.0]),
        (&[500.0, 510.0, 520.0, 505.0], &[400.0, 410.0, 404.0]),
        (&[500.0, 500.0, 500.0, 100.0], &[400.0, 400.0, 400.0, 400.0]),
    ];
    for (a, b) in stores {
        let plain = said(a, b, 1.0);
        for factor in [3.0, 7.0, 1000.0, 1.0 / 3.0, 0.1] {
            assert_eq!(said(a, b, factor), plain, "{a:?} {b:?} times {factor}");
        }
    }
    let (ranked, compared, _) = said(&[500.0; 3], &[400.0; 3], 1.0);
    assert!(
        ranked.is_none() && matches!(compared, PairVerdict::CannotTell(_)),
        "copies are no units: {ranked:?} {compared:?}"
    );
}
