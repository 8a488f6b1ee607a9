//! Campaigns with units that change slots.

use assay_core::finding::Finding;
use assay_core::medium::Bus;
use assay_core::observation::Observation;
use assay_core::outcome::RunFailure;
use assay_core::record::Batching;
use assay_core::verification::{Method, Verdict, Verification};
use assay_core::workload::{Op, Pattern};

use super::{failed, measured, nine, ranked, read, record, row, workload};
use crate::quantity::Quantity;
use crate::rank::{
    Better, CeilingSource, Medal, Notice, Precedence, RankError, RankOptions, RankRemark, RankReport, RankStanding,
    rank,
};
use crate::rank::{MediumFailure, RankRefusal};

/// Four models of three units in twelve slots and three rounds; unit 2 of model B is at half speed, slot
/// 5 is 12 % slow.
fn campaign() -> Vec<Observation> {
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
    assert!((slot.ratio / 0.88 - 1.0).abs() < 0.02, "{slot:?}");
    assert!(slot.p_value < 0.01);
    let basis = report.primary.basis;
    assert_eq!((basis.records, basis.units, basis.runs, basis.rounds, basis.slots), (36, 12, 108, 3, 12));
    let shares = report.primary.shares.unwrap();
    let sum = shares.model.unwrap() + shares.unit + shares.slot.unwrap() + shares.run.unwrap();
    assert!((sum - 1.0).abs() < 1e-12);
    // All units carried the effects of slots and rounds, and nothing else is to be known.
    assert_eq!(report.primary.remarks, [RankRemark::Adjusted { units: 12 }]);
}

/// Where nodes are the slots of a plan.
#[test]
fn a_slot_with_the_name_of_its_host_has_that_name_once() {
    let mut records = campaign();
    for record in &mut records {
        record.host.hostname = Some(record.labels["slot"].clone());
    }
    let report = ranked(&records, &RankOptions::default());
    let [slot] = report.primary.slots.as_slice() else { panic!("{:?}", report.primary.slots) };
    assert_eq!(slot.slot, "5");
}

