//! `assay rank`: orders among models, and figures that say less than they seem to.

use assay_analysis::rank::{Better, RankOptions};
use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::observation::Observation;
use assay_core::record::Source;
use assay_lab::Dice;
use assay_lab::fleet::{Ceiling, Design, Fleet, Load, Part, Repeats, TrueRun, Truth, Units};

use super::compare::KINDS;
use crate::decisions::{orders, rank, stored};
use crate::found::{Failure, RowResult, above, furthest_above, unit_means};
use crate::row::{Bound, COVERAGE, COVERAGE_ASSUMED, CalibrationRow, ERROR, equal, percent, spread};

pub(super) fn ranked(
    truth: &Truth,
    design: Design,
    ask: &RankOptions,
    seed: u64,
) -> Result<Vec<(String, String)>, Failure> {
    let fleet = Fleet { truth: truth.clone(), design, seed };
    Ok(orders(&rank(&stored(&fleet)?, ask)?))
}

/// Equal models: any order is false.
pub(super) fn null(
    name: impl Into<String>,
    truth: Truth,
    design: impl Fn(u64) -> Design + Send + Sync + 'static,
) -> CalibrationRow {
    asked(name, truth, design, RankOptions::default())
}

pub(super) fn asked(
    name: impl Into<String>,
    truth: Truth,
    design: impl Fn(u64) -> Design + Send + Sync + 'static,
    ask: RankOptions,
) -> CalibrationRow {
    CalibrationRow::new(name, ERROR, move |seed| {
        let none = ranked(&truth, design(seed), &ask, seed)?.is_empty();
        Ok(if none { RowResult::Undecided } else { RowResult::Wrong })
    })
}

pub(super) fn rows() -> Vec<CalibrationRow> {
    [plain(), unequal(), power(), coverage()].into_iter().flatten().collect()
}

fn plain() -> Vec<CalibrationRow> {
    let row = |models: usize, units: usize, deviation: f64| {
        let name = format!("rank {models} equal models of {units} units, unit sd {}", percent(deviation));
        null(name, equal(models, Units::Normal(deviation), 0.02), move |_| Design::units(&vec![units; models]))
    };
    let five = |units: Units, run: f64| equal(5, units, run);
    let each = |units: usize| move |_| Design::units(&[units; 5]);
    let mut drifting = five(Units::Normal(0.05), 0.02);
    drifting.spread.drift = -0.1;
    vec![
        row(2, 2, 0.03),
        row(2, 6, 0.15),
        row(3, 3, 0.25).short(),
        row(5, 2, 0.15),
        row(5, 3, 0.03),
        row(5, 3, 0.15),
        row(8, 2, 0.15),
        row(8, 6, 0.03),
        null("rank 5 equal models of 3 units, day sd 5 %, unit sd 3 %", five(Units::Normal(0.03), 0.05), each(3)),
        null("rank 5 equal models of 3 units, heavy tails", five(Units::Heavy(0.1), 0.02), each(3)),
        null(
            "rank 5 equal models of 3 units, one unit at half speed",
            five(Units::Normal(0.1), 0.02).with_off(Part::Unit(2, 1), 0.5),
            each(3),
        ),
        null("rank 5 equal models of 1 to 6 units", five(Units::Normal(0.1), 0.02), |seed| {
            let mut dice = Dice::new(seed);
            Design::units(&[0; 5].map(|_| 1 + usize::try_from(dice.below(6)).unwrap_or(0)))
        }),
        null("rank 5 equal models of 2 units, two kinds of units", five(KINDS, 0.02), each(2)),
        null("rank 5 equal models of 3 units, two kinds of units", five(KINDS, 0.02), each(3)),
        null("rank 5 equal models of 6 units, two kinds of units", five(KINDS, 0.02), each(6)),
        null("rank 5 equal models of 3 units, 10 % of drift in a run", drifting, each(3)),
        null("rank 2 equal models of 3 units on 3 days", equal(2, Units::Normal(0.1), 0.03), |_| {
            Design::units(&[3, 3]).on_days(3)
        }),
    ]
}

