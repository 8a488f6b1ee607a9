//! On the same records, drawn by seed, no two commands contradict each other: about the load that decides, what is left
//! out and why, the units behind a model's figure, the value of that figure, and the classes that are met.
//!
//! The best of several runs, different computers and the unit of the figures are the same to all commands.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::finding::Finding;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::Outcome;
use assay_core::workload::{Op, Pattern, Workload};
use assay_stats::random::Generator;

use crate::advise::samples::{broken, fake, invalid, labelled, record, with, work};
use crate::advise::{self, BuyQuestion, Choice, ClassAnswer, ClassStatus, Link, NasQuestion, NasVerdict};
use crate::compare::{By, CompareRequest, Orders, PairQuestion, PairVerdict, WhyUnknown, compare, split};
use crate::plan::{NextAction, RaceOptions, race};
use crate::rank::{Better, PairRow, RankOptions, RankRemark, rank};
use crate::{Excluded, Load, Quantity, deciding_quantity, loads, samples, share_verdicts};

/// Number of stores, unless `ASSAY_CAMPAIGN_SEEDS` sets it. It is small because a ranking makes many draws.
const STORES: u64 = 5;
/// Seed of the first store. With it some models differ among the few stores drawn by default.
const FIRST: u64 = 5;

fn stores() -> u64 {
    std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(STORES)
}

/// A store of several models with several units. Each unit has runs under several loads, and some of the runs decide
/// nothing.
fn store(seed: u64) -> Vec<Observation> {
    let mut draw = Generator::new(seed);
    let loads = [
        work(Op::Read, Pattern::Random, (4096, 1, 1)),
        work(Op::Read, Pattern::Random, (4096, 32, 1)),
        work(Op::Write, Pattern::Random, (4096, 32, 1)),
        work(Op::Read, Pattern::Sequential, (1 << 20, 8, 1)),
        work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)),
    ];
    // Units that change slots, so that unit effects can be separated from slot effects.
    let swapped = draw.below(3) == 0;
    let mut all = Vec::new();
    for model in 0..2 + draw.below(3) {
        let speed = 1000.0 * (1.0 + draw.uniform());
        for unit in 0..1 + draw.below(4) {
            let own = speed * (1.0 + 0.1 * draw.uniform());
            for run in 0..if swapped { 2 } else { 1 + draw.below(2) } {
                let mut new = record(&format!("Model {model}"), &unit.to_string());
                new.id = format!("m{model}u{unit}r{run}");
                new = labelled(new, "price", "10USD");
                let slot = (all.len() + run) % 3;
                let own = if swapped { own * (1.0 + 0.1 * slot as f64) } else { own };
                if swapped {
                    new = labelled(labelled(new, "slot", &slot.to_string()), "round", &run.to_string());
                }
                for load in &loads {
                    if draw.below(6) > 0 {
                        let repeats: Vec<f64> = (0..3).map(|_| own * (1.0 + 0.02 * draw.uniform())).collect();
                        new = with(new, load.clone(), &repeats);
                    }
                }
                new = match draw.below(24) {
                    0 => fake(new),
                    1 => broken(new),
                    2 => invalid(new),
                    3 => Observation { outcome: Outcome::Running, ..new },
                    4 => one_value(new),
                    _ => new,
                };
                all.push(new);
            }
        }
    }
    share_verdicts(&mut all, &[]);
    all
}

/// One repeat of each load.
fn one_value(mut record: Observation) -> Observation {
    record.measurements.iter_mut().for_each(|measurement| measurement.repeats.truncate(1));
    record
}

/// Records that are left out under a load, with the reasons. Records that only lack the load are not included.
fn left_out(excluded: &[Excluded], load: &Load) -> LeftOut {
    let about = |e: &&Excluded| e.load.as_deref().is_none_or(|of| of == load.title());
    let words = excluded.iter().filter(about).map(|e| (e.record.clone(), e.reason.to_string()));
    words.filter(|(_, why)| !why.starts_with("not measured") && !why.starts_with("no figure")).collect()
}

/// The figure of each model and the number of units behind it.
type Figures = BTreeMap<String, (f64, usize)>;
/// Records that are left out, each with the reason.
type LeftOut = BTreeSet<(String, String)>;

