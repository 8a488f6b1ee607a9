//! Both instruments in turns, workload by workload, and how far they agree.

use std::ops::ControlFlow;

use assay_core::estimate::Estimate;
use assay_core::finding::Finding;
use assay_core::original::{Crosscheck, Original, Pair, Side};
use assay_core::record::Record;
use assay_engine::{RepeatReport, RepeatSpec, RepeatTrouble};
use assay_original::{ProgramReport, ToolSubject};
use assay_stats::geometric;

use crate::choose::Instrument;
use crate::session::Session;
use crate::summary::replace_findings;

/// Instruments that differ by less agree for every purpose there is.
const AGREEMENT: f64 = 0.05;

/// Which goes first alternates, so that a trend of the medium does not favour one of them.
pub(crate) fn peer_first(round: u32) -> bool {
    round % 2 == 1
}

/// Which of the two ran first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    PeerFirst,
    PeerLast,
}

/// Runs the repeat of `spec` by `peer`. Its bytes count for the budget, not for the measurement. `None` where the
/// process was stopped meanwhile.
pub(crate) fn run_peer(
    session: &mut Session<'_>,
    peer: Instrument,
    spec: &RepeatSpec,
    subject: &ToolSubject,
) -> Option<RepeatReport> {
    let Session { engines, control, watch, draft, budget, emitter, area, .. } = session;
    let suspended = control.suspended();
    let forget = || {
        if let (Some(target), false) = (&spec.target, spec.workload.direct) {
            let _ = target.sync();
            let _ = target.drop_cache();
        }
    };
    forget();
    let record = draft.fill();
    let report = match area.prepare_for(peer) {
        Some(trouble) => RepeatReport { trouble: Some(trouble), ..RepeatReport::default() },
        None => engines.run_one(peer, spec, subject, control, &mut |sample| {
            watch.sample(sample, &spec.workload.name, &mut record.sensors, budget, emitter);
            ControlFlow::Continue(())
        }),
    };
    area.remove_original();
    forget();
    budget.wrote(report.written_bytes);
    record.change_settings(|settings| settings.written_bytes += report.written_bytes);
    record.change_settings(|settings| settings.read_bytes += report.read_bytes);
    (control.suspended() == suspended).then_some(report)
}

/// Adds a pair of repeats of a measurement, and judges anew.
pub(crate) fn add(
    record: &mut Record,
    index: usize,
    peer: (Instrument, &str),
    order: Order,
    ours: &RepeatReport,
    theirs: &RepeatReport,
) {
    let Some(measurement) = record.measurements.get_mut(index) else { return };
    let block = measurement.workload.block_bytes.max(1) as f64;
    // Tools with the final sync in their clock print no other rate.
    let durable = peer.0 != Instrument::Tool(Original::Fio) && theirs.durable_bytes_per_second.is_some();
    let side = |report: &RepeatReport| side(report, durable.then_some(block));
    let original = theirs.original.clone().map(Box::new);
    let pair = side(ours).zip(side(theirs)).map(|(ours, theirs)| Pair {
        peer_first: order == Order::PeerFirst,
        ours,
        theirs,
        durable,
        original,
    });
    let (instrument, version) = peer;
    let entry = add_pair(
        &mut record.crosscheck,
        &measurement.workload.name,
        (instrument.name(), version),
        pair,
        theirs.trouble.as_ref().map(trouble_text),
    );
    let differs = entry.ratio.as_ref().and_then(|r| differs(&entry.peer, r));
    replace_findings(measurement, |f| matches!(f, Finding::CrosscheckDiffers { .. }), differs);
}

/// Adds a pair of repeats of a program. Its figures become operations per second by `operations` of each unit of them.
pub(crate) fn add_program(
    record: &mut Record,
    name: &str,
    peer: (&str, &str),
    order: Order,
    operations: f64,
    (ours, theirs): (f64, Result<ProgramReport, RepeatTrouble>),
) {
    let side = |value: f64| Side { iops: value * operations, p50_ns: None, p99_ns: None };
    let (pair, trouble) = match theirs {
        Ok(theirs) => {
            let pair = Pair {
                peer_first: order == Order::PeerFirst,
                ours: side(ours),
                theirs: side(theirs.value),
                durable: false,
                original: Some(Box::new(theirs.run)),
            };
            (Some(pair), None)
        }
        Err(trouble) => (None, Some(trouble_text(&trouble))),
    };
    add_pair(&mut record.crosscheck, name, peer, pair, trouble);
}

