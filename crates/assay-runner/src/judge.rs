//! What the figures of a workload say about themselves.

use assay_core::finding::Finding;
use assay_core::histogram::Histogram;
use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::workload::Op;
use assay_engine::NullCost;
use assay_stats::rank::SlotCeiling;

use crate::proof::{Proof, copies_on_write};
use crate::summary::replace_findings;

/// Within this factor of the null engine's rate a result is instrument-limited.
const INSTRUMENT_FACTOR: f64 = 3.0;
/// Latency times rate may differ from the mean number in flight by this share.
const LITTLE_TOLERANCE: f64 = 0.05;
/// Least share of the queue depth that must be in flight on average.
const DEPTH_SHARE: f64 = 0.9;
/// Operations per one in flight below which the edges of the window blur both laws.
pub(crate) const EDGE_OPERATIONS: u64 = 40;
/// Fewer operations than this make a coarse figure (Poisson error above 14 %).
const FEW_OPERATIONS: u64 = 50;

/// A read that takes less comes out of memory: an NVMe drive takes 50 µs or more, one of Optane 10 µs, and through the file
/// system below a loop device more.
const MEMORY_NS: f64 = 20_000.0;
/// The setting of a loop device that says whether it reads its file directly.
const LOOP_DIRECT_IO: &str = "loop_direct_io";

/// Judges a measurement on a medium from its estimates and repeats; replaces what was judged before.
pub(crate) fn judge(measurement: &mut Measurement, medium: &Medium, null: Option<NullCost>, proof: Proof) {
    let completed = || measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
    let (operations, latency_ns, window_ns) = completed().fold((0u64, 0u128, 0u128), |(o, l, w), r| {
        (o + r.operations, l + Histogram::from(&*r.histogram).sum_ns(), w + u128::from(r.elapsed_ns))
    });
    let slowest_ns: u128 = completed().map(|r| u128::from(r.histogram.max_ns)).sum();
    let depth = measurement.workload.depth();
    let steady = operations >= depth * EDGE_OPERATIONS;

    measurement.proof_ratio = proof.ratio();
    let workload = &measurement.workload;
    let proof_finding = proof.finding(workload.op, workload.sync.each() || copies_on_write(medium));
    replace_findings(
        measurement,
        |f| matches!(f, Finding::ServedFromCache { .. } | Finding::OthersUsedDevice { .. }),
        proof_finding,
    );

    let finding = loop_from_cache(measurement, medium);
    replace_findings(measurement, |f| matches!(f, Finding::LoopFromCache { .. }), finding);

    let ceiling = medium
        .bus
        .as_ref()
        .and_then(Bus::reachable)
        .and_then(SlotCeiling::new)
        .zip(measurement.bytes_per_second.as_ref());
    let held = ceiling.filter(|(ceiling, rate)| ceiling.holds(rate.point));
    measurement.bus_limited = held.is_some();
    let finding = held.map(|(ceiling, rate)| Finding::BusLimited { share: rate.point / ceiling.rate() });
    replace_findings(measurement, |f| matches!(f, Finding::BusLimited { .. }), finding);

    let ceiling = null.map(|n| 1e9 / n.ns_per_operation * f64::from(measurement.workload.jobs));
    measurement.instrument_limited = match (ceiling, &measurement.iops) {
        (Some(ceiling), Some(iops)) => iops.point * INSTRUMENT_FACTOR >= ceiling,
        _ => false,
    };
    let finding = measurement
        .instrument_limited
        .then(|| Finding::InstrumentLimited { null_operations_per_second: ceiling.unwrap_or(0.0) });
    replace_findings(measurement, |f| matches!(f, Finding::InstrumentLimited { .. }), finding);

    replace_findings(measurement, |f| matches!(f, Finding::RateNotReached { .. }), not_reached(measurement));
    if measurement.workload.arrivals.is_some() {
        // Neither does an open loop fill its queue, nor is its latency the time in flight.
        return few(measurement, operations);
    }

    // Little's law: the time that operations spent is the time for which they were in flight, over the same
    // windows. Those of several threads overlap; their mean times the mean in flight is the integral.
    let in_flight = measurement.in_flight.unwrap_or(0.0);
    let integral = window_ns as f64 * in_flight;
    // Tools that only print a rate tell no latency.
    let law = (integral > 0.0 && latency_ns > 0).then(|| latency_ns as f64 / integral);
    // An operation in flight at an edge of a window may have spent all of its time outside of it.
    let blur = if integral > 0.0 { slowest_ns as f64 * depth as f64 / integral } else { 0.0 };
    let finding = law
        .filter(|ratio| steady && (ratio - 1.0).abs() > LITTLE_TOLERANCE + blur)
        .map(|ratio| Finding::LittlesLaw { ratio });
    replace_findings(measurement, |f| matches!(f, Finding::LittlesLaw { .. }), finding);

    let asked = depth as f64;
    // Pauses between operations empty the queue.
    let full = measurement.workload.think.is_none();
    let finding =
        (steady && full && in_flight < asked * DEPTH_SHARE).then_some(Finding::ShallowQueue { in_flight, asked });
    replace_findings(measurement, |f| matches!(f, Finding::ShallowQueue { .. }), finding);

    few(measurement, operations);
}

