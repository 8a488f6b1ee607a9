//! `assay rank`: equal models, each in a slot, on a day or at a host of its own.

use assay_analysis::rank::{Better, RankOptions};
use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::record::{Record, Source};
use assay_lab::fleet::{Design, Fleet, Part, Repeats, TrueRun, Units};

use super::rank::null;
use super::truths::{equal, percent};
use crate::decisions::{orders, rank, stored};
use crate::found::RowResult;
use crate::row::{Bound, COVERAGE_ASSUMED, CalibrationRow, ERROR};

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
                measurement.warn(Finding::BestOf { runs: Some(5) });
            }
        }
        let said = orders(&rank(&records, &RankOptions::default())?);
        Ok(if said.is_empty() { RowResult::Undecided } else { RowResult::Wrong })
    })
}

/// Prints the figures of all records in whole MB/s of about 23, a step of 4 %. Returns the factor that the figures were
/// multiplied by.
fn in_whole_megabytes(records: &mut [Record], seed: u64) -> f64 {
    let about = (22.0 + (seed % 100) as f64 / 50.0) * 1e6;
    let factor = about / records[0].measurements[0].repeats[0].bytes_per_second;
    for record in records {
        record.source = Some(Source { format: "dd".to_owned(), ..Source::default() });
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
pub(super) fn rows() -> Vec<CalibrationRow> {
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
