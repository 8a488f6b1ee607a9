//! Plans, the race and the swap test, on plans and records made up for the tests.

use std::collections::BTreeSet;

use assay_core::estimate::Estimate;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedOrigin};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::suite::Suite;
use assay_core::verification::Verdict;
use assay_core::workload::{Op, Pattern, Workload};

use super::*;
use crate::load::Load;
use crate::quantity::Quantity;

const SUITE: &str = r#"
name = "tiny"
version = 2
purpose = "says \"hi\" \\ there"
budget = "90s"
max_write = "1GiB"
repeats = 1
span = "4MiB"
[[workload]]
name = "write"
op = "write"
pattern = "random"
block = "4KiB"
[[workload]]
name = "read"
op = "read"
pattern = "random"
block = "4KiB"
"#;

fn request<T>(units: &str, slots: &str, rounds: usize, with: impl FnOnce(PlanRequest<'_>) -> T) -> T {
    let (roster, slots) = (Roster::inline(units, "--units").unwrap(), Slots::parse(slots, "--slots").unwrap());
    let suite = Suite::parse(SUITE, "tiny.toml").unwrap();
    with(PlanRequest {
        roster: &roster,
        slots: &slots,
        rounds,
        moves: Moves::EachRound,
        suite: &suite,
        suite_source: "tiny.toml",
        suite_text: SUITE,
        handling_minutes: 1.0,
        seed: None,
    })
}

pub(super) fn planned(units: &str, slots: &str, rounds: usize) -> ExperimentPlan {
    request(units, slots, rounds, |request| ExperimentPlan::new(&request).unwrap())
}

/// Five models with three units each.
const FIVE: &str = "A=1,2,3;B=1,2,3;C=1,2,3;D=1,2,3;E=1,2,3";

fn workload(op: Op) -> Workload {
    Workload {
        span_bytes: 4 << 20,
        ..Workload::new(if op == Op::Read { "read" } else { "write" }, op, Pattern::Random, 4096)
    }
}

/// A record with one figure and these labels.
fn record(id: &str, labels: &[(&str, &str)], iops: f64) -> Observation {
    let mut record = crate::published("sandisk-ultra-a1/1").unwrap().remove(0);
    record.id = id.to_owned();
    record.origin = ObservedOrigin::default();
    record.suite = assay_core::record::SuiteRef { name: "tiny".to_owned(), version: 2 };
    record.labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut measurement = ObservedMeasurement::new(workload(Op::Read));
    measurement.iops = Some(Estimate::bare(iops, 1, "made up"));
    record.measurements = vec![measurement];
    record
}

/// A run by this suite.
fn ran(suite_text: String) -> ObservedOrigin {
    ObservedOrigin::Run { until_known: false, suite_text: Some(suite_text) }
}

fn unit(model: &str, unit: &str, iops: f64) -> Observation {
    record(&format!("{model}{unit}"), &[("model", model), ("unit", unit)], iops)
}

fn result(plan: &ExperimentPlan, cell: &ScheduledUnit) -> Observation {
    let (round, label) = (cell.round.to_string(), plan.label());
    let labels = [
        ("model", cell.model.as_str()),
        ("unit", &cell.unit),
        ("slot", &cell.slot),
        ("round", &round),
        ("plan", &label),
    ];
    let mut record = record(&format!("{}{}r{round}", cell.model, cell.unit), &labels, 1000.0);
    record.origin = ran(plan.session(cell.order).unwrap().to_text());
    record
}

// Plans, their cost and their files.

#[test]
fn every_unit_meets_a_new_slot_in_each_round_and_no_slot_is_taken_twice() {
    let plan = planned(FIVE, "7", 3);
    assert_eq!((plan.cells().len(), plan.waves()), (45, 3));
    let met: BTreeSet<_> = plan.cells().iter().map(|c| (&c.model, &c.unit, &c.slot)).collect();
    let taken: BTreeSet<_> = plan.cells().iter().map(|c| (c.round, c.wave, &c.slot)).collect();
    let measured: BTreeSet<_> = plan.cells().iter().map(|c| (c.round, &c.model, &c.unit)).collect();
    assert_eq!((met.len(), taken.len(), measured.len()), (45, 45, 45));
}

#[test]
fn the_same_request_gives_the_same_plan_and_another_seed_another() {
    assert_eq!(planned(FIVE, "7", 3), planned(FIVE, "7", 3));
    let with = |seed| request(FIVE, "7", 3, |r| ExperimentPlan::new(&PlanRequest { seed: Some(seed), ..r }).unwrap());
    assert_eq!(with(1).hash(), with(1).hash());
    assert_ne!(with(1).cells(), with(2).cells());
    assert_ne!(planned(FIVE, "7", 3).seed(), planned(FIVE, "7", 2).seed());
}

#[test]
fn units_stay_where_they_are_asked_to() {
    let plan =
        request("A=1,2;B=1", "4", 6, |r| ExperimentPlan::new(&PlanRequest { moves: Moves::Never, ..r }).unwrap());
    let places: BTreeSet<_> = plan.cells().iter().map(|c| (&c.model, &c.unit, &c.slot)).collect();
    assert_eq!(places.len(), 3);
    let outlook = outlook(&plan, 0.1).unwrap();
    let moves: Vec<_> = outlook.rounds.iter().map(|round| round.moves).collect();
    assert_eq!(moves, [3, 0, 0, 0, 0, 0]);
    assert!(!outlook.units_told_from_slots);
    assert_eq!(outlook.models_of_one_unit, ["B"]);
    assert!(outlook.resolution.is_empty(), "one unit tells nothing of a model");
}

#[test]
fn a_plan_says_whether_slots_can_be_tested() {
    let says = |units, slots, rounds| outlook(&planned(units, slots, rounds), 0.1).unwrap().units_told_from_slots;
    assert!(says("A=1,3,5,7;B=2,4,6,8", "11", 3) && says(FIVE, "7", 2));
    assert!(!says("A=1,2;B=1,2", "4", 2), "two rounds explain every figure");
    assert!(!says("A=1,2;B=1,2", "8", 3), "as many cells as effects");
    assert!(!says("A=1,2;B=1,2", "4", 1));
}

#[test]
fn reads_come_before_writes_in_every_session() {
    let plan = planned("A=1,2", "2", 2);
    assert_eq!(plan.orders(), [["read", "write"]]);
    assert!(!plan.in_its_own_order(), "the suite writes first");
    let names: Vec<_> = plan.session(1).unwrap().workloads.into_iter().map(|w| w.name).collect();
    assert_eq!(names, ["read", "write"]);
    assert!(plan.session(0).is_none() && plan.session(2).is_none());
    assert_eq!(plan.session_file(1), "tiny-order-1.toml");
}

#[test]
fn cost_and_resolution_are_those_of_the_suite_and_the_units() {
    let plan = planned(FIVE, "7", 3);
    let found = outlook(&plan, 0.1).unwrap();
    // 1.5 minutes of suite and 2 of rest; 15 units need 3 waves on 7 slots; one minute a hand.
    assert!((found.rounds[0].clock_minutes - (3.0 * 3.5 + 15.0)).abs() < 1e-9, "{found:?}");
    assert!((found.total.clock_minutes - 3.0 * 25.5).abs() < 1e-9);
    assert!((found.total.device_minutes - 45.0 * 3.5).abs() < 1e-9);
    assert_eq!((found.total.sessions, found.total.moves), (45, 45));
    assert_eq!(found.total.written_bytes, 45 << 30);
    assert_eq!(found.written_per_unit_bytes, 3 << 30);
    // Tukey's honest significant difference for 5 models with 3 units: 31, 14 and 50 percent.
    let percent: Vec<_> = found.resolution.iter().map(|r| ((r.smallest_ratio - 1.0) * 100.0).round()).collect();
    assert_eq!(percent, [31.0, 14.0, 50.0]);
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(outlook(&plan, bad).is_err());
    }
}