/// Says where direct reads of a loop device took no longer than memory does, and the device reads its file through the page
/// cache (`/sys/block/loopN/loop/dio` is 0): what it counts then never reached the medium of the file.
fn loop_from_cache(measurement: &Measurement, medium: &Medium) -> Option<Finding> {
    let buffered = medium.kind == MediumKind::Loop && medium.queue.get(LOOP_DIRECT_IO).is_some_and(|on| on == "0");
    let workload = &measurement.workload;
    let median_ns = measurement.latency_ns.p50.as_ref()?.point;
    (buffered && workload.direct && workload.op == Op::Read && median_ns < MEMORY_NS)
        .then_some(Finding::LoopFromCache { median_ns })
}

/// Says where there are so few operations that the figure is coarse.
fn few(measurement: &mut Measurement, operations: u64) {
    let finding = (operations > 0 && operations < FEW_OPERATIONS).then_some(Finding::FewOperations { operations });
    replace_findings(measurement, |f| matches!(f, Finding::FewOperations { .. }), finding);
}

/// Says where the medium did not keep up with the rate of an open loop: where operations were never begun, or where
/// fewer were done than chance explains. The number of Poisson arrivals has the standard deviation of its root; five
/// of them, and a hundredth for the edges of the window, are allowed.
fn not_reached(measurement: &Measurement) -> Option<Finding> {
    let asked_iops = measurement.workload.arrivals?.iops;
    let completed = || measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
    let unserved = completed().filter_map(|r| r.unserved).sum::<u64>();
    let (seconds, done) = completed().fold((0.0, 0u64), |(s, n), r| (s + r.elapsed_ns as f64 / 1e9, n + r.operations));
    let expected = asked_iops * seconds;
    let missing = expected - done as f64;
    let chance = 5.0 * expected.sqrt() + 0.01 * expected;
    (unserved > 0 || missing > chance).then(|| Finding::RateNotReached {
        asked_iops,
        reached_iops: if seconds > 0.0 { done as f64 / seconds } else { 0.0 },
        unserved,
    })
}

#[cfg(test)]
mod tests {
    use assay_core::arrivals::{Arrivals, Process};
    use assay_core::estimate::Estimate;
    use assay_core::finding::Finding;
    use assay_core::histogram::{Histogram, StoredHistogram, bucket_of};
    use assay_core::medium::Bus;
    use assay_core::outcome::{Outcome, RunFailure};
    use assay_core::record::Measurement;
    use assay_core::workload::Workload;
    use assay_engine::NullCost;

    use super::*;
    use crate::evidence::measurement;
    use crate::proof::Proof;

    const SECOND: u64 = 1_000_000_000;