/// Models whose units vary differently, of different numbers.
fn unequal() -> Vec<CalibrationRow> {
    let erratic = |of_each: &'static [usize], usual: f64, last: f64| {
        let models = of_each.len();
        let truth = equal(models, Units::Normal(usual), 0.01).with_units(models - 1, Units::Normal(last));
        (truth, move |_| Design::units(of_each))
    };
    let row = |name: &str, of_each: &'static [usize], usual: f64, last: f64| {
        let (truth, design) = erratic(of_each, usual, last);
        null(name, truth, design)
    };
    let (truth, design) = erratic(&[3, 3, 3, 1], 0.05, 0.2);
    vec![
        row("rank 5 equal models of 3 units, one with 4 times the sd", &[3; 5], 0.05, 0.2),
        row("rank 5 equal models of 6 units, one with 4 times the sd", &[6; 5], 0.05, 0.2),
        row("rank 3 equal models of 2 units, one with 4 times the sd", &[2; 3], 0.03, 0.12),
        row("rank 3 equal models of 2 units, one with 8 times the sd", &[2; 3], 0.03, 0.24),
        row("rank 5 equal models of 2 units, one with 8 times the sd", &[2; 5], 0.03, 0.24),
        row("rank 8 equal models of 2 units, one with 8 times the sd", &[2; 8], 0.03, 0.24),
        row("rank 3 equal models of 3 units, one with 8 times the sd", &[3; 3], 0.03, 0.24),
        row("rank 2 equal models of 5 and 2 units, sd 3 % and 10 %", &[5, 2], 0.03, 0.1).short(),
        row("rank 5 equal models of 6, 6, 6, 6 and 2 units, the last with 4 times the sd", &[6, 6, 6, 6, 2], 0.05, 0.2),
        row("rank 2 equal models of 2 and 6 units, sd 3 % and 10 %", &[2, 6], 0.03, 0.1),
        asked(
            "rank --borrow 4 equal models of 3, 3, 3 and 1 units, the last with 4 times the sd",
            truth,
            design,
            RankOptions { borrow: true, ..RankOptions::default() },
        ),
    ]
}

/// Real differences are found about as often as the exact test finds them.
fn power() -> Vec<CalibrationRow> {
    let row = |models: usize, units: usize, ratio: f64, deviation: f64| {
        let sd = percent(deviation);
        let name = format!("rank power, one of {models} models ×{ratio}, {units} units each, unit sd {sd}");
        let truth = equal(models, Units::Normal(deviation), 0.01).with_ratio(0, ratio);
        CalibrationRow::new(name, Bound::Power(0.9), move |seed| {
            let design = Design::units(&vec![units; models]);
            let fleet = Fleet { truth: truth.clone(), design, seed };
            let records = stored(&fleet)?;
            let said = orders(&rank(&records, &RankOptions::default())?);
            let best = &truth.models[0].name;
            let of_each: Vec<Vec<f64>> = truth.models.iter().map(|m| unit_means(&records, &m.name)).collect();
            let exact = if models == 2 {
                above(&of_each[0], &of_each[1])?
            } else {
                furthest_above(&of_each[0], &of_each[1..])?
            };
            Ok(RowResult::Power { found: said.iter().any(|(better, _)| better == best), exact })
        })
    };
    vec![row(2, 3, 1.35, 0.1), row(2, 6, 1.2, 0.1), row(3, 3, 1.1, 0.03), row(3, 6, 1.1, 0.05)]
}

/// The interval of a model's figure holds the median of its units.
fn coverage() -> Vec<CalibrationRow> {
    let row = |models: usize, units: usize| {
        let name = format!("rank covers the figure of a model, {models} models of {units} units");
        let truth = equal(models, Units::Normal(0.1), 0.02);
        CalibrationRow::new(name, COVERAGE, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: Design::units(&vec![units; models]), seed };
            let report = rank(&stored(&fleet)?, &RankOptions::default())?;
            let first = report.primary.models.iter().find(|m| m.model == truth.models[0].name);
            let interval = first.and_then(|m| m.estimate.as_ref()).and_then(|e| e.low.zip(e.high));
            let level = fleet.model(0, 0);
            Ok(interval
                .map_or(RowResult::Undecided, |(low, high)| RowResult::from_right(low <= level && level <= high)))
        })
    };
    let erratic = |models: usize, units: usize| {
        let name = format!("rank covers the figure of an erratic model, {models} models of {units} units");
        let truth = equal(models, Units::Normal(0.03), 0.01).with_units(0, Units::Normal(0.25));
        CalibrationRow::new(name, COVERAGE, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: Design::units(&vec![units; models]), seed };
            let report = rank(&stored(&fleet)?, &RankOptions::default())?;
            let first = report.primary.models.iter().find(|m| m.model == truth.models[0].name);
            let interval = first.and_then(|m| m.estimate.as_ref()).and_then(|e| e.low.zip(e.high));
            let level = fleet.model(0, 0);
            Ok(interval
                .map_or(RowResult::Undecided, |(low, high)| RowResult::from_right(low <= level && level <= high)))
        })
    };
    vec![row(3, 3), row(3, 6), erratic(3, 2), erratic(3, 3), erratic(5, 3), erratic(3, 6)]
}

