//! The race and the swap test.

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::Verdict;

use super::*;
use crate::load::Load;
use crate::quantity::Quantity;

fn options() -> RaceOptions {
    RaceOptions { threshold: 0.95, cap: 12, left: None, slots: 1, dropped: Vec::new(), seed: 1 }
}

fn step(records: &[Record], options: &RaceOptions) -> Race {
    race(records, &Load::of(&workload(Op::Read)), Quantity::Iops, options).unwrap()
}

#[test]
fn a_race_measures_first_then_drops_then_buys() {
    let one = [unit("A", "1", 1000.0), unit("B", "1", 500.0)];
    let first = step(&one, &options());
    let NextAction::Measure { orders } = &first.action else { panic!("{first:?}") };
    assert_eq!(orders.iter().map(|o| (o.model.as_str(), o.units)).collect::<Vec<_>>(), [("A", 1), ("B", 1)]);
    assert!(first.leader.is_none() && first.chances.iter().all(|c| c.best.is_none()));

    let close =
        [("A", 1000.0), ("A", 1120.0), ("B", 1030.0), ("B", 1050.0), ("C", 200.0), ("C", 200.0)].iter().enumerate();
    let close: Vec<Record> = close.map(|(n, (model, iops))| unit(model, &n.to_string(), *iops)).collect();
    let second = step(&close, &options());
    assert_eq!(second.newly_dropped, ["C"]);
    assert!(matches!(&second.action, NextAction::Measure { orders } if orders.len() == 2), "{second:?}");
    assert_eq!(second, step(&close, &options()), "deterministic for a seed");
    let capped = step(&close, &RaceOptions { cap: 2, ..options() });
    assert!(matches!(&capped.action, NextAction::Exhausted { models } if models.len() == 2), "{capped:?}");
    let dropped = step(&close, &RaceOptions { dropped: vec!["B".to_owned(), "C".to_owned()], ..options() });
    assert_eq!(dropped.action, NextAction::OnlyOneLeft { model: "A".to_owned() });

    let clear = [unit("A", "1", 1000.0), unit("A", "2", 1020.0), unit("B", "1", 500.0), unit("B", "2", 510.0)];
    let last = step(&clear, &options());
    assert_eq!(last.action, NextAction::Buy { model: "A".to_owned() });
    assert!(last.good.unwrap() > 0.99 && last.regret.unwrap() < 0.01);
    // Two models with two units, 4 degrees assumed: 6 degrees, t = 2.447.
    let (mean, interval) = (last.chances[0].mean.unwrap(), last.chances[0].interval.unwrap());
    assert!((mean - (1000.0f64 * 1020.0).sqrt()).abs() < 1e-6);
    let error = last.unit_deviation.unwrap().powi(2) / 2.0;
    // Two means lie half of their difference from the middle; chance explains so much of the spread between them.
    let difference = (mean / last.chances[1].mean.unwrap()).ln();
    let luck = error / (difference.powi(2) / 2.0);
    let drawn = luck * difference / 2.0;
    let (middle, half) = (-drawn, 2.4469 * (error + 2.0 * drawn.powi(2)).sqrt());
    let ends = ((interval.0 / mean).ln(), (interval.1 / mean).ln());
    assert!((ends.0 - (middle - half)).abs() < 1e-4 && (ends.1 - (middle + half)).abs() < 1e-4, "{ends:?}");
}

#[test]
fn repeats_of_a_unit_are_one_unit() {
    let records: Vec<Record> =
        (0..4).map(|n| Record { id: n.to_string(), ..unit("A", "1", 1000.0) }).chain([unit("B", "1", 900.0)]).collect();
    let step = step(&records, &options());
    assert!(step.chances.iter().all(|chance| chance.units == 1), "{step:?}");
    assert!(matches!(step.action, NextAction::Measure { .. }));
}

/// A check fills a record without a figure; its medium is no model that has yet to be measured.
#[test]
fn a_model_that_was_only_checked_takes_no_part() {
    let mut records = vec![unit("A", "1", 1000.0), unit("B", "1", 900.0), unit("C", "1", 1.0)];
    records[2] = crate::advise::samples::fake(records[2].clone());
    records[2].measurements.clear();
    let models =
        |records: &[Record]| step(records, &options()).chances.into_iter().map(|c| c.model).collect::<Vec<_>>();
    assert_eq!(models(&records), ["A", "B", "C"], "a fake is told of");
    records[2].verification.as_mut().unwrap().verdict = Verdict::Genuine;
    assert_eq!(models(&records), ["A", "B"]);
}