#[test]
fn what_cannot_be_planned_is_refused_in_one_line() {
    let refused = |units: &str, slots: &str, rounds, handling_minutes| {
        request(units, slots, rounds, |r| ExperimentPlan::new(&PlanRequest { handling_minutes, ..r }))
            .unwrap_err()
            .to_string()
    };
    let units: Vec<String> = (0..300).map(|unit| unit.to_string()).collect();
    let units = format!("A={}", units.join(","));
    for (text, words) in [
        (refused("A=1,2", "2", 3, 1.0), "--rounds: 3 rounds need 3 slots"),
        (refused("A=1,2", "2", 0, 1.0), "0 rounds"),
        (refused("A=1,2", "2", 101, 1.0), "101 rounds"),
        (refused(&units, "400", 100, 1.0), "30000 sessions"),
        (refused("A=1,2", "2", 2, -1.0), "-1 minutes"),
        (refused("A=1,2", "2", 2, f64::NAN), "NaN minutes"),
    ] {
        assert!(text.contains(words) && !text.contains('\n'), "{text}");
    }
}

#[test]
fn a_file_is_read_back_as_it_was_written() {
    for plan in [planned(FIVE, "7", 3), planned("it's \"x\" \\=1", "left,right", 1)] {
        let text = plan.to_text();
        assert_eq!(read_plan(&text, "p.toml").unwrap(), plan, "{text}");
        let noted = text.replacen("\n[[model]]", "\n# a note of a person\n[[model]]", 1);
        assert_eq!(read_plan(&noted, "p.toml").unwrap(), plan);
    }
}