    /// A repeat of a second with `operations` operations, whose latencies add up to `latency_ns`, the longest `max_ns`.
    fn of(operations: u64, latency_ns: u64, max_ns: u64, in_flight: f64) -> Measurement {
        let mut m = measurement(&[&[operations as f64]]);
        let mut counts = vec![0; assay_core::histogram::BUCKETS];
        counts[bucket_of(latency_ns / operations.max(1))] = operations;
        let repeat = &mut m.repeats[0];
        repeat.histogram =
            StoredHistogram::from(&Histogram::from_parts(counts, u128::from(latency_ns), 1, max_ns)).into();
        (repeat.operations, repeat.elapsed_ns) = (operations, SECOND);
        m.in_flight = Some(in_flight);
        m
    }

    fn judged(mut m: Measurement, bus: Option<&Bus>, null: Option<NullCost>) -> Measurement {
        let medium = Medium { bus: bus.cloned(), ..Medium::default() };
        judge(&mut m, &medium, null, Proof::default());
        m
    }

    fn has(m: &Measurement, kind: fn(&Finding) -> bool) -> bool {
        m.warnings.iter().any(|w| kind(&w.finding))
    }

    #[test]
    fn direct_reads_at_the_speed_of_memory_are_suspect_where_a_loop_device_reads_through_the_cache() {
        let found = |kind, setting: &str, ns, op| {
            let mut m = of(1000, 1000 * ns, ns, 1.0);
            m.latency_ns.p50 = Some(Box::new(Estimate::bare(ns as f64, 1, "test")));
            m.workload = Workload { direct: true, op, ..(*m.workload).clone() }.into();
            let queue = [(LOOP_DIRECT_IO.to_owned(), setting.to_owned())].into();
            let medium = Medium { kind, queue, ..Medium::default() };
            judge(&mut m, &medium, None, Proof::default());
            has(&m, |f| matches!(f, Finding::LoopFromCache { .. }))
        };
        assert!(found(MediumKind::Loop, "0", 9_000, Op::Read));
        for (kind, setting, ns, op) in [
            (MediumKind::Loop, "1", 9_000, Op::Read),
            (MediumKind::Loop, "0", 30_000, Op::Read),
            (MediumKind::Loop, "0", 9_000, Op::Write),
            (MediumKind::Nvme, "0", 9_000, Op::Read),
        ] {
            assert!(!found(kind, setting, ns, op), "{kind:?} {setting} {ns} {op:?}");
        }
    }

    #[test]
    fn a_rate_within_5_percent_of_what_the_bus_reaches_is_limited_by_it() {
        let bus = Bus {
            kind: "sd".into(),
            mode: "SDR104".into(),
            ceiling_bytes_per_second: Some(104e6),
            reachable_bytes_per_second: Some(100e6),
            driver: None,
            source: "test".into(),
        };
        for (rate, limited) in [(94.9e6, false), (95.1e6, true), (130e6, true)] {
            let mut m = of(1000, SECOND, 1_000_000, 1.0);
            m.bytes_per_second = Some(Estimate::bare(rate, 1, "test"));
            let m = judged(m, Some(&bus), None);
            assert_eq!(
                (m.bus_limited, has(&m, |f| matches!(f, Finding::BusLimited { .. }))),
                (limited, limited),
                "{rate}"
            );
        }
        let mut m = of(1000, SECOND, 1_000_000, 1.0);
        m.bytes_per_second = Some(Estimate::bare(1e9, 1, "test"));
        assert!(!judged(m, None, None).bus_limited, "no bus is known");
    }

    #[test]
    fn a_third_of_what_the_null_engine_does_is_limited_by_the_instrument() {
        let null = NullCost { ns_per_operation: 100.0 };
        for (jobs, iops, limited) in [(1, 3.3e6, false), (1, 3.4e6, true), (2, 6.6e6, false), (2, 6.7e6, true)] {
            let mut m = of(1000, SECOND, 1_000_000, 1.0);
            m.workload.jobs = jobs;
            m.iops = Some(Estimate::bare(iops, 1, "test"));
            let m = judged(m, None, Some(null));
            let expected = has(&m, |f| matches!(f, Finding::InstrumentLimited { .. }));
            assert_eq!((m.instrument_limited, expected), (limited, limited), "{jobs} jobs, {iops}");
        }
    }

