//! One store, asked by every command: models that were measured with computers which nothing connects.

use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat};
use assay_core::workload::{Op, Pattern, Workload};

use crate::advise::BuyQuestion;
use crate::compare::{By, PairVerdict, Request, Why, compare, split};
use crate::plan::{RaceOptions, race};
use crate::rank::{Better, RankOptions, rank};
use crate::{Quantity, advise, loads, samples};

/// A small board and a PC: no order, purchase or race, until one unit was on both.
#[test]
fn models_of_different_computers_are_told_apart_by_no_command() {
    let card = |id: &str, model: &str, unit: &str, iops: f64, cpu: &str| {
        let mut measurement = Measurement::empty(
            Workload { queue_depth: 1, ..Workload::new("w", Op::Read, Pattern::Random, 4096) },
            "sync",
        );
        let repeat = |iops| Repeat {
            operations: 100,
            iops,
            bytes_per_second: iops * 4096.0,
            ..Repeat::empty("", Outcome::Completed)
        };
        measurement.repeats = [iops * 0.999, iops, iops * 1.001].map(repeat).to_vec();
        let mut record = samples::record(id, model, unit, vec![measurement]);
        record.labels.insert("price".to_owned(), "10USD".to_owned());
        record.host.hostname = Some(cpu.to_owned());
        record.host.cpu = Some(cpu.to_owned());
        record
    };
    let mut records: Vec<Record> = (0..4)
        .flat_map(|at| {
            let (unit, off) = (at.to_string(), 1.0 + 0.01 * f64::from(at));
            [
                card(&format!("a{at}"), "A", &unit, 1000.0 * off, "small"),
                card(&format!("b{at}"), "B", &unit, 1500.0 * off, "large"),
            ]
        })
        .collect();
    let load = loads(&records)[0].clone();
    let said = |records: &[Record]| {
        let named: Vec<&Record> = records.iter().collect();
        let ranked = rank(&named, &RankOptions::default()).unwrap().primary.pairs[0].verdict;
        let named = [records.to_vec()];
        let compared = compare(&split(&named, By::Model), &Request::default()).unwrap();
        let options = RaceOptions { threshold: 0.95, cap: 10, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
        let raced = race(records, &load, Quantity::Iops, &options).is_ok();
        let bought = advise::buy(records, &BuyQuestion::of(3)).is_ok();
        (ranked, compared.primary().unwrap().pairs[0].verdict, raced, bought)
    };
    let refused = PairVerdict::CannotTell(Why::OtherComputer);
    assert_eq!(said(&records), (Better::OtherComputer, refused, false, false));
    // One card of A on both: the rest is the medium's.
    records.push(card("a9", "A", "0", 1000.0, "large"));
    let (ranked, compared, raced, bought) = said(&records);
    assert!(ranked != Better::OtherComputer && compared != refused && raced && bought);
}
