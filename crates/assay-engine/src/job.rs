//! The instructions of a job, and its result.

use std::sync::atomic::AtomicBool;

use assay_core::histogram::Histogram;
use assay_core::workload::Workload;

use crate::batching::{Batching, Votes};
use crate::clock::Clock;
use crate::counters::Live;
use crate::flow;

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
    pub(crate) flow: Option<flow::Gate>,
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
