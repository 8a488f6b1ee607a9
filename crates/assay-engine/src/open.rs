//! The loop of a job whose operations are due at planned times, whether or not earlier ones are done.
//!
//! Latency counts from the planned time, so that a medium that stalls is charged with all that had to wait meanwhile;
//! a closed loop would have asked less of it ("coordinated omission"). The time from submission to completion is kept
//! beside it. An operation that is due when the queue is full waits for the first that completes.
//!
//! Counted are the operations that are due within the measured part. They are waited for after its end, up to
//! [`grace_ns`]; what is not begun by then is counted as unserved.

use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_core::arrivals::{Arrivals, Process};
use assay_core::histogram::Histogram;
use rand_core::SeedableRng;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::work::{IoFailure, JobReport, JobSpec};
use crate::address::Places;
use crate::buffer::mix;
use crate::clock::Clock;
use crate::contract::{Completion, Engine};
use crate::counters::{Snapshot, Turns};
use crate::work::{Begun, Flight, Work};

/// Sleeping threads wake up late by some tens of microseconds: the last part of a wait is spent awake.
const AWAKE_NS: u64 = 60_000;
/// No single sleep is longer, so that a stop is noticed.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

/// No more operations that were never begun are counted, so that counting them takes no time.
const MOST_UNSERVED: u64 = 1_000_000;

/// How long after the end of the measured part its operations are still begun.
fn grace_ns(duration_ns: u64) -> u64 {
    duration_ns / 4
}

/// When an operation was due, and when it was begun.
#[derive(Clone, Copy, Default)]
struct Times {
    planned_ns: u64,
    submitted_ns: u64,
}

/// Time as it passes, or as a test lets it pass.
pub(crate) trait Time {
    /// Nanoseconds since some moment.
    fn now(&self) -> u64;

    /// Waits so long, the last part of it awake; less where that is long.
    fn wait(&self, wait_ns: u64);
}

impl Time for Clock {
    fn now(&self) -> u64 {
        Clock::now(self)
    }

    fn wait(&self, wait_ns: u64) {
        match asleep(wait_ns) {
            0 => std::hint::spin_loop(),
            asleep => std::thread::sleep(Duration::from_nanos(asleep)),
        }
    }
}

/// What is counted of a job: operations that were due in the measured part.
struct Counted {
    opens: u64,
    closes: u64,
    operations: u64,
    bytes: u64,
    latencies: Snapshot,
    services: Snapshot,
    last_done: u64,
}

impl Counted {
    fn new(opens: u64, closes: u64) -> Self {
        let (latencies, services) = (Snapshot::new(), Snapshot::new());
        Self { opens, closes, operations: 0, bytes: 0, latencies, services, last_done: opens }
    }

    #[inline(always)]
    fn add(&mut self, flight: &Flight<Times>, seen: u64, latency_ns: u64) {
        self.last_done = seen;
        if flight.times.planned_ns >= self.opens {
            self.operations += 1;
            self.bytes += u64::from(flight.bytes);
            self.latencies.add(latency_ns);
            self.services.add(seen.saturating_sub(flight.times.submitted_ns));
        }
    }

    /// The report of a job that ended at `ended` if it was ended before its time.
    fn report(self, ended: Option<u64>, unserved: u64, late_ns: u64, failure: Option<IoFailure>) -> JobReport {
        let (latencies, services): (Histogram, Histogram) = (self.latencies.histogram(), self.services.histogram());
        JobReport {
            window_ns: window(self.opens, self.closes, ended.unwrap_or(self.closes), self.last_done, unserved),
            operations: self.operations,
            bytes: self.bytes,
            in_flight_ns: services.sum_ns(),
            histogram: latencies,
            service: Some(services),
            unserved,
            late_ns,
            batching: None,
            whole: self.operations == 0,
            failure,
        }
    }
}