/// Pairs of models with several units, where the first is better, by little or by much.
type BetterPairs = BTreeSet<(String, String)>;

fn by_ranking(records: &[Observation]) -> Option<(Load, Figures, LeftOut, BetterPairs)> {
    let report = rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).ok()?.primary;
    let better = |pair: &&PairRow| matches!(pair.verdict, Better::First | Better::FirstPerhapsSlightly);
    let better = report.pairs.iter().filter(better).map(|pair| (pair.first.clone(), pair.second.clone())).collect();
    let row = |m: &crate::rank::ModelRow| Some((m.model.clone(), (m.estimate.as_ref()?.point, m.units.len())));
    let figures = report.models.iter().filter_map(row).collect();
    let out = left_out(&report.excluded, &report.load);
    Some((report.load, figures, out, better))
}

fn by_comparison(records: &[Observation]) -> Option<(Load, Figures, LeftOut, BetterPairs)> {
    let named = [records.to_vec()];
    let groups = split(&named, By::Model);
    let found = compare(&groups, &CompareRequest::default()).ok()?;
    let load = found.primary()?;
    // Figures that take no part are shown only for a group that has no sound ones.
    let sound = load.sides.iter().filter(|s| !s.marks.iter().any(|m| m.excludes()));
    let figures = sound
        .filter_map(|side| {
            let units: BTreeSet<_> = side.runs.iter().map(|run| &run.unit).collect();
            Some((groups[side.group].name.clone(), (side.estimate.as_ref()?.point, units.len())))
        })
        .collect();
    let mut out = left_out(&found.excluded, &load.load);
    for run in load.sides.iter().flat_map(|s| &s.runs).filter(|r| r.marks.iter().any(|m| m.excludes())) {
        let of = records.iter().find(|r| r.id == run.record)?;
        let reading = crate::reading(of, &load.load, load.quantity)?;
        out.insert((run.record.clone(), crate::excluded(&reading)?.to_string()));
    }
    let pairs = load.pairs.iter().filter(|pair| pair.question == PairQuestion::Models && pair.significant);
    let pairs =
        pairs.filter(|pair| matches!(pair.verdict, PairVerdict::Better | PairVerdict::Worse | PairVerdict::Same));
    let name = |at: usize| groups[at].name.clone();
    let better = pairs.map(|pair| {
        if pair.ratio > 1.0 { (name(pair.second), name(pair.first)) } else { (name(pair.first), name(pair.second)) }
    });
    Some((load.load.clone(), figures, out, better.collect()))
}

fn by_race(records: &[Observation], load: &Load) -> Option<(Figures, LeftOut)> {
    let options = RaceOptions { threshold: 0.95, cap: 6, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
    let step = race(records, load, deciding_quantity(records, load).quantity, &options).ok()?;
    let row = |c: &crate::plan::Chance| Some((c.model.clone(), (c.mean?, c.units as usize)));
    Some((step.chances.iter().filter_map(row).collect(), left_out(&step.excluded, load)))
}

fn by_purchase(records: &[Observation]) -> Option<(Load, Figures, LeftOut)> {
    let question = BuyQuestion::for_nodes(28);
    let found = advise::buy(records, &question).ok()?;
    let row = |o: &advise::BuyOffer| {
        let of: BTreeSet<&str> = records
            .iter()
            .filter(|r| crate::identity(r).model == o.model && crate::exclusion::excluded_whole(r).is_none())
            .filter(|r| crate::reading(r, &found.load, o.performance.quantity).is_some_and(|r| r.counts()))
            .map(|r| r.labels["unit"].as_str())
            .collect();
        (o.model.clone(), (o.performance.value, of.len()))
    };
    let out = left_out(&found.excluded, &found.load);
    Some((found.load.clone(), found.options.iter().map(row).collect(), out))
}

fn assert_same(seed: u64, who: &str, one: &Figures, other: &Figures) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "{seed}: models of {who}");
    for (model, (value, units)) in one {
        let (other, of) = other[model];
        assert_eq!(*units, of, "{seed}: units of {model} by {who}");
        assert!((value / other - 1.0).abs() < 1e-9, "{seed}: {model} does {value}, and {other} by {who}");
    }
}

