//! What the repeats of a workload come to: whether their bytes crossed the device, and what the figures say about themselves.
//! A receiver of records that does not trust their figures computes them anew here.

use assay_core::finding::Finding;
use assay_core::histogram::Histogram;
use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::workload::Op;
use assay_device::{Counters, ProofMeter, Sysroot, TargetInfo};
use assay_engine::{NullCost, RepeatReport};
use assay_stats::geometric_like;
use assay_stats::rank::SlotCeiling;

use crate::summary::{estimate, replace_findings};

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

/// The measurement as a run would close it with these repeats: estimates, proof, limits by the bus and the instrument, and
/// the findings that follow from them. Everything else stays, such as findings about the host. `null_ns` is what the null
/// engine took for an operation.
#[must_use]
pub fn recomputed(measurement: &Measurement, medium: &Medium, null_ns: Option<f64>) -> Measurement {
    let mut own = measurement.clone();
    let stored = measurement.iops.as_ref();
    estimate(&mut own, &|values: &[f64]| geometric_like(values, stored));
    let null = null_ns.filter(|ns| *ns > 0.0).map(|ns_per_operation| NullCost { ns_per_operation });
    let proof = Proof::from_measurement(measurement);
    judge(&mut own, medium, null, proof);
    own
}

/// Below this share of the bytes issued, they were served from a cache.
const LEAST: f64 = 0.9;
/// Above this, something else used the device.
const MOST: f64 = 1.1;
/// Less than this is the file system's own business (a journal commit, a directory entry).
const METADATA_BYTES: f64 = 1_048_576.0;

/// File systems that write a block to another place each time, and what leads to it: on btrfs random writes of
/// 4 KiB move 1.1 times the bytes issued and more.
const COPY_ON_WRITE: [&str; 5] = ["bcachefs", "btrfs", "f2fs", "nilfs2", "zfs"];

/// Whether a file system adds to each write by itself.
pub(crate) fn copies_on_write(medium: &Medium) -> bool {
    medium.filesystem.as_deref().is_some_and(|name| COPY_ON_WRITE.contains(&name))
}

/// What the device's own counters say of one repeat or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Proof {
    pub(crate) issued: u64,
    pub(crate) crossed: u64,
}

impl Proof {
    /// Bytes between two readings against those of all workloads that ran meanwhile, in the directions of one of them.
    pub(crate) fn between(before: &Counters, after: &Counters, reports: &[RepeatReport], of: &RepeatReport) -> Self {
        let read = after.read_bytes.saturating_sub(before.read_bytes);
        let written = after.written_bytes.saturating_sub(before.written_bytes);
        let issued = |bytes: fn(&RepeatReport) -> u64| match bytes(of) {
            0 => 0,
            _ => reports.iter().map(bytes).sum::<u64>(),
        };
        let (issued_reads, issued_writes) = (issued(|r| r.read_bytes), issued(|r| r.written_bytes));
        Self {
            issued: issued_reads + issued_writes,
            // Only directions that were issued count: a background write does not prove a read.
            crossed: if issued_reads > 0 { read } else { 0 } + if issued_writes > 0 { written } else { 0 },
        }
    }

    /// What the completed repeats of a run that goes on came to.
    pub(crate) fn from_measurement(measurement: &Measurement) -> Self {
        let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
        let mut sum = Self::default();
        for repeat in completed {
            if let Some(ratio) = repeat.proof_ratio {
                let crossed = (ratio * repeat.issued_bytes as f64).round() as u64;
                sum.add(Self { issued: repeat.issued_bytes, crossed });
            }
        }
        sum
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.issued += other.issued;
        self.crossed += other.crossed;
    }

    pub(crate) fn ratio(&self) -> Option<f64> {
        (self.issued > 0).then(|| self.crossed as f64 / self.issued as f64)
    }