/// Runs a job until the operations due in its time are done, or quota, a failure or `stop` end it. Everything is
/// allocated before the first operation.
pub(crate) fn drive<E: Engine>(
    engine: &mut E,
    clock: &impl Time,
    places: impl Into<Places>,
    mut schedule: Schedule,
    spec: &JobSpec<'_>,
) -> JobReport {
    let (stop, live, depth) = (spec.workload.stop, spec.live, spec.depth as usize);
    let start = clock.now();
    let (opens, closes) = (stop.ramp_ns, stop.ramp_ns + stop.duration_ns);
    let last_begin = closes + grace_ns(stop.duration_ns);
    let mut work: Work<'_, Times> = Work::new(places, spec);
    let mut counted = Counted::new(opens, closes);
    let (mut late_ns, mut now, mut due) = (0u64, 0, schedule.next());

    loop {
        let issuing = !work.over() && due < closes && now < last_begin;
        // Begin what is due. An operation is late where a slot was free for it in time: the instrument's fault.
        let idle = work.in_flight() < depth;
        let mut done_at_once: Option<Completion> = None;
        while issuing && due <= now && done_at_once.is_none() {
            let mut submitted_ns = 0;
            let times = || {
                submitted_ns = clock.now() - start;
                Times { planned_ns: due, submitted_ns }
            };
            match work.begin(engine, times) {
                Begun::Not => break,
                Begun::InFlight => {}
                Begun::Done(completion) => done_at_once = Some(completion),
            }
            if idle && counted.last_done < due {
                late_ns += submitted_ns - due;
            }
            due = schedule.next();
            if due >= closes || work.exhausted() {
                break;
            }
        }
        let in_flight = work.in_flight();
        if in_flight == 0 && !issuing {
            break;
        }

        let mut seen = 0u64;
        let mut finish = |completion: Completion| {
            if seen == 0 {
                seen = clock.now() - start;
            }
            if let Some(flight) = work.land(completion) {
                let latency = seen.saturating_sub(flight.times.planned_ns);
                live.latency(latency);
                work.count(&flight, latency);
                counted.add(&flight, seen, latency);
            }
        };
        let until_due = if issuing && due < closes { due.saturating_sub(now) } else { LONGEST_SLEEP_NS };
        let waited = match done_at_once {
            Some(completion) => {
                finish(completion);
                Ok(())
            }
            None if in_flight == 0 => {
                clock.wait(until_due);
                Ok(())
            }
            None if in_flight < depth => engine.reap_within(asleep(until_due), &mut finish),
            None => engine.reap_within(LONGEST_SLEEP_NS, &mut finish),
        };
        if let Err(error) = waited {
            work.lost(&error);
            break;
        }
        now = if seen == 0 { clock.now() - start } else { seen };
        live.publish(work.totals, work.sum_ns);
    }
    live.publish(work.totals, work.sum_ns);

    // What was due and not begun; other threads of the job count the times that they take.
    let (ended, mut unserved) = (work.over(), 0);
    while !ended && due < closes && unserved < MOST_UNSERVED && !spec.stop.load(Ordering::Relaxed) {
        unserved += u64::from(due >= opens);
        due = schedule.next();
    }
    counted.report(ended.then_some(now), unserved, late_ns, work.failure)
}

/// The time that the counted operations took: the measured part, or up to the last of them where the medium was
/// behind at its end by more than a twentieth of it.
fn window(opens: u64, closes: u64, ended: u64, last_done: u64, unserved: u64) -> u64 {
    let planned = ended.min(closes).saturating_sub(opens);
    let behind = last_done.saturating_sub(closes);
    if unserved > 0 || behind > (closes - opens) / 20 { planned.max(last_done.saturating_sub(opens)) } else { planned }
}

/// The part of a wait that may be slept.
fn asleep(wait_ns: u64) -> u64 {
    wait_ns.saturating_sub(AWAKE_NS).min(LONGEST_SLEEP_NS)
}

// When the operations of an open loop are due.

/// The planned times of one job. Threads that make up the queue of a job take its times in turns, each the next free
/// one: one queue with several servers.
#[derive(Debug)]
pub(crate) struct Schedule {
    process: Process,
    interval_ns: f64,
    generator: Xoshiro256PlusPlus,
    /// Number of the time that `at_ns` is.
    index: u64,
    at_ns: f64,
    taken: Turns,
}

