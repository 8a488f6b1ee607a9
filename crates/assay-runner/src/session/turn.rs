//! What the order of repeats and a repeat tell each other.

use std::time::Duration;

use assay_core::finding::Finding;
use assay_core::suite::SuiteWorkload;
use assay_core::units::nanoseconds;
use assay_core::workload::{Stop, Workload};

use crate::budget::Share;
use crate::proof::Proof;

/// A workload with its state over the repeats.
pub(super) struct Entry {
    pub(super) asked: SuiteWorkload,
    /// As it runs here; settled before the first repeat, so that all repeats are alike.
    pub(super) fitted: Option<SuiteWorkload>,
    /// Of the workload in the suite and of its measurement in the record.
    pub(super) index: usize,
    pub(super) proof: Proof,
    /// Larger blocks than one that reaches what the bus allows.
    pub(super) left_out: bool,
}

/// One repeat to be made.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Number of the repeat, from 0.
    pub(super) round: u32,
    /// Repeats made by now, and all of them.
    pub(super) done: u32,
    pub(super) total: u32,
    /// The time it may take.
    pub(super) slot: Duration,
    /// Weights in the write budget of all repeats to come, this one included.
    pub(super) weights: u64,
}

/// What follows a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next one.
    Go,
    /// The process was stopped meanwhile: the same once more.
    Again,
    /// Nothing: the run ended.
    End,
}

/// What may yet change with every repeat.
pub(super) fn told_at_end(finding: &Finding) -> bool {
    matches!(finding, Finding::FewOperations { .. } | Finding::CrosscheckDiffers { .. })
}

/// The workload complete with span and stop rule.
pub(super) fn complete(w: &SuiteWorkload, span: u64, direct: bool, share: Option<Share>) -> Workload {
    Workload {
        read_percent: w.read_percent,
        queue_depth: w.queue_depth,
        jobs: w.jobs,
        span_bytes: span,
        direct: direct && w.direct,
        sync: w.sync,
        distribution: w.distribution,
        stop: share.map_or(Stop { ramp_ns: 0, duration_ns: 0, max_bytes: None }, |s| Stop {
            ramp_ns: nanoseconds(s.ramp),
            duration_ns: nanoseconds(s.duration),
            max_bytes: s.max_bytes,
        }),
        ..Workload::new(&w.name, w.op, w.pattern, w.block.0)
    }
}