#[test]
fn a_changed_or_newer_or_broken_file_is_refused_with_its_line() {
    let plan = planned("A=1,2;B=1,2", "3", 2);
    let text = plan.to_text();
    for (from, to, place, words) in [
        ("rounds = 2", "rounds = 3", "p.toml:5", "changed after it was made"),
        // Each round is one line of the hashed text. Hashing this many lines would never end.
        ("rounds = 2", "rounds = 9223372036854775807", "p.toml:5", "changed after it was made"),
        ("slot = \"1\"", "slot = \"2\"", "p.toml:5", "changed after it was made"),
        ("seed = ", "seed = 1", "p.toml:5", "changed after it was made"),
        ("budget = ", "# budget = ", "p.toml", "missing field `budget`"),
        ("version = 1\nhash", "version = 2\nnews = 3\nhash", "p.toml:4", "version 2, this assay knows 1"),
        ("assay-plan", "shopping", "p.toml:3", "is not a plan"),
        ("seed = ", "sed = ", "p.toml:7", "sed"),
        ("name = \"A\"", "name = \"A,B\"", "p.toml:5", "holds a comma"),
        ("[[model]]", "[[model", "p.toml:14", ""),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        let error = read_plan(&broken, "p.toml").unwrap_err();
        assert!(error.place.starts_with(place), "{from}: {error}");
        assert!(error.message.contains(words) && !error.to_string().contains('\n'), "{from}: {error}");
    }
    assert!(read_plan("", "p.toml").is_err());
    assert!(read_plan("name = 3", "p.toml").is_err());
}

#[test]
fn a_hash_that_fits_does_not_make_a_bad_plan_sound() {
    let plan = planned("A=1,2;B=1,2", "4", 2);
    let spoiled = |spoil: fn(&mut ExperimentPlan)| {
        let mut plan = plan.clone();
        spoil(&mut plan);
        read_plan(&plan.to_text(), "p.toml").unwrap_err().to_string()
    };
    for (error, words) in [
        (spoiled(|p| p.cells[0].slot = p.cells[1].slot.clone()), "planned"),
        (spoiled(|p| p.cells[0].slot = "9".to_owned()), "in no slot of it"),
        (spoiled(|p| p.cells[0].unit = "\n\u{1b}[2J".to_owned()), "unit `\u{fffd}\u{fffd}[2J` of"),
        (spoiled(|p| p.cells[0].order = 7), "no order of workloads"),
        (spoiled(|p| p.cells[0].wave = 0), "no wave"),
        (spoiled(|p| p.waves = 1 << 60), "do not fit the cells"),
        (spoiled(|p| p.orders[0] = vec!["read".to_owned()]), "does not hold the workloads"),
        (spoiled(|p| p.handling_minutes = -1.0), "-1 minutes"),
        (spoiled(|p| p.suite.source = "\u{1b}[2J".to_owned()), "cannot be shown"),
    ] {
        assert!(error.contains(words) && !error.contains('\n'), "{words}: {error}");
    }
}

