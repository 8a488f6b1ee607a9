//! The hot loop: one job from its first operation to the last.
//!
//! The measured window opens with the first completion after the warm-up and closes with the
//! first completion after its end. Operations of the opening batch are not counted, those of the
//! closing batch are: the window is a whole number of intervals between completions, so a device
//! that completes in lumps (or twice a second) is not over- or undercounted at the edges, and a
//! stall that is under way at the end is waited for and counted (Wald's identity: the expected
//! time of N intervals is N times the mean interval, also when N is a stopping time).
//!
//! Where completions come in lumps of many batches (a throttle that hands out a tenth of a second
//! at a time, a medium that pauses to collect garbage), both edges are put where a pause ends, so
//! that the window holds whole lumps. What counts as a pause is learnt during the warm-up, and
//! neither edge waits for one longer than [`LONGEST_WAIT_NS`].
//!
//! Where others share the medium or its link and are measured over the same time, a stall between the warm-up and the
//! window is counted: the window opens where the stall began. Opened at its end, the window of a job that got nothing
//! would lie after those of the others and show the medium to itself. A stall is longer than an edge waits, and than
//! twice what was seen in the warm-up.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_core::histogram::Histogram;
use assay_core::workload::Workload;

use crate::address::Addresses;
use crate::batching::{Batching, Chooser, Votes};
use crate::clock::Clock;
use crate::contract::{Completion, Direction, Engine, Io, Submit};
use crate::counters::{Live, Snapshot, Totals};
use crate::data::{mix, stamp};
use crate::operations::{Operation, Operations};
use crate::pauses::Pauses;
use crate::sys::IO_ERROR;

/// How long an edge of the window may wait for the end of a pause, in nanoseconds.
const LONGEST_WAIT_NS: u64 = 250_000_000;

/// What a job needs to know.
pub(crate) struct JobSpec<'a> {
    pub(crate) workload: &'a Workload,
    /// Operations this job keeps in flight.
    pub(crate) depth: u32,
    /// Most operations this job issues.
    pub(crate) quota: u64,
    /// When it has issued more bytes than this, it issues no more.
    pub(crate) byte_quota: u64,
    /// Number of the job, for seeds.
    pub(crate) job: u32,
    pub(crate) seed: u64,
    pub(crate) clock: Clock,
    pub(crate) live: &'a Live,
    pub(crate) stop: &'a AtomicBool,
    /// For how many completions to wait at once, where that was chosen before.
    pub(crate) wait_for: Option<u32>,
    /// What the other jobs of the workload choose.
    pub(crate) votes: Votes,
    /// Others begin at the same moment and are measured over the same time: other nodes, other workloads.
    pub(crate) common: bool,
}

/// An operation that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IoFailure {
    pub(crate) write: bool,
    pub(crate) offset: u64,
    /// System error number; 0 where the device moved fewer bytes than asked.
    pub(crate) errno: i32,
}

/// What a job found.
#[derive(Debug, Clone)]
pub(crate) struct JobReport {
    /// Length of the measured window in nanoseconds.
    pub(crate) window_ns: u64,
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) histogram: Histogram,
    /// Operations in flight, integrated over the window, in operation nanoseconds.
    pub(crate) in_flight_ns: u128,
    /// Times from submission to completion, of an open loop.
    pub(crate) service: Option<Histogram>,
    /// Operations that were due in the window of an open loop and not begun.
    pub(crate) unserved: u64,
    /// Time by which operations of an open loop were begun late though nothing was in their way, over all of them.
    pub(crate) late_ns: u64,
    /// For how many completions at once it waited, of a closed loop.
    pub(crate) batching: Option<Batching>,
    /// No window came about (too few operations, or an early end): all operations are counted.
    pub(crate) whole: bool,
    pub(crate) failure: Option<IoFailure>,
}

