//! What durable figures rest on: syncs that really happen, when they were asked for, and their time.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use assay_core::workload::{Op, Pattern, Stop, Sync, Workload};

use crate::contract::EngineKind;
use crate::control::Control;
use crate::repeat::{RepeatReport, Window, run_repeat};
use crate::spec::RepeatSpec;
use crate::target::Target;

const BLOCK: u64 = 4096;

/// Counts the syncs of a target; one of the data takes so much longer.
#[derive(Debug, Default)]
pub(crate) struct Syncs {
    data: AtomicU64,
    whole: AtomicU64,
    delay: Duration,
}

impl Syncs {
    pub(crate) fn count(&self, how: Sync) {
        match how {
            Sync::End => {}
            Sync::Fdatasync => {
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
    run_repeat(EngineKind::Sync, &spec, &Control::default(), &mut |_| ControlFlow::Continue(()))
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

/// A card that takes the first second fast and then slows down has a faster warm-up than window: the durable rate is
/// of the window all the same, and never above what was acknowledged in it.
#[test]
fn the_durable_rate_is_of_the_window_that_was_measured() {
    let window = Window { bytes_per_second: 18e6, bytes: 54_000_000, window_ns: 3e9 };
    // 60 MB of warm-up, then 54 MB: of a sync of 1.14 s, 0.54 s are the window's.
    let durable = window.durable(114_000_000, 114_000_000, 1_140_000_000).unwrap();
    assert!((durable - 54e6 / 3.54).abs() < 1.0, "{durable}");
    assert!(window.durable(114_000_000, 114_000_000, 0).unwrap() <= 18e6);
    // Of mixed work only the writes.
    let writes = window.durable(38_000_000, 114_000_000, 0).unwrap();
    assert!((writes - 6e6).abs() < 1.0, "{writes}");
    assert_eq!(window.durable(0, 114_000_000, 0), None);
}