    /// What the ratio means. Where the file system `adds` to each write, only too little is judged: with a sync after each
    /// one the journal writes too, and one that copies on write moves what leads to the block.
    pub(crate) fn finding(&self, op: Op, adds: bool) -> Option<Finding> {
        let proof_ratio = self.ratio()?;
        let excess = self.crossed as f64 - self.issued as f64;
        if proof_ratio < LEAST {
            Some(Finding::ServedFromCache { proof_ratio })
        } else if proof_ratio > MOST && excess > METADATA_BYTES && !(adds && op != Op::Read) {
            Some(Finding::OthersUsedDevice { proof_ratio })
        } else {
            None
        }
    }
}

/// What proves that bytes reach a medium, or the finding that nothing does: no device is known there, or its counters
/// cannot be read, as drivers of Windows may refuse it.
pub(crate) fn meter(sysroot: &Sysroot, seen: &TargetInfo) -> Result<ProofMeter, Finding> {
    let none = |reason| Finding::NoProof { medium: seen.medium.kind, reason };
    if seen.devices.is_empty() {
        return Err(none(None));
    }
    let opened = ProofMeter::open(sysroot, &seen.devices).and_then(|meter| meter.read().map(|_| meter));
    opened.map_err(|error| none(Some(error.what())))
}

/// Reads the counters, if there are any.
pub(crate) fn read(meter: Option<&ProofMeter>) -> Option<Counters> {
    meter.and_then(|meter| meter.read().ok())
}

#[cfg(test)]
mod tests {
    use super::{Proof, *};
    use crate::evidence::measurement;
    use assay_core::arrivals::{Arrivals, Process};
    use assay_core::estimate::Estimate;
    use assay_core::finding::Finding;
    use assay_core::histogram::{Histogram, StoredHistogram, bucket_of};
    use assay_core::medium::Bus;
    use assay_core::outcome::{Outcome, RunFailure};
    use assay_core::record::Measurement;
    use assay_core::workload::Workload;
    #[cfg(not(windows))]
    use assay_device::{Seen, What, look_by_dev};
    use assay_engine::{Control, EngineKind, NullCost, RepeatSpec, run_repeat};
    use std::ops::ControlFlow;
    #[cfg(not(windows))]
    use std::path::Path;

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

    #[test]
    fn figures_are_those_of_the_repeats_whatever_was_written_beside_them() {
        let mut closed = measurement(&[&[1000.0], &[1100.0], &[1050.0]]);
        estimate(&mut closed, &assay_stats::geometric);
        let proof = Proof::from_measurement(&closed);
        judge(&mut closed, &Medium::default(), None, proof);
        assert_eq!(recomputed(&closed, &Medium::default(), None), closed, "what a run closed is what it comes to");
        let mut forged = closed.clone();
        forged.iops.as_mut().unwrap().point *= 2.0;
        forged.warnings.clear();
        assert_eq!(recomputed(&forged, &Medium::default(), None).iops, closed.iops);
    }

    const MIB: u64 = 1 << 20;

    fn proof(issued: u64, crossed: u64) -> Proof {
        Proof { issued, crossed }
    }