#[test]
fn commands_agree_on_load_exclusions_units_and_figures() {
    let (mut judged, mut ordered) = (0, 0);
    for seed in FIRST..FIRST + stores() {
        let records = store(seed);
        let Some((load, figures, out, better)) = by_ranking(&records) else { continue };
        judged += 1;
        if let Some((of, compared, left, decided)) = by_comparison(&records) {
            assert_eq!(of, load, "{seed}: the load of the comparison");
            assert_eq!(left, out, "{seed}: left out of the comparison");
            assert_same(seed, "comparison", &figures, &compared);
            // The ranking does not order models with failed units by speed.
            if !records.iter().any(|r| r.outcome.medium_failed() || r.verification.is_some()) {
                assert_eq!(better, decided, "{seed}: which is better");
                ordered += better.len();
            }
        }
        if let Some((raced, left)) = by_race(&records, &load) {
            assert_eq!(left, out, "{seed}: left out of the race");
            assert_same(seed, "race", &figures, &raced);
        }
        if let Some((of, offered, left)) = by_purchase(&records) {
            assert_eq!(of, load, "{seed}: the load of the purchase");
            // A record that is left out as a whole is reported whether it has the load or not.
            assert!(left.is_superset(&out), "{seed}: left out of the purchase: {left:?}, and {out:?}");
            assert_same(seed, "purchase", &figures, &offered);
        }
    }
    assert!(judged > stores() / 2 && ordered > 0, "{judged} {ordered}");
}

/// The model that is bought, or named as good as the best, is no worse than the models that cost as much, by the
/// comparison of models.
#[test]
fn nobody_takes_a_model_that_the_comparison_says_is_worse() {
    let mut taken = 0;
    for seed in 0..20 * stores() {
        let records = store(seed);
        let Ok(bought) = advise::buy(&records, &BuyQuestion::for_nodes(28)) else { continue };
        let quantity = bought.options[0].performance.quantity;
        let orders = Orders::of_models(&records, &bought.load, quantity);
        if let Choice::Buy { index, .. } = bought.choice {
            let chosen = &bought.options[index];
            let no_dearer = bought.options.iter().filter(|o| o.cost <= chosen.cost).map(|o| o.model.as_str());
            taken += 1;
            assert!(!orders.beaten(&chosen.model, no_dearer), "{seed}: {} is bought", chosen.model);
        }
        let options = RaceOptions { threshold: 0.95, cap: 6, left: Some(0), slots: 1, dropped: Vec::new(), seed: 1 };
        let Ok(step) = race(&records, &bought.load, quantity, &options) else { continue };
        let models = match step.action {
            NextAction::Buy { model } | NextAction::OnlyOneLeft { model } => vec![model],
            NextAction::PracticallyTied { models, .. } | NextAction::Exhausted { models } => models,
            NextAction::Measure { .. } | NextAction::CeilingTie { .. } | NextAction::NothingFit => continue,
        };
        let racing: Vec<&str> = step.chances.iter().filter(|c| !c.out).map(|c| c.model.as_str()).collect();
        for model in &models {
            taken += 1;
            assert!(!orders.beaten(model, racing.iter().copied()), "{seed}: {model} wins the race");
        }
    }
    assert!(taken > stores(), "{taken}");
}

/// A single record is judged as it is among others of its own unit: the card shows the same classes as `advise class`.
#[test]
fn a_record_meets_the_classes_alone_that_it_meets_among_others() {
    for seed in 0..40 {
        let mut seen = BTreeSet::new();
        // One run of each unit.
        let mut records = store(seed);
        records.retain(|r| seen.insert((r.labels["model"].clone(), r.labels["unit"].clone())));
        let Ok(all) = advise::class(&records, &[]) else { continue };
        for unit in &all.units {
            let own =
                records.iter().find(|r| r.labels["model"] == unit.model && r.labels["unit"] == unit.unit).unwrap();
            let Ok(alone) = advise::class(std::slice::from_ref(own), &[]) else { continue };
            let said = |classes: &[ClassAnswer]| classes.iter().map(|c| (c.class, c.status)).collect::<Vec<_>>();
            assert_eq!(said(&alone.units[0].classes), said(&unit.classes), "{seed}: {} {}", unit.model, unit.unit);
        }
    }
}

