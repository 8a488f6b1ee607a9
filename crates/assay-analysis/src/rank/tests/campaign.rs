//! Campaigns with units that change slots.

use assay_core::record::{Batching, Record};

use super::records::{nine, ranked, read, row};
use crate::quantity::Quantity;
use crate::rank::{Better, Medal, Notice, RankOptions, RankReport, Remark};

/// Four models of three units in twelve slots and three rounds; unit 2 of model B is at half speed, slot
/// 5 is 12 % slow.
fn campaign() -> Vec<Record> {
    let mut records = Vec::new();
    let mut state = 12_345u64;
    let mut throw = || {
        // Lehmer's generator.
        state = state * 48_271 % 2_147_483_647;
        state as f64 / 2_147_483_647.0 - 0.5
    };
    let units: Vec<(usize, usize, f64)> = (0..12).map(|at| (at / 3, at % 3, 1.0 + 0.04 * throw())).collect();
    for round in 0..3 {
        for (at, (model, unit, own)) in units.iter().enumerate() {
            let slot = (at + [0, 1, 5][round]) % 12;
            let mut iops = 1000.0 * 1.5f64.powi(i32::try_from(*model).unwrap()) * own;
            iops *= if slot == 5 { 0.88 } else { 1.0 } * if (*model, *unit) == (1, 1) { 0.5 } else { 1.0 };
            let values: Vec<f64> = (0..3).map(|_| iops * (1.0 + 0.01 * throw())).collect();
            let mut record = read(["A", "B", "C", "D"][*model], &(unit + 1).to_string(), &values);
            record.id = format!("{}{unit}r{round}", ["A", "B", "C", "D"][*model]);
            record.labels.insert("slot".to_owned(), slot.to_string());
            record.labels.insert("round".to_owned(), (round + 1).to_string());
            records.push(record);
        }
    }
    records
}

fn json(report: &RankReport) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

#[test]
fn a_bad_unit_and_a_bad_slot_are_told_apart() {
    let report = ranked(&campaign(), &RankOptions::default());
    let [odd] = report.primary.odd.as_slice() else { panic!("{:?}", report.primary.odd) };
    assert_eq!((odd.model.as_str(), odd.unit.as_deref(), odd.of), ("B", Some("2"), 3));
    assert!(odd.tested && odd.slot_known);
    // Units differ by 2 % either way.
    assert!((odd.ratio / 0.5 - 1.0).abs() < 0.06, "{}", odd.ratio);
    let [slot] = report.primary.slots.as_slice() else { panic!("{:?}", report.primary.slots) };
    assert_eq!(slot.slot, "5");
    // The slot against the mean of all twelve: 0.88^(11/12).
    assert!((slot.ratio / 0.88f64.powf(11.0 / 12.0) - 1.0).abs() < 0.02, "{slot:?}");
    assert!(slot.p_value < 0.01);
    let basis = report.primary.basis;
    assert_eq!((basis.records, basis.units, basis.runs, basis.rounds, basis.slots), (36, 12, 108, 3, 12));
    let shares = report.primary.shares.unwrap();
    let sum = shares.model.unwrap() + shares.unit + shares.slot.unwrap() + shares.run.unwrap();
    assert!((sum - 1.0).abs() < 1e-12);
    assert!(report.primary.remarks.is_empty(), "{:?}", report.primary.remarks);
}

#[test]
fn a_ranking_that_hangs_on_a_unit_says_so() {
    let report = ranked(&campaign(), &RankOptions::default());
    // With the unit B spreads over a factor of two and hides how far the others are apart.
    let depends = report.primary.odd[0].ranking_depends;
    let without: Vec<Record> = campaign()
        .into_iter()
        .filter(|r| (r.labels["model"].as_str(), r.labels["unit"].as_str()) != ("B", "2"))
        .collect();
    let rest = ranked(&without, &RankOptions::default());
    let layers = |report: &RankReport| -> Vec<(String, Option<usize>)> {
        let mut all: Vec<_> = report.primary.models.iter().map(|m| (m.model.clone(), m.layer)).collect();
        all.sort();
        all
    };
    assert!(depends && layers(&report) != layers(&rest));
    assert!(rest.primary.odd.is_empty());
    assert_eq!(rest.primary.models[0].medal, Some(Medal::Gold));
}

