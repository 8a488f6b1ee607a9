//! A job: its instructions, what it has begun, and what it has done. The loops of closed and open loads have this in common.
//!
//! The loops hold it in a variable of their own and all that is called for an operation is inlined, so that its fields are
//! kept where variables are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_core::histogram::Histogram;
use assay_core::workload::{Direction, Workload};

use crate::address::Places;
use crate::batching::{Batching, Votes};
use crate::buffer::{Content, mix, stamp};
use crate::clock::Clock;
use crate::contract::{Completion, Engine, Io, Submit};
use crate::counters::{Live, Totals, Turns};
use crate::operations::{Operation, Operations};
use crate::sys::IO_ERROR;

/// Bookkeeping of a slot in flight, with the times that the loop keeps of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flight<T> {
    pub(crate) times: T,
    pub(crate) bytes: u32,
    write: bool,
    offset: u64,
}

/// How an operation was begun.
pub(crate) enum Begun {
    /// It was not: no slot is free, or the engine takes no more now.
    Not,
    /// It is in flight.
    InFlight,
    /// It is done already.
    Done(Completion),
}

/// The state of a job's loop.
pub(crate) struct Work<'a, T> {
    operations: Operations,
    /// What is written, where that is not the usual.
    content: Option<Content>,
    seed: u64,
    depth: u32,
    quota: u64,
    byte_quota: u64,
    writes: bool,
    stop: &'a AtomicBool,
    free: Vec<u32>,
    flights: Vec<Flight<T>>,
    /// What was begun and done so far.
    pub(crate) totals: Totals,
    /// The latencies of all that was done, in nanoseconds.
    pub(crate) sum_ns: u64,
    /// Operations begun so far.
    pub(crate) issued: u64,
    /// The first failure.
    pub(crate) failure: Option<IoFailure>,
}

impl<'a, T: Copy + Default> Work<'a, T> {
    /// Nothing is begun yet, and everything is allocated.
    pub(crate) fn new(places: impl Into<Places>, spec: &JobSpec<'a>) -> Self {
        let seed = mix(spec.seed ^ mix(u64::from(spec.job) + 1));
        Self {
            operations: Operations::new(spec.workload, places.into(), seed),
            content: Content::of_workload(spec.workload, spec.seed),
            seed,
            depth: spec.depth,
            quota: spec.quota,
            byte_quota: spec.byte_quota,
            writes: spec.workload.writes(),
            stop: spec.stop,
            free: (0..spec.depth).rev().collect(),
            flights: vec![Flight::default(); spec.depth as usize],
            totals: Totals::default(),
            sum_ns: 0,
            issued: 0,
            failure: None,
        }
    }

    /// Begins the next operation where there is room for it; `times` are asked for right before.
    #[inline(always)]
    pub(crate) fn begin<E: Engine>(&mut self, engine: &mut E, times: impl FnOnce() -> T) -> Begun {
        let Some(slot) = self.free.pop() else { return Begun::Not };
        let Operation { direction, priority, offset, bytes } = self.operations.next();
        let write = direction == Direction::Write;
        if write {
            let buffer = &mut engine.buffer(slot)[..bytes as usize];
            match &self.content {
                None => stamp(buffer, self.seed, offset, self.issued),
                Some(content) => content.make(buffer, self.seed, offset, self.issued),
            }
        }
        self.flights[slot as usize] = Flight { times: times(), bytes, write, offset };
        let answer = engine.submit(Io { slot, direction, priority, offset, bytes });
        if answer == Submit::Full {
            self.free.push(slot);
            return Begun::Not;
        }
        self.issued += 1;
        match direction {
            Direction::Read => self.totals.read_bytes += u64::from(bytes),
            Direction::Write => self.totals.written_bytes += u64::from(bytes),
        }
        if let Submit::Done(result) = answer { Begun::Done(Completion { slot, result }) } else { Begun::InFlight }
    }

    /// Frees the slot of an operation that is done: what was kept of it, where it moved all of its bytes.
    #[inline(always)]
    pub(crate) fn land(&mut self, completion: Completion) -> Option<Flight<T>> {
        let flight = self.flights[completion.slot as usize];
        self.free.push(completion.slot);
        if completion.result == flight.bytes as i32 {
            return Some(flight);
        }
        let errno = (-completion.result).max(0);
        self.failure.get_or_insert(IoFailure { write: flight.write, offset: flight.offset, errno });
        None
    }

    /// Counts an operation that took so long.
    #[inline(always)]
    pub(crate) fn count(&mut self, flight: &Flight<T>, latency_ns: u64) {
        self.sum_ns += latency_ns;
        self.totals.operations += 1;
        self.totals.bytes += u64::from(flight.bytes);
    }

