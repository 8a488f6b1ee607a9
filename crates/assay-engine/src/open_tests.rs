use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_core::arrivals::{Arrivals, Process};
use assay_core::workload::{Op, Pattern, Stop, Workload};

use crate::clock::Clock;
use crate::contract::{Io, Submit};
use crate::counters::Live;
use crate::place::Place;

use super::*;

/// Time that passes only where something is done.
struct Model(Cell<u64>);

impl Time for Model {
    fn now(&self) -> u64 {
        self.0.get()
    }

    fn wait(&self, wait_ns: u64) {
        self.0.set(self.0.get() + asleep(wait_ns).max(wait_ns.min(AWAKE_NS)));
    }
}

/// A medium that serves one operation after the other, each in the same time; the `error_at`-th fails.
struct Server<'t> {
    service_ns: u64,
    time: &'t Model,
    served: u64,
    error_at: u64,
}

impl Engine for Server<'_> {
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    fn submit(&mut self, _io: Io) -> Submit {
        self.time.0.set(self.time.now() + self.service_ns);
        self.served += 1;
        Submit::Done(if self.served == self.error_at { -5 } else { 4096 })
    }

    fn reap_within(&mut self, _wait_ns: u64, _done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, _min: usize, _done: &mut impl FnMut(Completion)) -> std::io::Result<()> {
        Ok(())
    }
}

const MS: u64 = 1_000_000;
const RAMP: u64 = 50 * MS;
const LENGTH: u64 = 800 * MS;

fn offered(iops: f64) -> Arrivals {
    Arrivals { iops, process: Process::Poisson }
}

fn schedule(iops: f64) -> Schedule {
    Schedule::new(offered(iops), 1, 3, Arc::default())
}

fn run(service_ns: u64, iops: f64, error_at: u64) -> JobReport {
    run_for(LENGTH, service_ns, iops, error_at)
}

fn run_for(duration_ns: u64, service_ns: u64, iops: f64, error_at: u64) -> JobReport {
    let workload = Workload {
        span_bytes: 1 << 30,
        arrivals: Some(offered(iops)),
        stop: Stop { ramp_ns: RAMP, duration_ns, max_bytes: None },
        ..Workload::new("w", Op::Read, Pattern::Random, 4096)
    };
    let place = Place { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 1 };
    let (live, stop, time) = (Live::new(), AtomicBool::new(false), Model(Cell::new(0)));
    let addresses = Places::new(&workload, place, None);
    let clock = Clock::start();
    let spec = JobSpec {
        wait_for: None,
        votes: crate::batching::Votes::of(1),
        workload: &workload,
        depth: 1,
        quota: u64::MAX,
        byte_quota: u64::MAX,
        job: 0,
        seed: 1,
        clock,
        live: &live,
        stop: &stop,
        flow: None,
        common: false,
    };
    let mut server = Server { service_ns, time: &time, served: 0, error_at };
    drive(&mut server, &time, addresses, schedule(iops), &spec)
}

/// What one server makes of these arrivals (Lindley's recursion): the mean of the times from when an operation of the
/// measured part is due until it is done, and how many there are.
fn by_lindley(service_ns: f64, iops: f64) -> (f64, u64) {
    let (mut schedule, mut free_at, mut sum, mut count) = (schedule(iops), 0.0f64, 0.0, 0u64);
    loop {
        let due = schedule.next();
        if due >= RAMP + LENGTH {
            return (sum / count as f64, count);
        }
        free_at = free_at.max(due as f64) + service_ns;
        if due >= RAMP {
            sum += free_at - due as f64;
            count += 1;
        }
    }
}

/// Half, four fifths and nine tenths of what the server can do: what waits is charged to the medium, as a queue has it.
#[test]
fn latency_counts_from_when_an_operation_was_due() {
    for load in [0.5, 0.8, 0.9] {
        let service_ns = 400_000;
        let iops = load * 1e9 / service_ns as f64;
        let report = run(service_ns, iops, 0);
        let (expected, count) = by_lindley(service_ns as f64, iops);
        assert_eq!((report.operations, report.window_ns, report.unserved), (count, LENGTH, 0), "{load}");
        let mean = report.histogram.mean().unwrap_or(0.0);
        assert!((mean / expected - 1.0).abs() < 0.001, "{load}: {mean} instead of {expected}");
        let service = report.service.as_ref().and_then(Histogram::mean).unwrap_or(0.0);
        assert!((service / service_ns as f64 - 1.0).abs() < 0.001, "{load}: {service}");
        assert_eq!(report.late_ns, 0, "{load}");
    }
}

/// A long run agrees with a queue of Poisson arrivals and one server of constant time: in the mean (Pollaczek and
/// Khinchine), service × (1 + load / (2 × (1 - load))), and in the 99th percentile.
#[test]
fn a_long_run_agrees_with_the_formulas() {
    for (load, tolerance) in [(0.5, 0.02), (0.8, 0.03), (0.9, 0.05)] {
        let (service_ns, length) = (400_000, 600_000 * MS);
        let report = run_for(length, service_ns, load * 1e9 / service_ns as f64, 0);
        let expected = service_ns as f64 * (1.0 + load / (2.0 * (1.0 - load)));
        let mean = report.histogram.mean().unwrap_or(0.0);
        assert!((mean / expected - 1.0).abs() < tolerance, "{load}: {mean} instead of {expected}");
        let expected = service_ns as f64 * (1.0 + waited(load, 0.99));
        let p99 = report.histogram.quantile(0.99).unwrap_or(0.0);
        assert!((p99 / expected - 1.0).abs() < tolerance, "{load}: p99 {p99} instead of {expected}");
    }
}

/// A quantile of the time waited in such a queue, in service times (Erlang 1909): the probability to wait at most t is
/// (1 - load) × the sum over k from 0 to t of (load × (k - t))^k / k! × e^(load × (t - k)).
fn waited(load: f64, quantile: f64) -> f64 {
    let at_most = |t: f64| -> f64 {
        let term = |k: u32| {
            let x = load * (f64::from(k) - t);
            let power = (1..=k).fold(1.0, |product, i| product * x / f64::from(i));
            power * (-x).exp()
        };
        (1.0 - load) * (0..=t.floor() as u32).map(term).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if at_most(middle) < quantile { low = middle } else { high = middle }
    }
    high
}

/// 10,000 a second are offered to a server of 2,500: what it does is reported, and that the rest was never begun.
#[test]
fn a_server_that_is_too_slow_is_told() {
    let report = run(400_000, 10_000.0, 0);
    let iops = report.operations as f64 / (report.window_ns as f64 / 1e9);
    assert!(iops < 2600.0 && report.unserved > 0, "{iops}, {}", report.unserved);
    let all = by_lindley(1.0, 10_000.0).1;
    assert_eq!(report.operations + report.unserved, all, "each that was due is counted once");
}

#[test]
fn an_error_ends_it() {
    let report = run(100_000, 1000.0, 100);
    assert_eq!(report.failure.map(|f| (f.write, f.errno)), Some((false, 5)));
    assert!(report.operations < 100 && report.window_ns < LENGTH, "{report:?}");
}

#[test]
fn a_medium_that_is_behind_is_not_credited_with_the_rate_that_was_asked_for() {
    assert_eq!(window(100, 1100, 1100, 1120, 0), 1000, "the last operations of a rate that is held");
    assert_eq!(window(100, 1100, 1100, 1400, 0), 1300);
    assert_eq!(window(100, 1100, 1100, 1100, 5), 1000);
    assert_eq!(window(100, 1100, 600, 590, 0), 500, "it was stopped");
}