    #[test]
    fn latency_and_rate_contradict_each_other_beyond_5_percent_and_what_the_edges_blur() {
        let contradicts = |operations: u64, latency_ns: u64, max_ns: u64| {
            has(&judged(of(operations, latency_ns, max_ns, 1.0), None, None), |f| {
                matches!(f, Finding::LittlesLaw { .. })
            })
        };
        let per = |thousandths: u64| SECOND / 1000 * thousandths;
        for (latency, expected) in [(949, true), (951, false), (1000, false), (1049, false), (1052, true), (2000, true)]
        {
            assert_eq!(contradicts(1000, per(latency), 1000), expected, "{latency}");
        }
        // The slowest operation may have spent a tenth of the window outside of it.
        for (latency, expected) in [(851, false), (849, true), (1149, false), (1152, true)] {
            assert_eq!(contradicts(1000, per(latency), per(100)), expected, "{latency}");
        }
        assert!(!contradicts(39, per(2000), 1000), "too few operations to tell");
        assert!(contradicts(40, per(2000), 1000));
    }

    /// The slowest operation of a repeat that does not count blurs nothing.
    #[test]
    fn repeats_that_do_not_count_say_nothing() {
        let mut m = of(1000, SECOND / 2, 1000, 1.0);
        let mut cut = of(1000, SECOND, SECOND, 1.0).repeats.remove(0);
        cut.outcome = Outcome::Failed {
            failure: RunFailure::Suspended,
            detail: String::new(),
            workload: None,
            elapsed_ns: 0,
            written_bytes: 0,
        };
        m.repeats.push(cut);
        assert!(has(&judged(m, None, None), |f| matches!(f, Finding::LittlesLaw { .. })));
    }

    #[test]
    fn a_queue_that_is_less_than_nine_tenths_full_is_shallow() {
        for (in_flight, shallow) in [(3.59, true), (3.61, false), (4.0, false)] {
            let mut m = of(1000, (in_flight * SECOND as f64) as u64, 1000, in_flight);
            m.workload.queue_depth = 4;
            assert_eq!(
                has(&judged(m, None, None), |f| matches!(f, Finding::ShallowQueue { .. })),
                shallow,
                "{in_flight}"
            );
        }
    }

    #[test]
    fn fewer_than_50_operations_are_few() {
        for (operations, few) in [(0, false), (1, true), (49, true), (50, false)] {
            let m = judged(of(operations, SECOND, 1000, 1.0), None, None);
            assert_eq!(has(&m, |f| matches!(f, Finding::FewOperations { .. })), few, "{operations}");
        }
    }

    /// 1,000 operations a second were offered for some seconds. The standard deviation of their number is its root.
    #[test]
    fn a_rate_that_the_medium_does_not_hold_is_told_and_chance_is_not() {
        let offered = |operations: u64, unserved: u64| {
            let mut m = measurement(&[&[1000.0]]);
            m.workload.arrivals = Some(Arrivals { iops: 1000.0, process: Process::Poisson });
            m.in_flight = Some(0.1);
            let repeat = &mut m.repeats[0];
            (repeat.elapsed_ns, repeat.operations, repeat.unserved) = (4_000_000_000, operations, Some(unserved));
            let judged = judged(m, None, None);
            let shallow = has(&judged, |f| matches!(f, Finding::ShallowQueue { .. } | Finding::LittlesLaw { .. }));
            (has(&judged, |f| matches!(f, Finding::RateNotReached { .. })), shallow)
        };
        assert_eq!(offered(4000, 0), (false, false));
        assert_eq!(offered(4000 - 4 * 63, 0), (false, false), "four standard deviations");
        assert_eq!(offered(3600, 0), (true, false));
        assert_eq!(offered(4000, 1), (true, false));
    }
}
