//! What a job has begun, and what it has done: what the loops of closed and open loads have in common.
//!
//! The loops hold it in a variable of their own and all that is called for an operation is inlined, so that its fields are
//! kept where variables are.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_core::direction::Direction;

use crate::address::Places;
use crate::contract::{Completion, Engine, Io, Submit};
use crate::counters::Totals;
use crate::data::{Content, mix, stamp};
use crate::job::{IoFailure, JobSpec};
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
            content: Content::of(spec.workload, spec.seed),
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