#[test]
fn the_order_of_records_changes_no_byte() {
    let mut records = campaign();
    let first = json(&ranked(&records, &RankOptions::default()));
    let mut state = 7u64;
    for _ in 0..5 {
        for last in (1..records.len()).rev() {
            state = state * 48_271 % 2_147_483_647;
            records.swap(last, usize::try_from(state).unwrap() % (last + 1));
        }
        assert_eq!(json(&ranked(&records, &RankOptions::default())), first);
    }
    assert_ne!(json(&ranked(&records, &RankOptions { seed: 1, ..RankOptions::default() })), first, "the seed counts");
}

#[test]
fn models_far_apart_are_in_order_with_gold_silver_and_bronze() {
    let report = ranked(&nine(), &RankOptions::default());
    let places: Vec<_> = report.primary.models.iter().map(|m| (m.model.as_str(), m.medal, m.ranks, m.tied)).collect();
    assert_eq!(
        places,
        [
            ("C", Some(Medal::Gold), Some((1, 1)), false),
            ("B", Some(Medal::Silver), Some((2, 2)), false),
            ("A", Some(Medal::Bronze), Some((3, 3)), false)
        ]
    );
    let last = row(&report, "A").to_first.unwrap();
    assert!((last.point - 0.25).abs() < 1e-9 && last.low.unwrap() < 0.25 && last.high.unwrap() > 0.25);
    assert!(report.primary.pairs.iter().all(|p| p.verdict == Better::First));
    let ratio = report.primary.smallest_ratio.unwrap();
    assert!(ratio > 1.0 && ratio < 2.0, "models a factor of two apart were told apart: {ratio}");
    assert_eq!(report.primary.least_units, 3);
}

#[test]
fn of_latencies_the_smallest_is_best() {
    let report = ranked(&nine(), &RankOptions { quantity: Some(Quantity::P50Ns), ..RankOptions::default() });
    let order: Vec<&str> = report.primary.models.iter().map(|m| m.model.as_str()).collect();
    assert_eq!(order, ["C", "B", "A"]);
    assert!(row(&report, "A").to_first.unwrap().point > 3.5);
}

#[test]
fn what_the_design_does_not_tell_is_said() {
    let mut records = nine();
    let remarks = ranked(&records, &RankOptions::default()).primary.remarks;
    assert_eq!(remarks, [Remark::Design(Notice::SlotsUnknown { runs: 18 })]);
    assert_eq!(serde_json::to_string(&remarks).unwrap(), r#"[{"remark":"slots_unknown","runs":18}]"#);
    for (at, record) in records.iter_mut().enumerate() {
        record.labels.insert("slot".to_owned(), at.to_string());
        if record.labels["model"] == "A" {
            record.labels.remove("unit");
        }
    }
    records[8].suite.name = "full".to_owned();
    let batching = Batching { wait_for: 8, tried: 8, iops_ratio: 1.1, p50_ratio: None, p99_ratio: None };
    records[7].measurements[0].batching = Some(Box::new(batching));
    let report = ranked(&records, &RankOptions::default());
    assert!(report.primary.remarks.contains(&Remark::NamelessUnit { model: "A".to_owned(), records: 3 }));
    let suites = Remark::Suites { suites: vec!["full 1".to_owned(), "quick 1".to_owned()] };
    assert!(report.primary.remarks.contains(&suites), "{:?}", report.primary.remarks);
    let of = [("waits for 8 completions at once", 1), ("waits for one completion at a time", records.len() - 1)];
    let manners = Remark::Manners { of: of.map(|(words, records)| (words.to_owned(), records)).to_vec() };
    assert!(report.primary.remarks.contains(&manners), "{:?}", report.primary.remarks);
}