#[test]
fn less_is_better_of_a_latency() {
    let slow_and_fast = [("A", 900.0), ("A", 910.0), ("B", 300.0), ("B", 305.0)];
    let mut records: Vec<Record> =
        slow_and_fast.iter().enumerate().map(|(n, (m, _))| unit(m, &n.to_string(), 1.0)).collect();
    for (record, (_, latency)) in records.iter_mut().zip(slow_and_fast) {
        record.measurements[0].latency_ns.p50 = Some(Estimate::bare(latency, 1, "made up").into());
    }
    let step = race(&records, &Load::of(&workload(Op::Read)), Quantity::P50Ns, &options()).unwrap();
    assert_eq!(step.action, NextAction::Buy { model: "B".to_owned() });
    assert!((step.chances[0].mean.unwrap() - (300.0f64 * 305.0).sqrt()).abs() < 1e-6);
}

#[test]
fn failed_units_ceilings_and_unusable_records_are_told() {
    let mut records =
        vec![unit("A", "1", 5000.0), unit("A", "2", 5000.0), unit("B", "1", 500.0), unit("B", "2", 510.0)];
    records[0].outcome = Outcome::Failed {
        failure: RunFailure::Hung,
        detail: String::new(),
        workload: None,
        elapsed_ns: 0,
        written_bytes: 0,
    };
    let step_one = step(&records, &options());
    assert_eq!(step_one.action, NextAction::Buy { model: "B".to_owned() });
    let models_out = |race: &Race| race.chances.iter().filter(|c| c.out).map(|c| c.model.clone()).collect::<Vec<_>>();
    assert!(step_one.chances.iter().any(|c| c.model == "A" && c.failed));
    assert_eq!(models_out(&step_one), ["A"], "however fast it is");
    // Where units of all failed, none is out.
    records[2].outcome = records[0].outcome.clone();
    assert!(models_out(&step(&records, &options())).is_empty());
    records[2].outcome = Outcome::Completed;

    records[0].outcome = Outcome::Completed;
    records.iter_mut().for_each(|record| record.measurements[0].bus_limited = true);
    let tie = step(&records, &options());
    assert_eq!(tie.action, NextAction::CeilingTie { models: vec!["A".to_owned(), "B".to_owned()] });

    records[0].measurements[0].iops = Some(Estimate::bare(0.0, 1, "made up"));
    records[1].measurements.clear();
    let excluded = step(&records, &options()).excluded;
    let reasons: Vec<_> = excluded.iter().map(|e| e.reason.to_string()).collect();
    assert_eq!(
        reasons,
        ["left out a value of 0: not a positive finite number", "no figure: nothing measured, completed"]
    );
}

#[test]
fn options_of_a_race_are_checked() {
    let records = [unit("A", "1", 1.0)];
    for bad in [
        RaceOptions { threshold: 0.5, ..options() },
        RaceOptions { threshold: f64::NAN, ..options() },
        RaceOptions { cap: 1, ..options() },
        RaceOptions { dropped: vec!["Z".to_owned()], ..options() },
    ] {
        assert!(race(&records, &Load::of(&workload(Op::Read)), Quantity::Iops, &bad).is_err(), "{bad:?}");
    }
    assert!(race(&[], &Load::of(&workload(Op::Read)), Quantity::Iops, &options()).is_err());
}

#[test]
fn a_swap_says_whether_unit_or_slot_is_to_blame() {
    let place = |text| Place::parse(text, "--suspect").unwrap();
    let options = SwapOptions { suspect: place("A=3@7"), other: place("A=1@2") };
    let load = Load::of(&workload(Op::Read));
    let cells = [("3", "7", 500.0), ("3", "2", 510.0), ("1", "7", 1000.0), ("1", "2", 1010.0)];
    let mut records: Vec<Record> = Vec::new();
    for (unit, slot, iops) in cells {
        for repeat in 0..2 {
            let labels = [("model", "A"), ("unit", unit), ("slot", slot)];
            records.push(record(&format!("{unit}{slot}{repeat}"), &labels, iops + f64::from(repeat)));
        }
    }
    let decided = Some((&load, Quantity::Iops));
    let test = swap_test(&records, decided, &options).unwrap();
    assert!(test.unit.as_ref().unwrap().real && !test.slot.as_ref().unwrap().real, "{test:?}");
    assert!((test.unit.unwrap().ratio - 0.5).abs() < 0.01);
    let order: Vec<_> = test.steps.iter().map(|s| (s.step, s.place.unit.as_str(), s.place.slot.as_str())).collect();
    assert_eq!(order, [(1, "3", "7"), (1, "1", "2"), (2, "3", "2"), (2, "1", "7")]);
    records.pop();
    let unfinished = swap_test(&records, decided, &options).unwrap();
    assert!(unfinished.unit.is_none() && unfinished.steps.iter().any(|s| s.repeats == 1));
    for (suspect, other) in [("A=3@7", "A=3@2"), ("A=3@7", "A=1@7")] {
        let bad = SwapOptions { suspect: place(suspect), other: place(other) };
        assert!(swap_test(&[], None, &bad).is_err());
    }
    for text in ["A", "A=3", "=3@7", "A=@7", "A=3@"] {
        assert!(Place::parse(text, "--other").unwrap_err().message.contains("MODEL=UNIT@SLOT"), "{text}");
    }
}
