//! The loop of a job whose operations are due at planned times, whether or not earlier ones are done.
//!
//! Latency counts from the planned time, so that a medium that stalls is charged with all that had to wait meanwhile;
//! a closed loop would have asked less of it ("coordinated omission"). The time from submission to completion is kept
//! beside it. An operation that is due when the queue is full waits for the first that completes.
//!
//! Counted are the operations that are due within the measured part. They are waited for after its end, up to
//! [`grace_ns`]; what is not begun by then is told as unserved.

use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_core::histogram::Histogram;

use crate::address::Addresses;
use crate::clock::Clock;
use crate::contract::{Completion, Direction, Engine, Io, Submit};
use crate::counters::{Snapshot, Totals};
use crate::data::{mix, stamp};
use crate::job::{IoFailure, JobReport, JobSpec};
use crate::operations::{Operation, Operations};
use crate::schedule::Schedule;
use crate::sys::IO_ERROR;

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

/// Bookkeeping of a slot in flight.
#[derive(Clone, Copy, Default)]
struct Flight {
    planned_ns: u64,
    submitted_ns: u64,
    offset: u64,
    bytes: u32,
    write: bool,
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

/// Runs a job until the operations due in its time are done, or quota, a failure or `stop` end it. Everything is
/// allocated before the first operation.
#[expect(clippy::too_many_lines, reason = "one loop: its state would cross each call")]
pub(crate) fn drive<E: Engine>(
    engine: &mut E,
    clock: &impl Time,
    addresses: Addresses,
    mut schedule: Schedule,
    spec: &JobSpec<'_>,
) -> JobReport {
    let JobSpec { workload, depth, quota, byte_quota, live, .. } = *spec;
    let start = clock.now();
    let opens = workload.stop.ramp_ns;
    let closes = opens + workload.stop.duration_ns;
    let last_begin = closes + grace_ns(workload.stop.duration_ns);
    let seed = mix(spec.seed ^ mix(u64::from(spec.job) + 1));
    let mut operations = Operations::new(workload, addresses, seed);
    let mut free: Vec<u32> = (0..depth).rev().collect();
    let mut flights = vec![Flight::default(); depth as usize];
    let (mut latencies, mut services) = (Snapshot::new(), Snapshot::new());

    let mut totals = Totals::default();
    let mut sum_ns = 0u64;
    let (mut issued, mut counted, mut unserved) = (0u64, 0u64, 0u64);
    let mut counted_bytes = 0u64;
    let (mut late_ns, mut last_done) = (0u64, opens);
    let mut failure: Option<IoFailure> = None;
    let mut now = 0;
    let mut due = schedule.next();

    loop {
        let over =
            issued >= quota || totals.issued() > byte_quota || failure.is_some() || spec.stop.load(Ordering::Relaxed);
        let issuing = !over && due < closes && now < last_begin;
        // Begin what is due. An operation is late where a slot was free for it in time: the instrument's fault.
        let idle = !free.is_empty();
        let mut done_at_once: Option<Completion> = None;
        while issuing && due <= now && done_at_once.is_none() {
            let Some(slot) = free.pop() else { break };
            let Operation { direction, offset, bytes } = operations.next();
            if direction == Direction::Write {
                stamp(&mut engine.buffer(slot)[..bytes as usize], seed, offset, issued);
            }
            let submitted_ns = clock.now() - start;
            flights[slot as usize] =
                Flight { planned_ns: due, submitted_ns, offset, bytes, write: direction == Direction::Write };
            let answer = engine.submit(Io { slot, direction, offset, bytes });
            if answer == Submit::Full {
                free.push(slot);
                break;
            }
            if idle && last_done < due {
                late_ns += submitted_ns - due;
            }
            issued += 1;
            match direction {
                Direction::Read => totals.read_bytes += u64::from(bytes),
                Direction::Write => totals.written_bytes += u64::from(bytes),
            }
            due = schedule.next();
            if let Submit::Done(result) = answer {
                done_at_once = Some(Completion { slot, result });
            }
            if due >= closes || issued >= quota || totals.issued() > byte_quota {
                break;
            }
        }
        let in_flight = depth as usize - free.len();
        if in_flight == 0 && !issuing {
            break;
        }

        let mut seen = 0u64;
        let mut finish = |completion: Completion| {
            if seen == 0 {
                seen = clock.now() - start;
            }
            let flight = flights[completion.slot as usize];
            free.push(completion.slot);
            if completion.result == flight.bytes as i32 {
                let latency = seen.saturating_sub(flight.planned_ns);
                live.latency(latency);
                sum_ns += latency;
                totals.operations += 1;
                totals.bytes += u64::from(flight.bytes);
                last_done = seen;
                if flight.planned_ns >= opens {
                    counted += 1;
                    counted_bytes += u64::from(flight.bytes);
                    latencies.add(latency);
                    services.add(seen.saturating_sub(flight.submitted_ns));
                }
            } else if failure.is_none() {
                failure =
                    Some(IoFailure { write: flight.write, offset: flight.offset, errno: (-completion.result).max(0) });
            }
        };
        let until_due = if issuing && due < closes { due.saturating_sub(now) } else { LONGEST_SLEEP_NS };
        let room = in_flight < depth as usize;
        let waited = match done_at_once {
            Some(completion) => {
                finish(completion);
                Ok(())
            }
            None if in_flight == 0 => {
                clock.wait(until_due);
                Ok(())
            }
            None if room => engine.reap_within(asleep(until_due), &mut finish),
            None => engine.reap_within(LONGEST_SLEEP_NS, &mut finish),
        };
        if let Err(error) = waited {
            let errno = error.raw_os_error().unwrap_or(IO_ERROR);
            failure = failure.or(Some(IoFailure { write: workload.writes(), offset: 0, errno }));
            break;
        }
        now = if seen == 0 { clock.now() - start } else { seen };
        live.publish(totals, sum_ns);
    }
    live.publish(totals, sum_ns);

    // What was due and not begun; other threads of the job count the times that they take.
    let ended =
        failure.is_some() || issued >= quota || totals.issued() > byte_quota || spec.stop.load(Ordering::Relaxed);
    while !ended && due < closes && unserved < MOST_UNSERVED && !spec.stop.load(Ordering::Relaxed) {
        unserved += u64::from(due >= opens);
        due = schedule.next();
    }
    let (latencies, services): (Histogram, Histogram) = (latencies.histogram(), services.histogram());
    JobReport {
        window_ns: window(opens, closes, if ended { now } else { closes }, last_done, unserved),
        operations: counted,
        bytes: counted_bytes,
        in_flight_ns: services.sum_ns(),
        histogram: latencies,
        service: Some(services),
        unserved,
        late_ns,
        batching: None,
        whole: counted == 0,
        failure,
    }
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
