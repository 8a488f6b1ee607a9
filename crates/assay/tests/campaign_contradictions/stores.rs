//! Stores by seed: fleets of which some records decide nothing, and some say little.

use std::collections::BTreeSet;

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_lab::SplitMix;
use assay_lab::fleet::{Ceiling, Design, Fleet, Load, Part, Repeats, Spread, Truth, Units};

/// The records of a store.
pub fn drawn(seed: u64) -> Vec<Record> {
    let dice = &mut SplitMix::new(seed);
    let mut records = fleet(seed, dice).records();
    let mut checks = Vec::new();
    for record in &mut records {
        // A check is mostly a record of its own.
        if record.verification.is_some() && dice.one_in(2) {
            let mut check = record.clone();
            check.id = format!("{}v", record.id);
            check.suite.name = "verify".to_owned();
            check.measurements.clear();
            checks.push(check);
            record.verification = None;
        }
        mishap(record, dice);
    }
    records.extend(checks);
    as_a_run(&mut records);
    records
}

/// The label of records that are a run of a cluster.
pub const RUN: &str = "drawn";

/// The first record of each unit that is named is that of a node.
fn as_a_run(records: &mut [Record]) {
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for record in records.iter_mut().filter(|record| record.suite.name != "verify") {
        let (Some(model), Some(unit)) = (record.labels.get("model"), record.labels.get("unit")) else { continue };
        if seen.insert((model.clone(), unit.clone())) {
            let labels = [("fleet", RUN.to_owned()), ("node", format!("node{}", seen.len()))];
            record.labels.extend(labels.map(|(key, value)| (key.to_owned(), value)));
        }
    }
}

fn share(dice: &mut SplitMix) -> f64 {
    dice.below(1 << 20) as f64 / f64::from(1 << 20)
}

fn fleet(seed: u64, dice: &mut SplitMix) -> Fleet {
    let spread = Spread { run: 0.03 * share(dice), repeat: 0.02 * share(dice), common: 0.5, ..Spread::default() };
    let models = 2 + dice.index(3);
    let mut truth = Truth::equal(Load::random_read(), models, Units::Normal(0.15 * share(dice)), spread);
    truth.loads = Load::eight();
    let equal = dice.one_in(3);
    for model in &mut truth.models {
        if !equal {
            model.ratio = 0.6 + share(dice);
        }
        let price = if dice.one_in(2) { 10 } else { 6 + dice.below(8) };
        model.price = Some(format!("{price}USD"));
    }
    let units: Vec<usize> = (0..models).map(|_| 1 + dice.index(4)).collect();
    let any = |dice: &mut SplitMix| {
        let model = dice.index(models);
        (model, dice.index(units[model]))
    };
    if dice.one_in(3) {
        let (model, unit) = any(dice);
        truth = truth.with_off(Part::Unit(model, unit), 0.2 + 0.6 * share(dice));
    }
    if dice.one_in(3) {
        let (model, unit) = any(dice);
        truth = truth.with_fake(model, unit);
    }
    if dice.one_in(4) {
        let bytes_per_second = (1 << 20) as f64 * (15.0 + 30.0 * share(dice));
        truth = truth.with_ceiling(Ceiling { bytes_per_second, known: dice.one_in(2) });
    }
    let repeats =
        if dice.one_in(5) { Repeats::Until(0.02, 3, 8) } else { Repeats::Fixed([1, 2, 3, 3, 3, 5][dice.index(6)]) };
    let mut design = Design::units(&units).on_days(1 + dice.index(2) as u32).with_repeats(repeats);
    if dice.one_in(4) {
        // A swap of slots from round to round.
        design = design.changed(|at, run| {
            run.slot = Some((at + run.day as usize) % 4);
            run.round = Some(run.day);
        });
    }
    if dice.one_in(4) {
        design = design.changed(|at, run| run.host = at % 2);
    }
    Fleet { truth, design, seed }
}

/// What happens to records on their way: they fail, are left under way, measure another thing, or lack a load.
fn mishap(record: &mut Record, dice: &mut SplitMix) {
    match dice.below(24) {
        0 => {
            record.outcome = Outcome::Failed {
                failure: if dice.one_in(2) { RunFailure::ReadOnly } else { RunFailure::Interrupted },
                detail: "as drawn".to_owned(),
                workload: None,
                elapsed_ns: 1,
                written_bytes: 1,
            };
        }
        1 => record.outcome = Outcome::Running,
        2 => record.warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into()),
        3 => {
            let at = dice.index(record.measurements.len());
            record.measurements[at].warn(Finding::ServedFromCache { proof_ratio: 0.02 });
        }
        4 => record.measurements.retain(|_| !dice.one_in(3)),
        5 => {
            for measurement in &mut record.measurements {
                measurement.repeats.truncate(1);
                let bare = |point| Some(Estimate::bare(point, 1, "one value"));
                let [repeat] = &measurement.repeats[..] else { continue };
                measurement.iops = bare(repeat.iops);
                measurement.bytes_per_second = bare(repeat.bytes_per_second);
                measurement.durable_bytes_per_second = repeat.durable_bytes_per_second.and_then(bare);
            }
        }
        6 => {
            record.labels.remove("unit");
        }
        7 => {
            let at = dice.index(record.measurements.len());
            record.measurements[at].warn(Finding::UnwrittenReads);
        }
        _ => {}
    }
    record.validity = assay_core::finding::Validity::judge(record.all_warnings());
}