    /// Operations in flight.
    #[inline(always)]
    pub(crate) fn in_flight(&self) -> usize {
        self.depth as usize - self.free.len()
    }

    /// Whether another operation can be begun.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Those that landed last, the newest at the end.
    pub(crate) fn landed(&self, count: usize) -> impl Iterator<Item = &Flight<T>> {
        self.free[self.free.len() - count..].iter().map(|slot| &self.flights[*slot as usize])
    }

    /// Whether no more may be begun.
    #[inline(always)]
    pub(crate) fn exhausted(&self) -> bool {
        self.issued >= self.quota || self.totals.issued() > self.byte_quota
    }

    /// Whether no more is to be begun: that, or a failure, or a wish to stop.
    #[inline(always)]
    pub(crate) fn over(&self) -> bool {
        self.exhausted() || self.failure.is_some() || self.stop.load(Ordering::Relaxed)
    }

    /// The engine cannot be waited for.
    #[cold]
    pub(crate) fn lost(&mut self, error: &std::io::Error) {
        let errno = error.raw_os_error().unwrap_or(IO_ERROR);
        self.failure.get_or_insert(IoFailure { write: self.writes, offset: 0, errno });
    }
}

// The instructions of a job, and its result.

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
    /// Keeps its operations in a ratio to those of others.
    pub(crate) flow: Option<FlowGate>,
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

// Workloads of a group whose operations are kept in the ratio of their weights.

/// A job that is ahead of the others looks again after this time, where the load has no pause of its own.
const LOOK_AGAIN: Duration = Duration::from_micros(20);
/// No single sleep is longer, so that a stop is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Lets the threads of one workload begin operations while they are not ahead of the others. As fio does with `flow`: a
/// job waits while its part of all operations is above its part of all weights.
#[derive(Debug, Clone)]
pub(crate) struct FlowGate {
    own: Turns,
    all: Turns,
    weight: u64,
    weights: u64,
    pause: Duration,
}

impl FlowGate {
    /// Those of workloads that run at the same time; `None` of one without a weight.
    pub(crate) fn of_workloads<'w>(workloads: impl Iterator<Item = &'w Workload> + Clone) -> Vec<Option<Self>> {
        let weights = workloads.clone().filter_map(|w| w.refined.flow).map(|flow| u64::from(flow.weight)).sum();
        let all = Turns::default();
        let gate = |w: &Workload| {
            w.refined.flow.map(|flow| Self {
                own: Turns::default(),
                all: Arc::clone(&all),
                weight: u64::from(flow.weight),
                weights,
                pause: Duration::from_nanos(flow.pause_ns),
            })
        };
        workloads.map(gate).collect()
    }

    /// Whether an operation may begin now, which it then has to.
    #[inline]
    pub(crate) fn admits(&self) -> bool {
        let (own, all) = (self.own.0.load(Ordering::Relaxed), self.all.0.load(Ordering::Relaxed));
        if u128::from(own) * u128::from(self.weights) > u128::from(all) * u128::from(self.weight) {
            return false;
        }
        self.own.0.fetch_add(1, Ordering::Relaxed);
        self.all.0.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Waits a moment for the others.
    pub(crate) fn wait(&self, stop: &AtomicBool) {
        let mut left = self.pause.max(LOOK_AGAIN);
        while !left.is_zero() && !stop.load(Ordering::Relaxed) {
            let sleep = left.min(LONGEST_SLEEP);
            std::thread::sleep(sleep);
            left -= sleep;
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::refined::{Flow, Refined};
    use assay_core::workload::{Op, Pattern};

    use super::*;

    #[test]
    fn operations_are_kept_in_the_ratio_of_the_weights() {
        let of = |weight| {
            let flow = (weight > 0).then_some(Flow { weight, pause_ns: 0 });
            let refined = Refined { flow, ..Refined::default() };
            Workload { refined, ..Workload::new("w", Op::Read, Pattern::Random, 512) }
        };
        let workloads = [of(8), of(1), of(0)];
        let gates = FlowGate::of_workloads(workloads.iter());
        let [Some(much), Some(little), None] = &gates[..] else { panic!("{gates:?}") };
        let (mut of_much, mut of_little) = (0, 0);
        for _ in 0..9000 {
            of_much += u32::from(much.admits());
            of_little += u32::from(little.admits());
        }
        let ratio = f64::from(of_much) / f64::from(of_little);
        assert!((ratio - 8.0).abs() < 0.1 && of_little > 900, "{of_much} {of_little}");
    }
}