#[test]
fn a_ranking_that_hangs_on_a_unit_says_so() {
    let report = ranked(&campaign(), &RankOptions::default());
    // With the unit B spreads over a factor of two and hides how far the others are apart.
    let depends = report.primary.odd[0].ranking_depends;
    let without: Vec<Observation> = campaign()
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
fn one_unit_of_two_capacities_is_told() {
    let mut records = nine();
    let labels = records[0].labels.clone();
    records[1].labels = labels;
    (records[0].medium.capacity_bytes, records[1].medium.capacity_bytes) =
        (Some(32_000_000_000), Some(275_000_000_000));
    let remarks = ranked(&records, &RankOptions::default()).primary.remarks;
    let told = |remark: &RankRemark| {
        matches!(remark, RankRemark::SeveralMedia { least_bytes: 32_000_000_000, most_bytes: 275_000_000_000, .. })
    };
    assert_eq!(remarks.iter().filter(|remark| told(remark)).count(), 1, "{remarks:?}");
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
    assert_eq!(remarks, [RankRemark::Design(Notice::SlotsUnknown { runs: 18 })]);
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
    assert!(report.primary.remarks.contains(&RankRemark::NamelessUnit { model: "A".to_owned(), records: 3 }));
    let suites = RankRemark::Suites { suites: vec!["full 1".to_owned(), "quick 1".to_owned()] };
    assert!(report.primary.remarks.contains(&suites), "{:?}", report.primary.remarks);
    let of = [("waits for 8 completions at once", 1), ("waits for one completion at a time", records.len() - 1)];
    let manners = RankRemark::Manners { of: of.map(|(words, records)| (words.to_owned(), records)).to_vec() };
    assert!(report.primary.remarks.contains(&manners), "{:?}", report.primary.remarks);
}

// Media that fail, fakes, and records that cannot be used.

#[test]
fn a_burnt_unit_costs_the_gold() {
    let mut records = nine();
    records[8].outcome = failed(RunFailure::ReadOnly);
    let report = ranked(&records, &RankOptions::default());
    let order: Vec<&str> = report.primary.models.iter().map(|m| m.model.as_str()).collect();
    assert_eq!(order, ["B", "A", "C"], "speed does not make up for a failure");
    let burnt = row(&report, "C");
    assert_eq!(burnt.class, Precedence::Failing);
    assert_ne!(burnt.medal, Some(Medal::Gold));
    let share = burnt.failures.unwrap();
    assert_eq!((share.failed, share.of), (1, 3));
    // Jeffreys's interval of 1 of 3.
    assert!((share.low - 0.04).abs() < 0.01 && (share.high - 0.82).abs() < 0.01, "{share:?}");
    assert!(matches!(burnt.failed[0].failure, MediumFailure::Run { failure: RunFailure::ReadOnly, .. }));
    // A run that the user stopped says nothing about the medium.
    records[8].outcome = failed(RunFailure::Interrupted);
    assert_eq!(ranked(&records, &RankOptions::default()).primary.models[0].model, "C");
}

#[test]
fn who_failed_before_any_figure_is_still_listed() {
    let mut records = nine();
    let mut dead = record("Z", "1", Vec::new());
    dead.outcome = failed(RunFailure::Hung);
    records.push(dead);
    let report = ranked(&records, &RankOptions::default());
    let row = row(&report, "Z");
    assert_eq!((row.standing, row.failures.unwrap().failed), (RankStanding::NoFigure, 1));
    let [excluded] = report.primary.excluded.as_slice() else { panic!() };
    assert!(excluded.record == "Z-1" && excluded.reason.to_string().contains("hung"), "{excluded:?}");
}

#[test]
fn a_fake_is_last_whatever_its_speed() {
    let mut records = nine();
    records[6].verification = Some(fake());
    let report = ranked(&records, &RankOptions::default());
    let last = report.primary.models.last().unwrap();
    assert_eq!((last.model.as_str(), last.class, last.medal), ("C", Precedence::Corrupt, None));
    assert!(matches!(last.failed[0].failure, MediumFailure::Check { .. }));
}

fn fake() -> Verification {
    Verification {
        verdict: Verdict::Fake,
        announced_bytes: 64 << 30,
        real_bytes: Some(8 << 30),
        checked_bytes: 64 << 30,
        written_bytes: 64 << 30,
        ..Verification::undecided(Method::Full)
    }
}

#[test]
fn what_is_left_out_is_listed_with_its_reason() {
    let mut records = nine();
    records[0].measurements[0].warnings.push(Finding::ServedFromCache { proof_ratio: 0.1 }.into());
    records[3].measurements[0].repeats[1].iops = f64::NAN;
    records[4].measurements[0].repeats[0].iops = 0.0;
    records[5] = record("B", "3", vec![measured(workload(Op::Read, Pattern::Random, 8192, 1), &[1.0])]);
    let report = ranked(&records, &RankOptions::default());
    let reasons: Vec<(&str, String)> =
        report.primary.excluded.iter().map(|e| (e.record.as_str(), e.reason.to_string())).collect();
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(reasons[0].0 == "A-1" && reasons[0].1.starts_with("invalid: "), "{reasons:?}");
    assert_eq!(reasons[1], ("B-1", "left out a value of NaN: not a positive finite number".to_owned()));
    assert_eq!(reasons[2], ("B-2", "left out a value of 0: not a positive finite number".to_owned()));
    assert_eq!(reasons[3], ("B-3", "not measured at this block size, but at 8 KiB".to_owned()));
    assert_eq!((row(&report, "A").units.len(), row(&report, "B").units.len()), (2, 2));
    assert_eq!(row(&report, "B").units[0].runs, 1);
    assert_eq!(report.exploratory[0].title, "random read 8 KiB");
    assert!(report.exploratory[0].refusal.is_some());
}

#[test]
fn too_little_is_an_answer_and_nothing_is_an_error() {
    let specimens = [read("A", "1", &[1.0, 2.0]), read("B", "1", &[3.0])];
    let report = ranked(&specimens, &RankOptions::default());
    assert!(report.primary.refusal == Some(RankRefusal::OnlySpecimens));
    assert!(report.primary.models.iter().all(|m| m.standing == RankStanding::Specimen && m.medal.is_none()));
    assert!(report.primary.shares.is_none());
    let lone = ranked(&nine()[..3], &RankOptions::default());
    let model = &lone.primary.models[0];
    assert!(lone.primary.refusal.is_some() && model.standing == RankStanding::Unordered);
    assert!(model.estimate.as_ref().unwrap().low.is_some());
    let copies = ["A", "B"].map(|m| ["1", "2"].map(|u| read(m, u, &[5.0]))).concat();
    assert!(ranked(&copies, &RankOptions::default()).primary.refusal == Some(RankRefusal::NoSpread));
    assert_eq!(rank(&[], &RankOptions::default()), Err(RankError::NoRecords));
    let empty = record("A", "1", Vec::new());
    assert!(matches!(rank(&[&empty], &RankOptions::default()), Err(RankError::NoSuchLoad(_))));
    let zero = read("A", "1", &[0.0]);
    assert_eq!(rank(&[&zero], &RankOptions::default()), Err(RankError::NoFigures(1)));
    let some = read("A", "1", &[1.0]);
    let ask = RankOptions { primary: Some("write".to_owned()), ..RankOptions::default() };
    assert!(rank(&[&some], &ask).unwrap_err().to_string().contains("random read 4 KiB"));
    for ask in [
        RankOptions { alpha: 0.0, ..RankOptions::default() },
        RankOptions { delta: f64::NAN, ..RankOptions::default() },
    ] {
        assert!(matches!(rank(&[&some], &ask), Err(RankError::Option(_))));
    }
}

#[test]
fn one_operation_at_a_time_decides_where_all_have_it() {
    let deep = |depth| workload(Op::Read, Pattern::Random, 4096, depth);
    let mut records = nine();
    for record in &mut records {
        record.measurements.push(measured(deep(32), &[10.0, 10.1]));
    }
    records[0].measurements.push(measured(deep(256), &[10.0]));
    assert_eq!(ranked(&records, &RankOptions::default()).primary.load.queue_depth, 1);
    let asked = RankOptions { primary: Some("qd 32".to_owned()), ..RankOptions::default() };
    assert_eq!(ranked(&records, &asked).primary.load.queue_depth, 32);
    records[0].measurements.remove(0);
    records[1].measurements.remove(0);
    assert_eq!(ranked(&records, &RankOptions::default()).primary.load.queue_depth, 32, "more units have it");
}

#[test]
fn the_bus_of_the_records_is_the_ceiling() {
    let mut records = nine();
    for record in &mut records {
        record.medium.bus = Some(Bus {
            kind: "sd".to_owned(),
            mode: "SDR25".to_owned(),
            ceiling_bytes_per_second: Some(25e6),
            // What 4 000 IOPS are, and a little more.
            reachable_bytes_per_second: Some(16.8e6),
            driver: None,
            source: String::new(),
        });
    }
    let report = ranked(&records, &RankOptions::default());
    let ceiling = report.primary.ceiling.unwrap();
    assert_eq!((ceiling.source, ceiling.bytes_per_second), (CeilingSource::Records, 16.8e6));
    assert!(row(&report, "C").at_ceiling && !row(&report, "B").at_ceiling);
    assert!(row(&report, "C").estimate.as_ref().unwrap().method.contains("lower bound"));
    // A ceiling that was asked for counts instead.
    let high = ranked(&records, &RankOptions { ceiling: Some(1e9), ..RankOptions::default() });
    assert!(!row(&high, "C").at_ceiling);
    // Records of several buses: the bus of each unit limits it, and the answer has the lowest and the highest.
    for (record, rate) in records.iter_mut().zip([20e6, 30e6, 25e6]) {
        record.medium.bus.as_mut().unwrap().reachable_bytes_per_second = Some(rate);
    }
    let ceiling = ranked(&records, &RankOptions::default()).primary.ceiling.unwrap();
    assert_eq!((ceiling.bytes_per_second, ceiling.highest_bytes_per_second), (16.8e6, 30e6));
}

/// Small blocks are limited by operations: that media agree there says nothing about a bus.
#[test]
fn only_large_blocks_show_a_ceiling() {
    for (block, ceiling) in [(4096, None), (32 << 10, None), (64 << 10, Some(CeilingSource::Measured))] {
        let of = |iops: f64| vec![measured(workload(Op::Read, Pattern::Random, block, 1), &[iops, iops, iops])];
        let records = [record("A", "1", of(1000.0)), record("B", "1", of(1005.0)), record("C", "1", of(1010.0))];
        let report = ranked(&records, &RankOptions::default());
        assert_eq!(report.primary.ceiling.map(|c| c.source), ceiling, "{block}");
        assert_eq!(row(&report, "C").at_ceiling, ceiling.is_some(), "{block}");
    }
}

/// The run itself saw that the bus was reached, where no record knows how fast that is.
#[test]
fn who_reached_the_bus_in_the_run_is_at_the_ceiling() {
    let mut records = nine();
    for record in records.iter_mut().filter(|r| r.id.starts_with('C')) {
        record.measurements[0].bus_limited = true;
    }
    let report = ranked(&records, &RankOptions::default());
    assert!(row(&report, "C").at_ceiling && !row(&report, "B").at_ceiling);
    let asked = ranked(&records, &RankOptions { ceiling: Some(1e9), ..RankOptions::default() });
    assert!(!row(&asked, "C").at_ceiling, "a ceiling that was asked for counts instead");
}

/// Equal nodes deviated by a fifth to a third where they were measured once on a busy host.
#[test]
fn one_repeat_on_a_disturbed_host_is_to_be_measured_again() {
    let again = |repeats: usize, disturbed: bool| {
        let card = |at: u32| {
            let value = if at == 7 { 500.0 } else { 1000.0 + f64::from(at) };
            let mut record = read("A", &at.to_string(), &vec![value; repeats]);
            if disturbed && at == 7 {
                record.measurements[0].warnings.push(Finding::LoadOfOthers { share: 0.9, most: String::new() }.into());
            }
            record
        };
        let records: Vec<_> = (0..9).map(card).collect();
        let report = ranked(&records, &RankOptions::default());
        let [odd] = &report.primary.odd[..] else { panic!("{:?}", report.primary.odd) };
        assert_eq!(odd.unit.as_deref(), Some("7"));
        odd.again
    };
    assert!(again(1, true));
    assert!(!again(1, false) && !again(3, true));
}