/// What one instrument measured, with the final sync in the clock where that is asked for with the size of a block;
/// `None` where it measured nothing.
fn side(report: &RepeatReport, durable_block: Option<f64>) -> Option<Side> {
    let iops = match durable_block {
        None => report.iops,
        Some(block) => report.durable_bytes_per_second? / block,
    };
    (report.trouble.is_none() && report.operations > 0 && iops > 0.0).then(|| Side {
        iops,
        p50_ns: report.histogram.quantile(0.5),
        p99_ns: report.histogram.quantile(0.99),
    })
}

/// What went wrong, in words.
pub(crate) fn trouble_text(trouble: &RepeatTrouble) -> String {
    match trouble {
        RepeatTrouble::Io { errno, offset, .. } => {
            format!("{} at offset {offset}", std::io::Error::from_raw_os_error(*errno))
        }
        RepeatTrouble::Hung { after } => format!("nothing completed for {}", assay_core::units::span(*after)),
        RepeatTrouble::Setup(words) | RepeatTrouble::Peer(words) => words.clone(),
        RepeatTrouble::Sync { errno } => format!("sync: {}", std::io::Error::from_raw_os_error(*errno)),
    }
}

/// Adds a pair, or what went wrong, to the entry of a workload or of a program, and takes the ratios anew.
fn add_pair<'a>(
    all: &'a mut Vec<Crosscheck>,
    name: &str,
    (peer, version): (&str, &str),
    pair: Option<Pair>,
    trouble: Option<String>,
) -> &'a Crosscheck {
    let at = all.iter().position(|c| c.workload == name).unwrap_or_else(|| {
        all.push(Crosscheck::new(name, peer, version));
        all.len() - 1
    });
    let entry = &mut all[at];
    entry.pairs.extend(pair);
    entry.trouble = entry.trouble.take().or(trouble);
    let over = |value: &dyn Fn(&Pair) -> Option<f64>| -> Option<Estimate> {
        let values: Vec<f64> = entry.pairs.iter().filter_map(value).collect();
        (values.len() == entry.pairs.len()).then(|| geometric(&values)).flatten()
    };
    let ratio = |value: &dyn Fn(&Side) -> Option<f64>| -> Option<Estimate> {
        let mut estimate = over(&|p| Some(value(&p.ours)? / value(&p.theirs)?))?;
        estimate.method = "geometric mean of the ratios of pairs, t interval on logarithms".to_owned();
        Some(estimate)
    };
    let (ours, theirs) = (over(&|p| Some(p.ours.iops)), over(&|p| Some(p.theirs.iops)));
    let ratios = (ratio(&|s| Some(s.iops)), ratio(&|s| s.p50_ns), ratio(&|s| s.p99_ns));
    (entry.ours_iops, entry.theirs_iops) = (ours, theirs);
    (entry.ratio, entry.p50_ratio, entry.p99_ratio) = ratios;
    entry
}

/// A ratio that is surely not one, and far enough from it to matter.
fn differs(peer: &str, ratio: &Estimate) -> Option<Finding> {
    let (low, high) = (ratio.low?, ratio.high?);
    let surely = low > 1.0 || high < 1.0;
    (surely && (ratio.point - 1.0).abs() > AGREEMENT).then(|| Finding::CrosscheckDiffers {
        peer: peer.to_owned(),
        ratio: ratio.point,
        low,
        high,
    })
}

#[cfg(test)]
mod tests {
    use assay_core::original::Original;
    use assay_core::record::Measurement;
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;

    fn measurement() -> Measurement {
        Measurement::empty(Workload::new("w", Op::Read, Pattern::Random, 4096), "sync")
    }

    fn check(pairs: &[(f64, f64)]) -> (Vec<Crosscheck>, Measurement) {
        let mut record = crate::samples::record(vec![measurement()]);
        for (i, (ours, theirs)) in pairs.iter().enumerate() {
            let report = |iops: f64| {
                let mut report = RepeatReport { operations: 100, iops, ..RepeatReport::default() };
                report.histogram.add((1e9 / iops) as u64);
                report
            };
            let order = if peer_first(i as u32) { Order::PeerFirst } else { Order::PeerLast };
            add(&mut record, 0, (Instrument::Tool(Original::Fio), "fio-3.33"), order, &report(*ours), &report(*theirs));
        }
        (record.crosscheck, record.measurements.remove(0))
    }