// `assay rank`: figures that say less than they seem to, at the ceiling of a bus and of fakes.

pub(super) fn ceiling_rows() -> Vec<CalibrationRow> {
    [ceilings(), fakes()].into_iter().flatten().collect()
}

/// Rates that the bus ends. The ceiling is the rate of the load.
fn ceilings() -> Vec<CalibrationRow> {
    let load = Load::sequential_read();
    let ceiling = load.iops * load.workload.block_bytes as f64;
    let truth = |over: f64, known: bool| {
        let mut truth = Truth::equal(load.clone(), 3, Units::Normal(0.1), spread(0.02));
        truth.models.iter_mut().for_each(|m| m.ratio = over);
        truth.with_ceiling(Ceiling { bytes_per_second: ceiling, known })
    };
    let each = |units: usize| move |_| Design::units(&[units; 3]);
    let asked_for = || RankOptions { ceiling: Some(ceiling), ..RankOptions::default() };
    let one = truth(0.95, true).with_ratio(0, 2.0);
    vec![
        asked("rank 3 equal models of 3 units at the ceiling, --ceiling", truth(1.0, false), each(3), asked_for()),
        asked(
            "rank 3 equal models of 3 units at 0.95 of the ceiling, --ceiling",
            truth(0.95, false),
            each(3),
            asked_for(),
        ),
        null("rank 3 equal models of 3 units at the ceiling, in the records", truth(1.0, true), each(3)),
        null("rank 3 equal models of 6 units at 0.95 of the ceiling, in the records", truth(0.95, true), each(6)),
        null("rank 3 equal models of 3 units at the ceiling, not told", truth(1.0, false), each(3)),
        null("rank 3 equal models of 6 units at the ceiling, not told", truth(1.0, false), each(6)),
        CalibrationRow::new("rank a model at twice the ceiling is never worse, 6 units", ERROR, move |seed| {
            let best = &one.models[0].name;
            let said = ranked(&one, Design::units(&[6; 3]), &RankOptions::default(), seed)?;
            Ok(match said.iter().find(|(_, worse)| worse == best) {
                Some(_) => RowResult::Wrong,
                None if said.iter().any(|(better, _)| better == best) => RowResult::Right,
                None => RowResult::Undecided,
            })
        }),
    ]
}

/// One unit of the better model is a fake: that does not make the other model better.
fn fakes() -> Vec<CalibrationRow> {
    let truth = equal(2, Units::Normal(0.1), 0.02).with_ratio(0, 2.0).with_fake(0, 5);
    vec![CalibrationRow::new("rank a model at twice the speed, one of its 6 units is a fake", ERROR, move |seed| {
        let said = ranked(&truth, Design::units(&[6, 6]), &RankOptions::default(), seed)?;
        let slower = &truth.models[1].name;
        Ok(if said.iter().any(|(better, _)| better == slower) { RowResult::Wrong } else { RowResult::Undecided })
    })]
}

// `assay rank`: equal models, each in a slot, on a day or at a host of its own.

/// Each model was measured with a computer of its own, and one computer is 20 % slower: there is no answer.
fn computers(units: usize) -> CalibrationRow {
    let name = format!("rank 2 equal models of {units} units, with computers of their own that are 20 % apart");
    let truth = equal(2, Units::Normal(0.03), 0.01).with_off(Part::Host(1), 0.8);
    let design = Design::units(&[units, units]).changed(|_, run| run.host = run.model);
    CalibrationRow::new(name, ERROR, move |seed| {
        let mut records = stored(&Fleet { truth: truth.clone(), design: design.clone(), seed })?;
        records.iter_mut().for_each(|record| record.host.cpu.clone_from(&record.host.hostname));
        let said = orders(&rank(&records, &RankOptions::default())?);
        Ok(if said.is_empty() { RowResult::Undecided } else { RowResult::Wrong })
    })
}

