use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_core::workload::{Op, Pattern, Stop, Workload};

use crate::place::Place;

use super::*;

const MS: u64 = 1_000_000;
const BLOCK: u64 = 4096;
const RAMP: u64 = 40 * MS;
const DURATION: u64 = 600 * MS;
/// Longer than an edge of the window waits.
const STALL: Duration = Duration::from_millis(500);

/// A medium that serves an operation in 5 ms, and the one with number `stalls_at` in [`STALL`].
struct Stalling {
    waiting: Vec<u32>,
    served: u64,
    stalls_at: u64,
}

impl Engine for Stalling {
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    fn submit(&mut self, io: Io) -> Submit {
        self.waiting.push(io.slot);
        Submit::Queued
    }

    fn reap(&mut self, _min: usize, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        let stalls = self.served == self.stalls_at;
        std::thread::sleep(if stalls { STALL } else { Duration::from_millis(5) });
        self.served += 1;
        done(Completion { slot: self.waiting.remove(0), result: BLOCK as i32 });
        Ok(())
    }

    fn reap_within(&mut self, _wait_ns: u64, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        self.reap(1, done)
    }
}

fn run(common: bool, stalls_at: u64) -> JobReport {
    let workload = Workload {
        span_bytes: 1 << 30,
        stop: Stop { ramp_ns: RAMP, duration_ns: DURATION, max_bytes: None },
        ..Workload::new("w", Op::Read, Pattern::Random, BLOCK)
    };
    let (live, stop) = (Live::new(), AtomicBool::new(false));
    let addresses = Addresses::new(&workload, Place { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 1 }, None);
    let spec = JobSpec {
        workload: &workload,
        depth: 4,
        quota: u64::MAX,
        byte_quota: u64::MAX,
        job: 0,
        seed: 1,
        clock: Clock::start(),
        live: &live,
        stop: &stop,
        wait_for: Some(1),
        votes: Votes::of(1),
        common,
    };
    drive(&mut Stalling { waiting: Vec::new(), served: 0, stalls_at }, addresses, &spec)
}

fn in_flight(report: &JobReport) -> f64 {
    report.in_flight_ns as f64 / report.window_ns as f64
}

/// Operations of the window, those of its histogram, and the mean number in flight agree; and the slowest was counted
/// where the stall was.
fn agrees(report: &JobReport, stalled: bool) {
    assert!(!report.whole && report.window_ns >= DURATION, "{report:?}");
    assert_eq!((report.histogram.total(), report.bytes), (report.operations, report.operations * BLOCK));
    assert!((in_flight(report) - 4.0).abs() < 0.01, "{}", in_flight(report));
    let slowest = report.histogram.max().unwrap_or(0);
    assert_eq!(slowest >= STALL.as_nanos() as u64, stalled, "{slowest}");
}

/// A stall as the warm-up ends counts where others are measured over the same time, from its begin, be it the very first
/// operation or a later one.
#[test]
fn a_stall_at_the_end_of_the_warm_up_counts_where_others_are_measured_at_once() {
    for stalls_at in [0, 3] {
        let report = run(true, stalls_at);
        agrees(&report, true);
        let (stall, most) = (STALL.as_nanos() as u64, (DURATION - STALL.as_nanos() as u64) / (5 * MS) + 3);
        assert!(report.operations <= most && report.window_ns > stall, "{}", report.operations);
    }
}

/// Alone, what a medium does before it is ready is not measured: waking up, for instance. Those that waited for it are.
#[test]
fn alone_a_stall_before_the_window_is_the_mediums_start() {
    let report = run(false, 0);
    agrees(&report, true);
    assert!(report.operations > (DURATION - STALL.as_nanos() as u64) / (5 * MS) + 10, "{}", report.operations);
    agrees(&run(true, u64::MAX), false);
}