// The race and the swap test.

fn options() -> RaceOptions {
    RaceOptions { threshold: 0.95, cap: 12, left: None, slots: 1, dropped: Vec::new(), seed: 1 }
}

fn step(records: &[Observation], options: &RaceOptions) -> Race {
    race(records, &Load::from_workload(&workload(Op::Read)), Quantity::Iops, options).unwrap()
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
    let close: Vec<Observation> = close.map(|(n, (model, iops))| unit(model, &n.to_string(), *iops)).collect();
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
    let records: Vec<Observation> = (0..4)
        .map(|n| Observation { id: n.to_string(), ..unit("A", "1", 1000.0) })
        .chain([unit("B", "1", 900.0)])
        .collect();
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
        |records: &[Observation]| step(records, &options()).chances.into_iter().map(|c| c.model).collect::<Vec<_>>();
    assert_eq!(models(&records), ["A", "B", "C"], "a fake is reported");
    records[2].verification.as_mut().unwrap().verdict = Verdict::Genuine;
    assert_eq!(models(&records), ["A", "B"]);
}

#[test]
fn less_is_better_of_a_latency() {
    let slow_and_fast = [("A", 900.0), ("A", 910.0), ("B", 300.0), ("B", 305.0)];
    let mut records: Vec<Observation> =
        slow_and_fast.iter().enumerate().map(|(n, (m, _))| unit(m, &n.to_string(), 1.0)).collect();
    for (record, (_, latency)) in records.iter_mut().zip(slow_and_fast) {
        record.measurements[0].latency_ns.p50 = Some(Estimate::bare(latency, 1, "made up").into());
    }
    let step = race(&records, &Load::from_workload(&workload(Op::Read)), Quantity::P50Ns, &options()).unwrap();
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
        assert!(race(&records, &Load::from_workload(&workload(Op::Read)), Quantity::Iops, &bad).is_err(), "{bad:?}");
    }
    assert!(race(&[], &Load::from_workload(&workload(Op::Read)), Quantity::Iops, &options()).is_err());
}

#[test]
fn a_swap_says_whether_unit_or_slot_is_to_blame() {
    let place = |text| SwapPlace::parse(text, "--suspect").unwrap();
    let options = SwapOptions { suspect: place("A=3@7"), other: place("A=1@2") };
    let load = Load::from_workload(&workload(Op::Read));
    let cells = [("3", "7", 500.0), ("3", "2", 510.0), ("1", "7", 1000.0), ("1", "2", 1010.0)];
    let mut records: Vec<Observation> = Vec::new();
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
        assert!(SwapPlace::parse(text, "--other").unwrap_err().message.contains("MODEL=UNIT@SLOT"), "{text}");
    }
}

// The progress of a plan.

#[test]
fn a_plan_is_done_when_every_cell_has_a_record() {
    let plan = planned("A=1,2;B=1,2", "3", 2);
    let mut records: Vec<Observation> = plan.cells().iter().map(|cell| result(&plan, cell)).collect();
    let done = status(&plan, &records);
    assert!(done.complete() && done.misfits.is_empty(), "{done:?}");
    records.pop();
    assert_eq!(status(&plan, &records).missing(), 1);
    assert_eq!(status(&plan, &[]).missing(), 8);
}