/// Equal models. The first was imported as the best of five runs that vary by 6 %.
fn flattered(units: usize) -> CalibrationRow {
    let name = format!("rank 2 equal models of {units} units, one as the best of 5 runs of sd 6 %");
    let mut truth = equal(2, Units::Normal(0.03), 0.02);
    truth.spread.repeat = 0.06;
    let design = Design::units(&[units, units]).with_repeats(Repeats::Fixed(5));
    CalibrationRow::new(name, ERROR, move |seed| {
        let mut records = stored(&Fleet { truth: truth.clone(), design: design.clone(), seed })?;
        for record in records.iter_mut().filter(|record| record.labels.get("model") == Some(&truth.models[0].name)) {
            for measurement in &mut record.measurements {
                measurement.repeats.sort_by(|a, b| b.iops.total_cmp(&a.iops));
                measurement.repeats.truncate(1);
                measurement.warnings.push(Finding::BestOf { runs: Some(5) }.into());
            }
        }
        let said = orders(&rank(&records, &RankOptions::default())?);
        Ok(if said.is_empty() { RowResult::Undecided } else { RowResult::Wrong })
    })
}

/// Prints the figures of all records in whole MB/s of about 23, a step of 4 %. Returns the factor that the figures were
/// multiplied by.
fn in_whole_megabytes(records: &mut [Observation], seed: u64) -> f64 {
    let about = (22.0 + (seed % 100) as f64 / 50.0) * 1e6;
    let factor = about / records[0].measurements[0].repeats[0].bytes_per_second;
    for record in records {
        record.origin =
            assay_core::observation::ObservedOrigin::Imported(Source { format: "dd".to_owned(), ..Source::default() });
        for measurement in &mut record.measurements {
            let repeats = std::mem::take(&mut measurement.repeats);
            let mean = repeats.iter().map(|repeat| repeat.bytes_per_second).sum::<f64>() / repeats.len() as f64;
            let rate = (mean * factor / 1e6).round() * 1e6;
            measurement.bytes_per_second = Some(Estimate::bare(rate, 1, "printed"));
            let iops = rate / measurement.workload.block_bytes as f64;
            measurement.iops = Some(Estimate::bare(iops, 1, "printed"));
        }
    }
    factor
}

/// Models that differ by less than the margin. No difference beyond it may be reported.
fn printed(units: usize, apart: f64) -> CalibrationRow {
    let name = format!(
        "rank 2 models {} apart of {units} units in whole MB/s of about 23, none is beyond 3 %",
        percent(apart)
    );
    let truth = equal(2, Units::Normal(0.01), 0.005).with_ratio(1, 1.0 + apart);
    let design = Design::units(&[units, units]);
    CalibrationRow::new(name, ERROR, move |seed| {
        let mut records = stored(&Fleet { truth: truth.clone(), design: design.clone(), seed })?;
        in_whole_megabytes(&mut records, seed);
        let report = rank(&records, &RankOptions::default())?;
        let beyond = report.primary.pairs.iter().any(|pair| pair.verdict == Better::First);
        Ok(if beyond { RowResult::Wrong } else { RowResult::Undecided })
    })
}

/// The interval of a single model covers its mean.
fn printed_figure(units: usize, deviation: f64) -> CalibrationRow {
    let name = format!(
        "rank covers the figure of a model in whole MB/s of about 23, {units} units, unit sd {}",
        percent(deviation)
    );
    let truth = equal(1, Units::Normal(deviation), 0.005);
    let design = Design::units(&[units]);
    CalibrationRow::new(name, COVERAGE_ASSUMED, move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: design.clone(), seed };
        let mut records = stored(&fleet)?;
        let level = fleet.model(0, 0) * in_whole_megabytes(&mut records, seed);
        let report = rank(&records, &RankOptions::default())?;
        let interval = report.primary.models.first().and_then(|m| m.estimate.as_ref()).and_then(|e| e.low.zip(e.high));
        Ok(interval.map_or(RowResult::Undecided, |(low, high)| RowResult::from_right(low <= level && level <= high)))
    })
}

/// Each model on a day of its own, and `bridges` units of the first also on the day of the second.
fn both_days(units: usize, bridges: usize) -> Design {
    let design = Design::units(&[units, units]).changed(|_, run| run.day = run.model as u32);
    design.and(Design::units(&[bridges]).changed(|_, run| run.day = 1))
}

/// Only the dates show that some units were measured on both days.
fn bridged(units: usize, bridges: usize, deviation: f64) -> CalibrationRow {
    let name = format!(
        "rank 2 equal models of {units} units, on days of their own of sd {}, {bridges} on both, no labels",
        percent(deviation)
    );
    let mut truth = equal(2, Units::Normal(0.01), 0.005);
    truth.spread.day = deviation;
    null(name, truth, move |_| both_days(units, bridges))
}