    /// A tree of the kernel, which Windows has not, with one disk, whose counters are what `stat` says, if there are any.
    #[cfg(not(windows))]
    fn disk_with(stat: Option<&str>) -> (tempfile::TempDir, Result<ProofMeter, Finding>) {
        let tree = tempfile::tempdir().unwrap();
        let dir = tree.path().join("sys/class/block/sda");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("dev"), "8:0\n").unwrap();
        if let Some(stat) = stat {
            std::fs::write(dir.join("stat"), stat).unwrap();
        }
        let sysroot = Sysroot::at(tree.path());
        let seen = Seen { what: What::Directory, dev: (8, 0) };
        let target = look_by_dev(&sysroot, Path::new("/mnt/x"), seen);
        assert_eq!(target.devices, ["sda"]);
        let meter = meter(&sysroot, &target);
        (tree, meter)
    }

    #[cfg(not(windows))]
    #[test]
    fn that_counters_of_a_device_cannot_be_read_is_found_with_the_reason() {
        assert_eq!(disk_with(Some("1 0 8 1 2 0 16 3 0 4 5")).1.unwrap().read().unwrap().read_bytes, 8 * 512);
        for (stat, why) in [(None, "no such file"), (Some("all wrong"), "cannot be read")] {
            let finding = disk_with(stat).1.unwrap_err();
            let Finding::NoProof { reason: Some(reason), .. } = &finding else { panic!("{finding:?}") };
            assert!(reason.contains("sda/stat") && reason.contains(why) && !reason.contains(';'), "{reason}");
            assert!(finding.cause().contains(reason), "{}", finding.cause());
        }
        let empty = tempfile::tempdir().unwrap();
        let sysroot = Sysroot::at(empty.path());
        let target = look_by_dev(&sysroot, Path::new("/mnt/x"), Seen { what: What::Directory, dev: (8, 0) });
        assert!(matches!(meter(&sysroot, &target), Err(Finding::NoProof { reason: None, .. })));
        let known = crate::area::known_findings(&sysroot, &target);
        assert!(known.iter().any(|finding| matches!(finding, Finding::NoProof { .. })), "{known:?}");
    }

    #[test]
    fn less_than_nine_tenths_is_a_cache_and_more_than_eleven_another_user() {
        let of = |crossed| proof(1000 * MIB, crossed * MIB).finding(Op::Read, false);
        assert!(matches!(of(0), Some(Finding::ServedFromCache { proof_ratio: 0.0 })));
        assert!(matches!(of(899), Some(Finding::ServedFromCache { .. })));
        for crossed in [900, 1000, 1100] {
            assert_eq!(of(crossed), None, "{crossed}");
        }
        assert!(matches!(of(1101), Some(Finding::OthersUsedDevice { .. })));
        assert_eq!(proof(0, 0).finding(Op::Read, false), None);
    }

    #[test]
    fn a_journal_is_not_another_user() {
        assert_eq!(proof(MIB, 2 * MIB).finding(Op::Write, false), None, "a journal commit");
        assert!(matches!(proof(MIB, 2 * MIB + 1).finding(Op::Write, false), Some(Finding::OthersUsedDevice { .. })));
        // One for each write, where each is synced; a read has none, and too little stays too little.
        assert_eq!(proof(10 * MIB, 30 * MIB).finding(Op::Write, true), None);
        assert_eq!(proof(10 * MIB, 30 * MIB).finding(Op::Mixed, true), None);
        assert!(proof(10 * MIB, 30 * MIB).finding(Op::Read, true).is_some());
        assert!(matches!(proof(10 * MIB, 8 * MIB).finding(Op::Write, true), Some(Finding::ServedFromCache { .. })));
    }

    /// Otherwise its own traffic would count as traffic of other programs, on a slow card several times over.
    #[test]
    fn a_file_system_that_copies_on_write_is_not_another_user() {
        let on = |name: &str| copies_on_write(&Medium { filesystem: Some(name.to_owned()), ..Medium::default() });
        assert!(on("btrfs") && !on("ext4") && !copies_on_write(&Medium::default()));
    }

    /// What others write in the background does not prove that a read reached the medium, nor the other way.
    #[test]
    fn only_the_direction_that_was_issued_counts() {
        let mut report = nothing();
        let before = Counters { read_bytes: 7, written_bytes: 9, ..Counters::default() };
        let after = Counters { read_bytes: 7 + 10 * MIB, written_bytes: 9 + 50 * MIB, ..Counters::default() };
        for (read, written, crossed) in [(20, 0, 10), (0, 20, 50), (20, 20, 60)] {
            (report.read_bytes, report.written_bytes) = (read * MIB, written * MIB);
            let of = Proof::between(&before, &after, std::slice::from_ref(&report), &report);
            assert_eq!(of, proof((read + written) * MIB, crossed * MIB));
        }
    }

    /// The report of a repeat that could not be.
    fn nothing() -> RepeatReport {
        let workload = crate::evidence::measurement(&[]).workload;
        let spec = RepeatSpec {
            workload: (*workload).clone(),
            target: None,
            seed: 0,
            repeat: 0,
            repeats: 1,
            hang_after: std::time::Duration::from_secs(1),
            sample_every: std::time::Duration::from_secs(1),
            wait_for: None,
            begin_at_ns: None,
        };
        run_repeat(EngineKind::Sync, &spec, &Control::default(), &mut |_| ControlFlow::Continue(()))
    }
}