#[test]
fn records_that_do_not_fit_are_named_with_the_reason() {
    let plan = planned("A=1,2;B=1,2", "3", 2);
    let cell = &plan.cells()[0];
    let changed = |change: &dyn Fn(&mut Observation)| {
        let mut record = result(&plan, cell);
        change(&mut record);
        status(&plan, &[record])
    };
    let label = |key: &'static str, value: &'static str| {
        changed(&move |r| {
            r.labels.insert(key.to_owned(), value.to_owned());
        })
    };
    let failed =
        |failure| Outcome::Failed { failure, detail: String::new(), workload: None, elapsed_ns: 0, written_bytes: 0 };
    for (status, words) in [
        (label("slot", "99"), "was in slot 99"),
        (label("model", "Z"), "model Z is not in the plan"),
        (label("unit", "Z"), "unit Z of"),
        (label("round", "3"), "round 3 is not in the plan"),
        (label("round", "x"), "round x is not a number"),
        (changed(&|r| drop(r.labels.remove("slot"))), "has no label slot"),
        (changed(&|r| drop(r.labels.remove("plan"))), "has no label plan="),
        (changed(&|r| r.suite.name = "quick".to_owned()), "ran suite quick"),
        (changed(&|r| r.origin = ran(SUITE.replace("4KiB", "8KiB"))), "other workloads"),
        (changed(&|r| r.outcome = Outcome::Running), "under way"),
        (changed(&|r| r.outcome = failed(RunFailure::Interrupted)), "interrupted"),
        (changed(&|r| r.validity.verdict = assay_core::finding::ValidityVerdict::Invalid), "is invalid"),
    ] {
        assert_eq!(status.misfits.len(), 1, "{words}");
        assert!(status.misfits[0].reason.to_string().contains(words), "{words}: {status:?}");
        assert_eq!(status.missing(), 8, "{words}");
    }
    // Another plan's are not ours; a medium that fails is a result.
    assert!(label("plan", "0123456789abcdef").misfits.is_empty());
    let hung = changed(&|r| r.outcome = failed(RunFailure::Hung));
    assert_eq!(hung.missing(), 7);
    assert!(matches!(hung.cells[0].state, CellState::MediumFailed { .. }));
    let invalid = |id: &str| {
        let mut record = result(&plan, cell);
        (record.id, record.validity.verdict) = (id.to_owned(), assay_core::finding::ValidityVerdict::Invalid);
        record
    };
    let given_up = status(&plan, &[invalid("a"), invalid("b")]);
    assert_eq!((given_up.missing(), given_up.given_up()), (7, 1), "{given_up:?}");
    assert!(given_up.misfits.iter().all(|misfit| misfit.reason == MisfitReason::InvalidAgain), "{given_up:?}");
    let mended = status(&plan, &[invalid("a"), invalid("b"), result(&plan, cell)]);
    assert!(matches!(&mended.cells[0].state, CellState::Measured { records } if records.len() == 1), "{mended:?}");
    assert!(mended.misfits.iter().all(|misfit| misfit.reason == MisfitReason::InvalidBesideResult), "{mended:?}");
    // Every record of a cell whose medium failed is named.
    let of = |id: &str, outcome: Outcome| Observation { id: id.to_owned(), outcome, ..result(&plan, cell) };
    let hung = || failed(RunFailure::Hung);
    let order = [of("a", Outcome::Completed), of("b", hung()), of("c", Outcome::Completed), of("d", hung())];
    let broken = status(&plan, &order);
    assert!(matches!(&broken.cells[0].state, CellState::MediumFailed { record, .. } if record == "d"), "{broken:?}");
    let named: Vec<&str> = broken.misfits.iter().map(|misfit| misfit.record.as_str()).collect();
    assert_eq!(named, ["a", "c", "b"], "{broken:?}");
    assert!(broken.misfits.iter().all(|misfit| misfit.reason == MisfitReason::FailedElsewhere));
    // A run that measured nothing leaves its cell open.
    let mut empty = result(&plan, cell);
    empty.measurements.clear();
    let empty = status(&plan, &[empty]);
    assert_eq!((empty.missing(), &empty.misfits[0].reason), (8, &MisfitReason::NoFigure));
    let twice = status(&plan, &[result(&plan, cell), result(&plan, cell)]);
    assert!(matches!(&twice.cells[0].state, CellState::Measured { records } if records.len() == 2));
}
