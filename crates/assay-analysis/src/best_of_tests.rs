//! Figures that are the best of several runs bound their medium from above, in every command.

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::workload::{Op, Pattern, Workload};

use crate::advise::{BuyQuestion, Choice, Link, NasQuestion, NasVerdict, Status};
use crate::compare::{By, PairVerdict, Request, Why, compare, split};
use crate::plan::{RaceOptions, race};
use crate::rank::{Better, RankOptions, rank};
use crate::{Load, Quantity, advise, samples};

fn read() -> Workload {
    Workload { queue_depth: 1, ..Workload::new("w", Op::Read, Pattern::Random, 4096) }
}

fn measured(workload: Workload, iops: &[f64], best: bool) -> Measurement {
    let block = workload.block_bytes as f64;
    let mut measurement = Measurement::empty(workload, "sync");
    let repeat = |iops: &f64| Repeat {
        operations: 100,
        iops: *iops,
        bytes_per_second: iops * block,
        ..Repeat::empty("", Outcome::Completed)
    };
    measurement.repeats = iops.iter().map(repeat).collect();
    if best {
        measurement.warn(Finding::BestOf { runs: Some(5) });
    }
    measurement
}

/// Four units of each of two models; those of A are the best of five where `best` says so.
fn store(a: f64, b: f64, best: bool) -> Vec<Record> {
    let card = |model: &str, at: u32, iops: f64, best: bool| {
        let iops = iops * (1.0 + 0.004 * f64::from(at));
        let measurement = measured(read(), &[iops * 0.999, iops, iops * 1.001], best);
        let mut record = samples::record(&format!("{model}{at}"), model, &at.to_string(), vec![measurement]);
        record.labels.insert("price".to_owned(), "10USD".to_owned());
        record
    };
    (0..4).flat_map(|at| [card("A", at, a, best), card("B", at, b, false)]).collect()
}

/// What rank and compare say of A and B, and whether race and buy name a model.
fn said(records: &[Record]) -> (Better, PairVerdict, bool, Option<String>) {
    let named: Vec<&Record> = records.iter().collect();
    let ranked = rank(&named, &RankOptions::default()).unwrap().primary.pairs[0].verdict;
    let groups = [records.to_vec()];
    let compared =
        compare(&split(&groups, By::Model), &Request::default()).unwrap().primary().unwrap().pairs[0].verdict;
    let options = RaceOptions { threshold: 0.95, cap: 10, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
    let raced = race(records, &Load::of(&read()), Quantity::Iops, &options).is_ok();
    let bought = advise::buy(records, &BuyQuestion::of(3)).ok().and_then(|bought| match bought.choice {
        Choice::Buy { index, .. } => Some(bought.options[index].model.clone()),
        _ => None,
    });
    (ranked, compared, raced, bought)
}

#[test]
fn the_best_of_several_runs_may_lose_and_not_win() {
    let wins = said(&store(1100.0, 1000.0, true));
    assert_eq!(wins, (Better::BestOf, PairVerdict::CannotTell(Why::BestOf), false, None));
    // Against a mean that is higher still it is worse for certain.
    let loses = said(&store(1000.0, 1100.0, true));
    assert_eq!(loses, (Better::First, PairVerdict::Better, true, Some("B".to_owned())));
    let means = said(&store(1100.0, 1000.0, false));
    assert_eq!(means, (Better::First, PairVerdict::Worse, true, Some("A".to_owned())));
}

/// A card at the ceiling of its bus may be faster than one on another bus that is faster by its figure.
#[test]
fn what_the_bus_held_may_win_and_not_lose() {
    let held = |a: f64, held_by_bus: bool| {
        let mut all = store(a, 1000.0, false);
        for record in all.iter_mut().filter(|record| record.labels["model"] == "A") {
            record.measurements.iter_mut().for_each(|measurement| measurement.bus_limited = held_by_bus);
        }
        said(&all)
    };
    let (_, compared, _, bought) = held(800.0, true);
    assert_eq!((compared, bought), (PairVerdict::CannotTell(Why::BusHides), None));
    assert_eq!(held(800.0, false).3, Some("B".to_owned()));
    let (_, compared, _, bought) = held(1300.0, true);
    assert_eq!((compared, bought), (PairVerdict::Worse, Some("A".to_owned())));
}

/// 5.6 of 500 writes, as the best of nine: "cannot tell" until now.
#[test]
fn what_is_far_below_a_threshold_at_best_misses_it() {
    let write = |block, pattern| Workload { queue_depth: 32, ..Workload::new("w", Op::Write, pattern, block) };
    let card = |write_iops: f64, best: bool| {
        let all = vec![
            measured(write(1 << 20, Pattern::Sequential), &[20.0], best),
            measured(Workload { queue_depth: 32, ..read() }, &[2000.0], best),
            measured(write(4096, Pattern::Random), &[write_iops], best),
        ];
        let found = advise::class(&[samples::record("a", "Card", "1", all)], &["A1"]).unwrap();
        found.units[0].classes[0].status
    };
    assert_eq!(card(5.6, true), Status::Fail);
    assert_eq!(card(495.0, true), Status::Indeterminate, "a day may add as much");
    assert_eq!(card(900.0, true), Status::Indeterminate, "at most that is not that");
    // One run of a tool that repeats nothing.
    assert_eq!(card(5.6, false), Status::Fail);
    assert_eq!(card(400.0, false), Status::Indeterminate);
    assert_eq!(card(9000.0, false), Status::Indeterminate, "one run promises nothing");
    let met = |best| {
        let rates = [1999.0, 2000.0, 2001.0];
        let all = vec![
            measured(write(1 << 20, Pattern::Sequential), &[20.0, 20.01, 20.02], best),
            measured(Workload { queue_depth: 32, ..read() }, &rates, best),
            measured(write(4096, Pattern::Random), &rates, best),
        ];
        advise::class(&[samples::record("a", "Card", "1", all)], &["A1"]).unwrap().units[0].classes[0].status
    };
    assert_eq!((met(false), met(true)), (Status::Pass, Status::Indeterminate));
}

#[test]
fn a_share_of_a_volume_is_not_beaten_by_the_best_of_several_runs() {
    let local = |best| {
        let workload = Workload { queue_depth: 8, ..Workload::new("w", Op::Read, Pattern::Sequential, 1 << 20) };
        let record = samples::record("a", "Card", "1", vec![measured(workload, &[19.9, 20.0, 20.1], best)]);
        let found = advise::nas(&[record], &[], &NasQuestion::of(28, Link::Line(125e6))).unwrap();
        found.models[0].rows[0].verdict
    };
    assert_eq!(local(false), NasVerdict::Local);
    assert!(matches!(local(true), NasVerdict::CannotTell(_)));
}