    #[test]
    fn a_clear_and_large_difference_makes_the_number_suspect() {
        let (all, measurement) = check(&[(110.0, 100.0), (112.0, 100.0), (109.0, 100.0)]);
        let ratio = all[0].ratio.as_ref().unwrap();
        assert!((ratio.point - 1.1033).abs() < 1e-3 && ratio.n == 3, "{ratio:?}");
        assert!((all[0].p50_ratio.as_ref().unwrap().point * ratio.point - 1.0).abs() < 1e-2);
        assert_eq!(all[0].pairs.iter().map(|p| p.peer_first).collect::<Vec<_>>(), [false, true, false]);
        assert!(matches!(measurement.warnings[0].finding, Finding::CrosscheckDiffers { .. }));
    }

    #[test]
    fn small_or_uncertain_differences_are_none() {
        for pairs in [
            &[(103.0, 100.0), (103.1, 100.0), (102.9, 100.0)][..],
            &[(150.0, 100.0), (80.0, 100.0), (120.0, 100.0)],
            &[(200.0, 100.0)],
        ] {
            assert!(check(pairs).1.warnings.is_empty(), "{pairs:?}");
        }
    }

    #[test]
    fn trouble_of_the_other_is_kept_and_gives_no_ratio() {
        let mut record = crate::samples::record(vec![measurement()]);
        let failed =
            RepeatReport { trouble: Some(RepeatTrouble::Peer("fio-3.33: no".to_owned())), ..RepeatReport::default() };
        let peer = (Instrument::Tool(Original::Fio), "fio-3.33");
        add(&mut record, 0, peer, Order::PeerLast, &RepeatReport::default(), &failed);
        let check = &record.crosscheck[0];
        assert_eq!((check.trouble.as_deref(), check.ratio.as_ref()), (Some("fio-3.33: no"), None));
    }

    #[test]
    fn a_program_is_compared_in_operations_per_second() {
        let mut record = crate::samples::record(Vec::new());
        let mut add = |ours, theirs: Result<f64, RepeatTrouble>| {
            let theirs = theirs.map(|value| ProgramReport {
                value,
                elapsed: std::time::Duration::from_secs(1),
                written_bytes: 0,
                run: crate::samples::original("sysbench"),
            });
            add_program(&mut record, "memory", ("sysbench", "1.0.20"), Order::PeerLast, 4.0, (ours, theirs));
        };
        add(100.0, Ok(50.0));
        add(220.0, Ok(110.0));
        add(1.0, Err(RepeatTrouble::Setup("sysbench: no".to_owned())));
        let check = &record.crosscheck[0];
        assert_eq!((check.workload.as_str(), check.pairs.len()), ("memory", 2));
        assert_eq!((check.pairs[0].ours.iops, check.pairs[0].theirs.iops), (400.0, 200.0));
        let ratio = check.ratio.as_ref().unwrap();
        assert!((ratio.point - 2.0).abs() < 1e-9 && ratio.low.is_some() && ratio.n == 2, "{ratio:?}");
        assert_eq!(check.trouble.as_deref(), Some("sysbench: no"));
        assert!(check.pairs.iter().all(|pair| pair.original.as_ref().is_some_and(|run| run.tool == "sysbench")));
    }

    #[test]
    fn a_tool_with_the_sync_in_its_clock_is_compared_with_that() {
        let report = |rate: f64, durable: f64| RepeatReport {
            operations: 100,
            iops: rate / 4096.0,
            bytes_per_second: rate,
            durable_bytes_per_second: Some(durable),
            ..RepeatReport::default()
        };
        let (ours, theirs) = (report(9e9, 2e7), report(2e7, 2e7));
        let ratio = |peer| {
            let mut record = crate::samples::record(vec![measurement()]);
            add(&mut record, 0, (peer, "1"), Order::PeerLast, &ours, &theirs);
            let check = record.crosscheck.remove(0);
            (check.ratio.unwrap().point, check.pairs[0].durable)
        };
        assert_eq!(ratio(Instrument::Tool(Original::Dd)), (1.0, true));
        assert_eq!(
            ratio(Instrument::Tool(Original::Fio)),
            (450.0, false),
            "fio's rate is that before the sync, as ours is"
        );
    }
}
