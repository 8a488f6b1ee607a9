use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_core::workload::{Op, Pattern, Stop, Workload};

use crate::batching::Votes;
use crate::clock::Clock;
use crate::contract::{Io, Submit};
use crate::counters::Live;
use crate::place::Place;

use super::*;

const MS: u64 = 1_000_000;
const BLOCK: u64 = 4096;
const RAMP: u64 = 40 * MS;
const DURATION: u64 = 600 * MS;
/// Longer than an edge of the window waits.
const STALL: Duration = Duration::from_millis(500);

/// A medium that serves the operation with number `stalls_at` in [`STALL`], and others in 5 ms; or, in `lumps`, the first in
/// 60 ms and others in 2 ms.
struct Stalling {
    waiting: Vec<u32>,
    served: u64,
    stalls_at: u64,
    lumps: bool,
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
        std::thread::sleep(match (self.served, self.lumps) {
            (at, _) if at == self.stalls_at => STALL,
            (0, true) => Duration::from_millis(60),
            (_, true) => Duration::from_millis(2),
            (_, false) => Duration::from_millis(5),
        });
        self.served += 1;
        done(Completion { slot: self.waiting.remove(0), result: BLOCK as i32 });
        Ok(())
    }

    fn reap_within(&mut self, _wait_ns: u64, done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        self.reap(1, done)
    }
}

fn run(common: bool, stalls_at: u64) -> JobReport {
    run_on(Stalling { waiting: Vec::new(), served: 0, stalls_at, lumps: false }, common, RAMP)
}

fn run_on(mut engine: Stalling, common: bool, ramp_ns: u64) -> JobReport {
    let workload = Workload {
        span_bytes: 1 << 30,
        stop: Stop { ramp_ns, duration_ns: DURATION, max_bytes: None },
        ..Workload::new("w", Op::Read, Pattern::Random, BLOCK)
    };
    let (live, stop) = (Live::new(), AtomicBool::new(false));
    let addresses = Places::new(&workload, Place { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 1 }, None);
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
        flow: None,
        common,
    };
    drive(&mut engine, addresses, &spec)
}

fn in_flight(report: &JobReport) -> f64 {
    report.in_flight_ns as f64 / report.window_ns as f64
}

/// Operations of the window, those of its histogram, and the mean number in flight agree; and the slowest was counted
/// where the stall was.
fn agrees(report: &JobReport, stalled: bool) {
    assert!(!report.whole && report.window_ns >= DURATION, "{report:?}");
    assert_eq!((report.histogram.total(), report.bytes), (report.operations, report.operations * BLOCK));
    // Where the stall were not counted this would be below one; on a busy machine operations come back late.
    assert!((in_flight(report) - 4.0).abs() < 1.0, "{}", in_flight(report));
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
        let stall = STALL.as_nanos() as u64;
        let most = (report.window_ns.max(stall) - stall) / (5 * MS) + 3;
        assert!(report.operations <= most && report.window_ns > stall, "{}", report.operations);
    }
}

/// The end of the warm-up waits for the end of a pause where pauses were seen: a stall meanwhile counts, too.
#[test]
fn a_stall_counts_where_the_window_waits_for_the_end_of_a_pause() {
    let engine = Stalling { waiting: Vec::new(), served: 0, stalls_at: 12, lumps: true };
    let report = run_on(engine, true, 70 * MS);
    agrees(&report, true);
    assert!(report.operations <= DURATION / (2 * MS), "{}", report.operations);
}

/// Alone, what a medium does before it is ready is not measured: waking up, for instance. Operations that waited for it
/// are, and the window is as long as asked for after it.
#[test]
fn alone_a_stall_before_the_window_is_the_mediums_start() {
    let begun = std::time::Instant::now();
    agrees(&run(false, 0), true);
    assert!(begun.elapsed() >= STALL + Duration::from_nanos(DURATION));
    agrees(&run(true, u64::MAX), false);
}