impl Schedule {
    /// The times of a job of `jobs`, which share the rate alike. All threads of a job give the same `seed` and `taken`.
    pub(crate) fn new(arrivals: Arrivals, jobs: u32, seed: u64, taken: Turns) -> Self {
        let interval_ns = 1e9 * f64::from(jobs.max(1)) / arrivals.iops.max(1e-9);
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ 0x5c4e_d01e));
        // Jobs at equal intervals do not all begin at once.
        let phase = match arrivals.process {
            Process::Poisson => sample(&mut generator),
            Process::Constant => (mix(seed) >> 11) as f64 / (1u64 << 53) as f64,
        };
        Self { process: arrivals.process, interval_ns, generator, index: 0, at_ns: phase * interval_ns, taken }
    }

    /// The next time that no thread has taken, in nanoseconds from the start.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let index = self.taken.0.fetch_add(1, Ordering::Relaxed);
        while self.index < index {
            self.index += 1;
            self.at_ns += match self.process {
                Process::Constant => self.interval_ns,
                Process::Poisson => self.interval_ns * sample(&mut self.generator),
            };
        }
        self.at_ns as u64
    }
}

/// An exponential interval of mean 1.
#[inline]
fn sample(generator: &mut Xoshiro256PlusPlus) -> f64 {
    Exp1.sample(generator)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use assay_core::arrivals::{Arrivals, Process};
    use assay_core::workload::{Op, Pattern, Stop, Workload};

    use super::super::address::JobPlace;
    use super::*;
    use crate::clock::Clock;
    use crate::contract::{Io, Submit};
    use crate::counters::Live;

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
        let place = JobPlace { job: 0, jobs: 1, repeat: 0, repeats: 1, seed: 1 };
        let (live, stop, time) = (Live::new(), AtomicBool::new(false), Model(Cell::new(0)));
        let addresses = Places::new(&workload, place, None);
        let clock = Clock::start();
        let spec = JobSpec {
            wait_for: None,
            votes: crate::batching::Votes::of_jobs(1),
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

    fn times(process: Process, iops: f64, jobs: u32, count: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(Arrivals { iops, process }, jobs, 7, Arc::default());
        (0..count).map(|_| schedule.next()).collect()
    }

    /// Of 100,000 exponential intervals the mean is within five standard errors (1.6 %), and the share of those above
    /// the mean is 1/e.
    #[test]
    fn poisson_arrivals_have_exponential_intervals() {
        let times = times(Process::Poisson, 1000.0, 1, 100_001);
        let intervals: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = intervals.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
        let above = intervals.iter().filter(|i| **i > 1.0).count() as f64 / 1e5;
        assert!((above - (-1f64).exp()).abs() < 0.008, "{above}");
    }

    #[test]
    fn constant_arrivals_are_even_and_jobs_share_the_rate() {
        let times = times(Process::Constant, 1000.0, 4, 1000);
        assert!(times.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(4_000_000) <= 1), "{:?}", &times[..3]);
        assert!(times[0] < 4_000_000);
    }

    /// Were all to begin at once, the medium would have bursts of as many operations as there are jobs. The seeds of jobs
    /// differ in their upper half.
    #[test]
    fn jobs_at_equal_intervals_begin_anywhere_in_theirs() {
        let arrivals = Arrivals { iops: 1000.0, process: Process::Constant };
        let first = |job: u64| Schedule::new(arrivals, 64, 7 ^ (job << 32), Arc::default()).next();
        let (mut firsts, interval) = ((0..64).map(first).collect::<Vec<u64>>(), 64_000_000);
        firsts.sort_unstable();
        assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]), "two begin together: {firsts:?}");
        let mean = firsts.iter().sum::<u64>() as f64 / 64.0 / interval as f64;
        // The standard error of the mean of 64 uniform values is 0.036.
        assert!((mean - 0.5).abs() < 0.11 && firsts[63] < interval, "{mean}: {firsts:?}");
    }

    #[test]
    fn threads_of_a_job_share_its_times() {
        let taken = Turns::default();
        let arrivals = Arrivals { iops: 500.0, process: Process::Poisson };
        let mut threads = [0, 1, 2].map(|_| Schedule::new(arrivals, 1, 7, Arc::clone(&taken)));
        let shared: Vec<u64> = (0..300).map(|turn| threads[(turn * 7 / 5) % 3].next()).collect();
        assert_eq!(shared, times(Process::Poisson, 500.0, 1, 300));
    }
}
