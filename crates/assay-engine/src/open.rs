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

use assay_core::histogram::Histogram;

use crate::address::Places;
use crate::clock::Clock;
use crate::contract::{Completion, Engine};
use crate::counters::Snapshot;
use crate::job::{IoFailure, JobReport, JobSpec};
use crate::schedule::Schedule;
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

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
