//! What durable figures rest on: syncs that really happen, when they were asked for, and their time.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::blocks::Blocks;
use assay_core::workload::{Op, Pattern, Stop, Sync, Think, Workload};

use super::threads::{RepeatSpec, RepeatTrouble};
use crate::clock::Control;
use crate::contract::EngineKind;
use crate::repeat::{RepeatReport, WindowRate, run_repeat, run_together};
use crate::sys::FileExt;
use crate::target::Target;

const BLOCK: u64 = 4096;

/// Counts the syncs of a target; one of the data takes so much longer.
#[derive(Debug, Default)]
pub(crate) struct Syncs {
    data: AtomicU64,
    whole: AtomicU64,
    delay: Duration,
    /// Ended when one of the data begins.
    ended: Option<Control>,
}

impl Syncs {
    pub(crate) fn count(&self, how: Sync) {
        match how {
            Sync::End => {}
            Sync::Fdatasync => {
                self.ended.iter().for_each(Control::stop);
                std::thread::sleep(self.delay);
                self.data.fetch_add(1, Ordering::Relaxed);
            }
            Sync::Fsync => {
                self.whole.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Writes `writes` blocks, one after the other.
pub(crate) fn write(target: &Arc<Target>, writes: u64, sync: Sync) -> RepeatReport {
    write_under(&Control::default(), target, writes, sync)
}

fn write_under(control: &Control, target: &Arc<Target>, writes: u64, sync: Sync) -> RepeatReport {
    let workload = Workload {
        span_bytes: 1 << 20,
        direct: false,
        sync,
        stop: Stop { ramp_ns: 0, duration_ns: 60_000_000_000, max_bytes: Some(writes * BLOCK) },
        ..Workload::new("w", Op::Write, Pattern::Sequential, BLOCK)
    };
    let spec = RepeatSpec {
        workload,
        target: Some(Arc::clone(target)),
        seed: 1,
        repeat: 0,
        repeats: 1,
        hang_after: Duration::from_secs(10),
        sample_every: Duration::from_secs(1),
        wait_for: None,
        begin_at_ns: None,
    };
    run_repeat(EngineKind::Sync, &spec, control, &mut |_| ControlFlow::Continue(()))
}

fn target(delay: Duration) -> (tempfile::TempDir, Arc<Target>) {
    let directory = tempfile::tempdir().unwrap();
    let mut target = Target::create(&directory.path().join("data"), false).unwrap();
    target.syncs.delay = delay;
    (directory, Arc::new(target))
}

/// A figure of synced writes is one of cached writes where the sync is left out.
#[test]
fn each_write_is_followed_by_the_sync_that_was_asked_for_and_the_repeat_by_one_more() {
    for (sync, data, whole) in [(Sync::End, 1, 0), (Sync::Fdatasync, 17, 0), (Sync::Fsync, 1, 16)] {
        let (_directory, target) = target(Duration::ZERO);
        let report = write(&target, 16, sync);
        assert_eq!((report.trouble, report.written_bytes), (None, 16 * BLOCK), "{sync:?}");
        let seen = (target.syncs.data.load(Ordering::Relaxed), target.syncs.whole.load(Ordering::Relaxed));
        assert_eq!(seen, (data, whole), "{sync:?}");
    }
}

/// Bytes are durable when the sync has returned, not when the last write has.
#[test]
fn the_durable_rate_holds_the_time_of_the_last_sync() {
    let delay = Duration::from_millis(400);
    let (_directory, target) = target(delay);
    let report = write(&target, 64, Sync::End);
    let part = report.bytes as f64 / report.written_bytes as f64;
    let most = report.bytes as f64 / (report.window_ns as f64 / 1e9 + delay.as_secs_f64() * part);
    let durable = report.durable_bytes_per_second.unwrap();
    assert!(durable <= most && durable > 0.0, "{durable} of at most {most}");
}

/// The thread of the sync is left behind; it would return in an hour. Nothing is known to be durable.
#[test]
fn an_end_that_is_asked_for_during_the_last_sync_leaves_no_durable_rate() {
    let directory = tempfile::tempdir().unwrap();
    let (mut target, control) = (Target::create(&directory.path().join("data"), false).unwrap(), Control::default());
    (target.syncs.delay, target.syncs.ended) = (Duration::from_secs(3600), Some(control.clone()));
    let report = write_under(&control, &Arc::new(target), 16, Sync::End);
    assert_eq!((report.trouble, report.written_bytes), (None, 16 * BLOCK));
    assert_eq!(report.durable_bytes_per_second, None);
}

/// A card that takes the first second fast and then slows down has a faster warm-up than window: the durable rate is
/// of the window all the same, and never above what was acknowledged in it.
#[test]
fn the_durable_rate_is_of_the_window_that_was_measured() {
    let window = WindowRate { bytes_per_second: 18e6, bytes: 54_000_000, window_ns: 3e9 };
    // 60 MB of warm-up, then 54 MB: of a sync of 1.14 s, 0.54 s are the window's.
    let durable = window.durable(114_000_000, 114_000_000, 1_140_000_000).unwrap();
    assert!((durable - 54e6 / 3.54).abs() < 1.0, "{durable}");
    assert!(window.durable(114_000_000, 114_000_000, 0).unwrap() <= 18e6);
    // Of mixed work only the writes.
    let writes = window.durable(38_000_000, 114_000_000, 0).unwrap();
    assert!((writes - 6e6).abs() < 1.0, "{writes}");
    assert_eq!(window.durable(0, 114_000_000, 0), None);
}

// Several workloads at once, several sizes, and pauses.

const PART: u64 = 1 << 20;

fn target_of_parts() -> (tempfile::TempDir, Arc<Target>) {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::create(&directory.path().join("data"), false).unwrap();
    target.file().set_len(2 * PART).unwrap();
    (directory, Arc::new(target))
}

fn spec(target: &Arc<Target>, workload: Workload) -> RepeatSpec {
    RepeatSpec {
        workload: Workload { span_bytes: PART, direct: false, ..workload },
        target: Some(Arc::clone(target)),
        seed: 1,
        repeat: 0,
        repeats: 1,
        hang_after: Duration::from_secs(10),
        sample_every: Duration::from_millis(100),
        wait_for: None,
        begin_at_ns: None,
    }
}

fn lasting(duration: Duration, max_bytes: Option<u64>) -> Stop {
    Stop { ramp_ns: 0, duration_ns: duration.as_nanos() as u64, max_bytes }
}

fn run(specs: &[&RepeatSpec]) -> Vec<RepeatReport> {
    let workloads: Vec<_> = specs.iter().map(|spec| (EngineKind::Sync, *spec)).collect();
    run_together(&workloads, &Control::default(), &mut |_, _| ControlFlow::Continue(()))
}

#[test]
fn a_reader_and_a_writer_run_at_once_each_in_its_part() {
    let (_directory, target) = target_of_parts();
    let stop = lasting(Duration::from_millis(300), None);
    let reader = spec(&target, Workload { stop, ..Workload::new("r", Op::Read, Pattern::Random, 4096) });
    let writes = Workload { stop, offset_bytes: PART, ..Workload::new("w", Op::Write, Pattern::Random, 4096) };
    let writer = spec(&target, writes);
    let begun = Instant::now();
    let reports = run(&[&reader, &writer]);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(reports.iter().all(|report| report.trouble.is_none() && report.operations > 0 && report.samples.len() > 1));
    assert_eq!((reports[0].written_bytes, reports[1].read_bytes), (0, 0));
    assert!(reports[0].durable_bytes_per_second.is_none() && reports[1].durable_bytes_per_second.is_some());
    let mut read = vec![0; PART as usize];
    target.file().read_exact_at(&mut read, 0).unwrap();
    assert!(read.iter().all(|byte| *byte == 0), "the reader's part was written");
    target.file().read_exact_at(&mut read, PART).unwrap();
    assert!(read.iter().any(|byte| *byte != 0));
}

#[test]
fn the_first_to_end_ends_all() {
    let (_directory, target) = target_of_parts();
    let endless = lasting(Duration::from_secs(60), None);
    let reader = spec(&target, Workload { stop: endless, ..Workload::new("r", Op::Read, Pattern::Random, 4096) });
    let stop = lasting(Duration::from_secs(60), Some(40 * 4096));
    let writer = spec(&target, Workload { stop, ..Workload::new("w", Op::Write, Pattern::Sequential, 4096) });
    let begun = Instant::now();
    let reports = run(&[&reader, &writer]);
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(reports[1].written_bytes, 40 * 4096);
    assert!(reports.iter().all(|report| report.trouble.is_none()));
}

#[test]
fn what_goes_wrong_with_one_is_reported_of_all() {
    let (_directory, target) = target_of_parts();
    let stop = lasting(Duration::from_secs(60), None);
    let reader = spec(&target, Workload { stop, ..Workload::new("r", Op::Read, Pattern::Random, 4096) });
    let beyond = Workload { stop, offset_bytes: 4 * PART, ..Workload::new("b", Op::Read, Pattern::Random, 4096) };
    let beyond = spec(&target, beyond);
    let reports = run(&[&reader, &beyond]);
    let failed =
        |report: &RepeatReport| matches!(report.trouble, Some(RepeatTrouble::Io { offset, .. }) if offset >= 4 * PART);
    assert!(reports.iter().all(failed), "{:?}", reports[0].trouble);
}

#[test]
fn bytes_of_several_sizes_are_counted_as_they_are() {
    let (_directory, target) = target_of_parts();
    let blocks = Blocks::parse("4KiB/50:64KiB/50").unwrap();
    let stop = lasting(Duration::from_secs(60), Some(1000 * 34_816));
    let mixed = Workload { stop, blocks, ..Workload::new("m", Op::Write, Pattern::Random, 34_816) };
    let report = run(&[&spec(&target, mixed)]).remove(0);
    assert!(report.trouble.is_none(), "{:?}", report.trouble);
    // Of about 1000 operations the standard deviation of the mean size is 971 B.
    let mean = report.bytes as f64 / report.operations as f64;
    assert!((mean - 34_816.0).abs() < 5.0 * 971.0, "{mean}");
    let by_rate = report.bytes_per_second / report.iops;
    assert!((by_rate - report.bytes as f64 / report.operations as f64).abs() < 1.0, "{by_rate}");
}

/// The edges of the window stand behind pauses: it holds whole bursts with the pause before each.
#[test]
fn bursts_are_counted_whole() {
    let (_directory, target) = target_of_parts();
    let think = Some(Think { pause_ns: 90_000_000, after_operations: 20 });
    let thinking = Workload {
        stop: lasting(Duration::from_millis(400), None),
        think,
        ..Workload::new("t", Op::Read, Pattern::Random, 4096)
    };
    let report = run(&[&spec(&target, thinking)]).remove(0);
    assert!(report.operations.is_multiple_of(20), "{}", report.operations);
    assert!(
        report.window_ns / (report.operations / 20) >= 90_000_000,
        "{} in {} ns",
        report.operations,
        report.window_ns
    );
}

#[test]
fn several_sizes_stay_below_the_bytes_that_may_be_written() {
    let (_directory, target) = target_of_parts();
    let blocks = Blocks::parse("4KiB/90:512KiB/10").unwrap();
    let limit = 20 << 20;
    for jobs in [1, 3] {
        let stop = lasting(Duration::from_secs(60), Some(limit));
        let mixed =
            Workload { stop, jobs, blocks: blocks.clone(), ..Workload::new("m", Op::Write, Pattern::Random, 56_115) };
        let report = run(&[&spec(&target, mixed)]).remove(0);
        assert!(report.written_bytes <= limit && report.written_bytes > limit / 2, "{}", report.written_bytes);
    }
}

#[test]
fn think_time_is_waited_for_and_is_no_latency() {
    let (_directory, target) = target_of_parts();
    let think = Some(Think { pause_ns: 20_000_000, after_operations: 5 });
    let stop = lasting(Duration::from_secs(60), Some(50 * 4096));
    let thinking = Workload { stop, think, ..Workload::new("t", Op::Read, Pattern::Random, 4096) };
    let begun = Instant::now();
    let report = run(&[&spec(&target, thinking)]).remove(0);
    assert!(begun.elapsed() >= Duration::from_millis(9 * 20), "{:?}", begun.elapsed());
    assert_eq!(report.read_bytes, 50 * 4096);
    let slowest = report.histogram.quantile(0.5).unwrap();
    assert!(slowest < 10e6, "a pause counts as latency: {slowest} ns");
}