// Figures that are the best of several runs bound their medium from above, in every command.

fn read() -> Workload {
    Workload { queue_depth: 1, ..Workload::new("w", Op::Read, Pattern::Random, 4096) }
}

fn measured(workload: Workload, iops: &[f64], best: bool) -> ObservedMeasurement {
    let block = workload.block_bytes as f64;
    let mut measurement = ObservedMeasurement::new(workload);
    let repeat = |iops: &f64| ObservedRepeat {
        operations: 100,
        iops: *iops,
        bytes_per_second: iops * block,
        ..ObservedRepeat::new(Outcome::Completed)
    };
    measurement.repeats = iops.iter().map(repeat).collect();
    if best {
        measurement.warnings.push(Finding::BestOf { runs: Some(5) }.into());
    }
    measurement
}

/// Four units of each of two models; those of A are the best of five where `best` says so.
fn best_of_store(a: f64, b: f64, best: bool) -> Vec<Observation> {
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
fn verdicts(records: &[Observation]) -> (Better, PairVerdict, bool, Option<String>) {
    let named: Vec<&Observation> = records.iter().collect();
    let ranked = rank(&named, &RankOptions::default()).unwrap().primary.pairs[0].verdict;
    let groups = [records.to_vec()];
    let compared =
        compare(&split(&groups, By::Model), &CompareRequest::default()).unwrap().primary().unwrap().pairs[0].verdict;
    let options = RaceOptions { threshold: 0.95, cap: 10, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
    let raced = race(records, &Load::from_workload(&read()), Quantity::Iops, &options).is_ok();
    let bought = advise::buy(records, &BuyQuestion::for_nodes(3)).ok().and_then(|bought| match bought.choice {
        Choice::Buy { index, .. } => Some(bought.options[index].model.clone()),
        _ => None,
    });
    (ranked, compared, raced, bought)
}

#[test]
fn the_best_of_several_runs_may_lose_and_not_win() {
    let wins = verdicts(&best_of_store(1100.0, 1000.0, true));
    assert_eq!(wins, (Better::BestOf, PairVerdict::CannotTell(WhyUnknown::BestOf), false, None));
    // Against a mean that is higher still it is worse for certain.
    let loses = verdicts(&best_of_store(1000.0, 1100.0, true));
    assert_eq!(loses, (Better::First, PairVerdict::Better, true, Some("B".to_owned())));
    let means = verdicts(&best_of_store(1100.0, 1000.0, false));
    assert_eq!(means, (Better::First, PairVerdict::Worse, true, Some("A".to_owned())));
}

/// A card at the ceiling of its bus may be faster than one on another bus that is faster by its figure.
#[test]
fn what_the_bus_held_may_win_and_not_lose() {
    let held = |a: f64, held_by_bus: bool| {
        let mut all = best_of_store(a, 1000.0, false);
        for record in all.iter_mut().filter(|record| record.labels["model"] == "A") {
            record.measurements.iter_mut().for_each(|measurement| measurement.bus_limited = held_by_bus);
        }
        verdicts(&all)
    };
    let (_, compared, _, bought) = held(800.0, true);
    assert_eq!((compared, bought), (PairVerdict::CannotTell(WhyUnknown::BusHides), None));
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
    assert_eq!(card(5.6, true), ClassStatus::Fail);
    assert_eq!(card(495.0, true), ClassStatus::Indeterminate, "a day may add as much");
    assert_eq!(card(900.0, true), ClassStatus::Indeterminate, "at most that is not that");
    // One run of a tool that repeats nothing.
    assert_eq!(card(5.6, false), ClassStatus::Fail);
    assert_eq!(card(400.0, false), ClassStatus::Indeterminate);
    assert_eq!(card(9000.0, false), ClassStatus::Indeterminate, "one run promises nothing");
    let met = |best| {
        let rates = [1999.0, 2000.0, 2001.0];
        let all = vec![
            measured(write(1 << 20, Pattern::Sequential), &[20.0, 20.01, 20.02], best),
            measured(Workload { queue_depth: 32, ..read() }, &rates, best),
            measured(write(4096, Pattern::Random), &rates, best),
        ];
        advise::class(&[samples::record("a", "Card", "1", all)], &["A1"]).unwrap().units[0].classes[0].status
    };
    assert_eq!((met(false), met(true)), (ClassStatus::Pass, ClassStatus::Indeterminate));
}

#[test]
fn a_share_of_a_volume_is_not_beaten_by_the_best_of_several_runs() {
    let local = |best| {
        let workload = Workload { queue_depth: 8, ..Workload::new("w", Op::Read, Pattern::Sequential, 1 << 20) };
        let record = samples::record("a", "Card", "1", vec![measured(workload, &[19.9, 20.0, 20.1], best)]);
        let found = advise::nas(&[record], &[], &NasQuestion::for_nodes(28, Link::Line(125e6))).unwrap();
        found.models[0].rows[0].verdict
    };
    assert_eq!(local(false), NasVerdict::Local);
    assert!(matches!(local(true), NasVerdict::CannotTell(_)));
}

// One store, asked by every command: models that were measured with computers which nothing connects.

/// A small board and a PC: no order, purchase or race, until one unit was on both.
#[test]
fn models_of_different_computers_are_told_apart_by_no_command() {
    let card = |id: &str, model: &str, unit: &str, iops: f64, cpu: &str| {
        let mut measurement = ObservedMeasurement::new(Workload {
            queue_depth: 1,
            ..Workload::new("w", Op::Read, Pattern::Random, 4096)
        });
        let repeat = |iops| ObservedRepeat {
            operations: 100,
            iops,
            bytes_per_second: iops * 4096.0,
            ..ObservedRepeat::new(Outcome::Completed)
        };
        measurement.repeats = [iops * 0.999, iops, iops * 1.001].map(repeat).to_vec();
        let mut record = samples::record(id, model, unit, vec![measurement]);
        record.labels.insert("price".to_owned(), "10USD".to_owned());
        record.host.hostname = Some(cpu.to_owned());
        record.host.cpu = Some(cpu.to_owned());
        record
    };
    let mut records: Vec<Observation> = (0..4)
        .flat_map(|at| {
            let (unit, off) = (at.to_string(), 1.0 + 0.01 * f64::from(at));
            [
                card(&format!("a{at}"), "A", &unit, 1000.0 * off, "small"),
                card(&format!("b{at}"), "B", &unit, 1500.0 * off, "large"),
            ]
        })
        .collect();
    let load = loads(&records)[0].clone();
    let said = |records: &[Observation]| {
        let named: Vec<&Observation> = records.iter().collect();
        let ranked = rank(&named, &RankOptions::default()).unwrap().primary.pairs[0].verdict;
        let named = [records.to_vec()];
        let compared = compare(&split(&named, By::Model), &CompareRequest::default()).unwrap();
        let options = RaceOptions { threshold: 0.95, cap: 10, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
        let raced = race(records, &load, Quantity::Iops, &options).is_ok();
        let bought = advise::buy(records, &BuyQuestion::for_nodes(3)).is_ok();
        (ranked, compared.primary().unwrap().pairs[0].verdict, raced, bought)
    };
    let refused = PairVerdict::CannotTell(WhyUnknown::OtherComputer);
    assert_eq!(said(&records), (Better::OtherComputer, refused, false, false));
    // One card of A on both: the rest is the medium's.
    records.push(card("a9", "A", "0", 1000.0, "large"));
    let (ranked, compared, raced, bought) = said(&records);
    assert!(ranked != Better::OtherComputer && compared != refused && raced && bought);
}

// No verdict depends on the unit of the figures, or on how their sums are rounded.

fn card_at(model: &str, unit: usize, iops: f64) -> Observation {
    let workload = Workload { queue_depth: 1, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
    let mut measurement = ObservedMeasurement::new(workload);
    let repeat = ObservedRepeat {
        operations: 100,
        iops,
        bytes_per_second: iops * 4096.0,
        ..ObservedRepeat::new(Outcome::Completed)
    };
    measurement.repeats = vec![repeat; 3];
    let mut record = samples::record(&format!("{model}{unit}"), model, &unit.to_string(), vec![measurement]);
    record.created = format!("2026-01-{:02}T00:00:00Z", unit + 1);
    record
}

/// The verdicts on two models of these units.
fn scaled_verdicts(a: &[f64], b: &[f64], factor: f64) -> (Option<Better>, PairVerdict, usize) {
    let of = |model: &'static str, values: &[f64]| -> Vec<Observation> {
        values.iter().enumerate().map(|(at, value)| card_at(model, at, value * factor)).collect()
    };
    let records = [of("A", a), of("B", b)].concat();
    let ranked = rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap().primary;
    let groups = [records];
    let compared =
        compare(&split(&groups, By::Model), &CompareRequest::default()).unwrap().primary().unwrap().pairs[0].verdict;
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
        let plain = scaled_verdicts(a, b, 1.0);
        for factor in [3.0, 7.0, 1000.0, 1.0 / 3.0, 0.1] {
            assert_eq!(scaled_verdicts(a, b, factor), plain, "{a:?} {b:?} times {factor}");
        }
    }
    let (ranked, compared, _) = scaled_verdicts(&[500.0; 3], &[400.0; 3], 1.0);
    assert!(
        ranked.is_none() && matches!(compared, PairVerdict::CannotTell(_)),
        "copies are no units: {ranked:?} {compared:?}"
    );
}

/// One stick was measured in both slots, at twice the speed in the second one. What is shown of others is without that
/// effect, and each command says so and has the figure as measured.
#[test]
fn figures_that_are_not_as_measured_are_said_to_be_so() {
    let load = work(Op::Read, Pattern::Random, (4096, 1, 1));
    let run = |model: &str, unit: &str, slot: Option<&str>, iops: f64| {
        let mut new = labelled(record(model, unit), "price", "10USD");
        new.id = format!("{model}{unit}{slot:?}");
        if let Some(slot) = slot {
            new = labelled(new, "slot", slot);
        }
        with(new, load.clone(), &[iops * 0.999, iops, iops * 1.001])
    };
    let store = |slots: [Option<&str>; 2]| {
        [
            run("Stick", "1", slots[0], 1000.0),
            run("Stick", "1", slots[1], 2000.0),
            run("Stick", "2", slots[0], 1010.0),
            run("Disk", "1", slots[1], 3343.0),
            run("Disk", "2", slots[1], 3400.0),
        ]
    };
    let asked = |records: &[Observation]| {
        let ranking = rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap().primary;
        let units = ranking.models.iter().find(|row| row.model == "Disk").unwrap().units.clone();
        let options = RaceOptions { threshold: 0.95, cap: 6, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
        let step = race(records, &ranking.load, ranking.quantity, &options).unwrap();
        let offers = advise::buy(records, &BuyQuestion::for_nodes(28)).unwrap().options;
        let performance = offers.into_iter().find(|offer| offer.model == "Disk").unwrap().performance;
        let remark = ranking.remarks.iter().find_map(|remark| match remark {
            RankRemark::Adjusted { units } => Some(*units),
            _ => None,
        });
        (units, remark, step.adjusted_units, performance)
    };
    let (units, remark, raced, performance) = asked(&store([Some("a"), Some("b")]));
    let measured = units[0].measured.unwrap();
    assert!((measured / 3343.0 - 1.0).abs() < 1e-6 && units[0].value < 0.9 * measured, "{units:?}");
    let in_other_slots = remark.unwrap();
    assert!(in_other_slots >= 3 && in_other_slots == raced, "{remark:?} {raced}");
    let mean = (3343.0f64 * 3400.0).sqrt();
    assert!((performance.measured.unwrap() / mean - 1.0).abs() < 1e-6, "{performance:?}");
    assert!(performance.value < 0.9 * mean, "{performance:?}");
    // Nothing is known of slots, and nothing is taken out.
    let (units, remark, raced, performance) = asked(&store([None, None]));
    assert_eq!((units[0].measured, remark, raced, performance.measured), (None, None, 0, None));
}