/// Bookkeeping of a slot in flight.
#[derive(Clone, Copy)]
struct Flight {
    started_ns: u64,
    offset: u64,
    bytes: u32,
    write: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Window {
    Warming,
    Open,
    Closed,
}

/// Runs a job on its engine until duration, quota, a failure or `stop` ends it. Everything that the window needs is
/// allocated before it.
#[expect(clippy::too_many_lines, reason = "one loop: its state would cross each call")]
pub(crate) fn drive<E: Engine>(engine: &mut E, addresses: Addresses, spec: &JobSpec<'_>) -> JobReport {
    let JobSpec { workload, depth, quota, byte_quota, clock, live, .. } = *spec;
    let ramp_ns = workload.stop.ramp_ns;
    let duration_ns = workload.stop.duration_ns;
    let seed = mix(spec.seed ^ mix(u64::from(spec.job) + 1));
    let mut operations = Operations::new(workload, addresses, seed);
    let mut pauses = Pauses::new(workload.think);
    let mut batches = Chooser::new(depth, ramp_ns, spec.wait_for, spec.votes.clone());
    let mut free: Vec<u32> = (0..depth).rev().collect();
    let mut flights = vec![Flight { started_ns: 0, offset: 0, bytes: 0, write: false }; depth as usize];
    let mut base = Snapshot::new();
    let mut end = Snapshot::new();

    let mut totals = Totals::default();
    let mut sum_ns = 0u64;
    let mut issued = 0u64;
    let mut failure: Option<IoFailure> = None;
    let mut window = Window::Warming;
    let mut in_flight_ns = 0u128;
    let (mut base_totals, mut end_totals) = (Totals::default(), Totals::default());
    let (mut base_in_flight, mut end_in_flight) = (0u128, 0u128);

    let start = clock.now();
    let mut now = start;
    let (mut opened, mut closed) = (start, start);
    let mut longest_pause = 0u64;
    // Where operations come in bursts, the window holds whole bursts with the pause before each.
    let (bursts, longest_wait) = (pauses.some(), LONGEST_WAIT_NS + 2 * pauses.pause_ns());
    let mut after_pause = false;

    loop {
        // Refill.
        let before = now;
        let issuing = window != Window::Closed && failure.is_none();
        let mut finished_in_submit: Option<Completion> = None;
        let most = quota.min(pauses.next_at);
        while issuing && issued < most && totals.issued() <= byte_quota {
            let Some(slot) = free.pop() else { break };
            let Operation { direction, offset, bytes } = operations.next();
            if direction == Direction::Write {
                stamp(&mut engine.buffer(slot)[..bytes as usize], seed, offset, issued);
            }
            flights[slot as usize] = Flight { started_ns: now, offset, bytes, write: direction == Direction::Write };
            let answer = engine.submit(Io { slot, direction, offset, bytes });
            if answer == Submit::Full {
                free.push(slot);
                break;
            }
            issued += 1;
            match direction {
                Direction::Read => totals.read_bytes += u64::from(bytes),
                Direction::Write => totals.written_bytes += u64::from(bytes),
            }
            if let Submit::Done(result) = answer {
                finished_in_submit = Some(Completion { slot, result });
                break;
            }
        }
        let in_flight = depth as usize - free.len();
        if in_flight == 0 {
            if issuing && issued < quota && totals.issued() <= byte_quota && pauses.take(issued, spec.stop) {
                after_pause = true;
                now = clock.now();
                continue;
            }
            break;
        }

        // Wait, and take all that is done. One look at the clock for the whole batch.
        let mut seen = 0u64;
        let mut finish = |completion: Completion| {
            if seen == 0 {
                seen = clock.now();
            }
            let flight = flights[completion.slot as usize];
            free.push(completion.slot);
            if completion.result == flight.bytes as i32 {
                let latency = seen - flight.started_ns;
                live.latency(latency);
                sum_ns += latency;
                totals.operations += 1;
                totals.bytes += u64::from(flight.bytes);
            } else if failure.is_none() {
                failure =
                    Some(IoFailure { write: flight.write, offset: flight.offset, errno: (-completion.result).max(0) });
            }
        };
        match finished_in_submit {
            Some(completion) => finish(completion),
            None => {
                if let Err(error) = engine.reap(batches.wait_for, &mut finish) {
                    let errno = error.raw_os_error().unwrap_or(IO_ERROR);
                    failure = failure.or(Some(IoFailure { write: workload.writes(), offset: 0, errno }));
                    break;
                }
            }
        }
        if seen == 0 {
            continue;
        }
        now = seen;
        in_flight_ns += in_flight as u128 * u128::from(now - before);
        live.publish(totals, sum_ns);

        // Open and close the window.
        let pause = now - before;
        let pause_ended = if bursts { after_pause } else { pause * 2 >= longest_pause };
        after_pause = false;
        let over =
            issued >= quota || totals.issued() > byte_quota || failure.is_some() || spec.stop.load(Ordering::Relaxed);
        match window {
            Window::Warming if over => window = Window::Closed,
            Window::Warming if now - start < ramp_ns => {
                longest_pause = longest_pause.max(pause);
                batches.waited(now - start, &totals, live);
            }
            Window::Warming if spec.common && pause >= longest_wait && pause > 2 * longest_pause => {
                window = Window::Open;
                opened = before;
                base_in_flight = in_flight_ns - in_flight as u128 * u128::from(now - before);
                base_totals = totals;
                live.snapshot(&mut base);
                live.reset_extremes();
                for slot in &free[depth as usize - in_flight..] {
                    let flight = flights[*slot as usize];
                    base_totals.operations -= 1;
                    base_totals.bytes -= u64::from(flight.bytes);
                    base.take_back(now - flight.started_ns);
                    live.extremes(now - flight.started_ns);
                }
                batches.opens();
            }
            Window::Warming if pause_ended || now - start >= ramp_ns + longest_wait => {
                window = Window::Open;
                opened = now;
                base_totals = totals;
                base_in_flight = in_flight_ns;
                live.snapshot(&mut base);
                live.reset_extremes();
                batches.opens();
                now = clock.now();
            }
            Window::Open
                if over
                    || (now - opened >= duration_ns && (pause_ended || now - opened >= duration_ns + longest_wait)) =>
            {
                window = Window::Closed;
                closed = now;
                end_totals = totals;
                end_in_flight = in_flight_ns;
                live.snapshot(&mut end);
            }
            _ => {}
        }
    }
    live.publish(totals, sum_ns);

    let operations = end_totals.operations.saturating_sub(base_totals.operations);
    let batching = Some(batches.chosen());
    if window == Window::Closed && operations > 0 && closed > opened {
        JobReport {
            window_ns: closed - opened,
            operations,
            bytes: end_totals.bytes - base_totals.bytes,
            histogram: end.since(&base),
            in_flight_ns: end_in_flight - base_in_flight,
            service: None,
            unserved: 0,
            late_ns: 0,
            batching,
            whole: false,
            failure,
        }
    } else {
        JobReport {
            window_ns: now.saturating_sub(start),
            operations: totals.operations,
            bytes: totals.bytes,
            histogram: live.histogram(),
            in_flight_ns,
            service: None,
            unserved: 0,
            late_ns: 0,
            batching,
            whole: true,
            failure,
        }
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