/// Models 12 % apart, on days of their own: what units on both days add.
fn told_by_bridges(units: usize, bridges: usize) -> CalibrationRow {
    let least = if bridges > 0 { 0.9 } else { 0.0 };
    let name = format!(
        "rank finds ×1.12 between 2 models of {units} units, on days of their own of sd 3 %, {bridges} on both"
    );
    let mut truth = equal(2, Units::Normal(0.01), 0.005).with_ratio(1, 1.12);
    truth.spread.day = 0.03;
    CalibrationRow::new(name, Bound::Right(least), move |seed| {
        let fleet = Fleet { truth: truth.clone(), design: both_days(units, bridges), seed };
        let said = orders(&rank(&stored(&fleet)?, &RankOptions::default())?);
        let pair = (truth.models[1].name.clone(), truth.models[0].name.clone());
        Ok(match said.as_slice() {
            [] => RowResult::Undecided,
            [one] if *one == pair => RowResult::Right,
            _ => RowResult::Wrong,
        })
    })
}

/// All of them.
pub(super) fn confounded_rows() -> Vec<CalibrationRow> {
    let by_dates = vec![
        bridged(3, 1, 0.05),
        bridged(3, 2, 0.1),
        bridged(6, 3, 0.1),
        bridged(6, 6, 0.1),
        told_by_bridges(6, 3),
        told_by_bridges(6, 0),
    ];
    by_dates.into_iter().chain(in_slots_days_and_hosts()).collect()
}

/// One card was in both, or none.
fn in_slots_days_and_hosts() -> Vec<CalibrationRow> {
    let slots = |units: usize| {
        let name = format!("rank 2 equal models of {units} units in different slots, one card bridges");
        let mut truth = equal(2, Units::Normal(0.03), 0.02);
        truth.spread.slot = 0.05;
        null(name, truth, move |_| {
            let design = Design::units(&[units, units]).changed(|_, run| run.slot = Some(run.model));
            let bridge = Design::units(&[1]).changed(|_, run| (run.slot, run.day) = (Some(1), 1));
            design.and(bridge)
        })
    };
    let rounds = |units: usize, bridge: bool| {
        let how = if bridge { "one card bridges" } else { "nothing bridges" };
        let name = format!("rank 2 equal models of {units} units on different days of sd 5 %, {how}");
        let mut truth = equal(2, Units::Normal(0.03), 0.01);
        truth.spread.day = 0.05;
        null(name, truth, move |_| {
            let on = |run: &mut TrueRun, day: u32| (run.day, run.round) = (day, Some(day));
            let design = Design::units(&[units, units]).changed(|_, run| on(run, u32::from(run.model == 1)));
            let again = Design::units(&[usize::from(bridge)]).changed(|_, run| on(run, 1));
            design.and(again)
        })
    };
    let hosts = |units: usize, bridge: bool| {
        let how = if bridge { "one card bridges" } else { "nothing bridges" };
        let name = format!("rank 2 equal models of {units} units at different hosts of sd 5 %, {how}");
        let mut truth = equal(2, Units::Normal(0.03), 0.01);
        truth.spread.host = 0.05;
        null(name, truth, move |_| {
            let at = |run: &mut TrueRun, host: usize| (run.host, run.slot) = (host, Some(0));
            let design = Design::units(&[units, units]).changed(|_, run| at(run, run.model));
            design.and(Design::units(&[usize::from(bridge)]).changed(|_, run| at(run, 1)))
        })
    };
    // No label tells it: Monday was the day of one model, Tuesday that of another.
    let days = |models: usize, units: usize, deviation: f64| {
        let name = format!(
            "rank {models} equal models of {units} units, on days of their own of sd 3 %, unit sd {}",
            percent(deviation)
        );
        let mut truth = equal(models, Units::Normal(deviation), 0.005);
        truth.spread.day = 0.03;
        null(name, truth, move |_| Design::units(&vec![units; models]).changed(|_, run| run.day = run.model as u32))
    };
    vec![
        days(2, 3, 0.01).short(),
        days(5, 3, 0.01),
        days(5, 6, 0.01),
        days(5, 3, 0.03),
        printed(3, 0.01),
        printed(3, 0.02),
        printed(6, 0.02),
        printed_figure(3, 0.005),
        printed_figure(6, 0.005),
        printed_figure(3, 0.05),
        flattered(4),
        flattered(6),
        computers(3),
        computers(6),
        slots(3).short(),
        slots(6),
        rounds(3, true),
        rounds(6, true),
        rounds(3, false),
        hosts(3, true),
        hosts(6, true),
        hosts(3, false),
    ]
}
