//! How the records of a unit ended, as the ranking counts it.

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_stats::rank::{Ending, jeffreys};
use serde::Serialize;

/// A record whose medium failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedRecord {
    /// Its id.
    pub record: String,
    /// The unit.
    pub unit: String,
    /// What happened, as people say it: `turned read-only`, `fake`.
    pub what: String,
    /// After this many nanoseconds of the run; `None` where a check found it.
    pub elapsed_ns: Option<u64>,
    /// Whether data were lost or invented.
    pub corrupt: bool,
}

/// Units that failed, of all of a model, with Jeffreys's interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureShare {
    /// Units that failed.
    pub failed: u32,
    /// Units tried.
    pub of: u32,
    /// Lower end of the share of units that fail.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
}

impl FailureShare {
    pub(super) fn new(failed: u32, of: u32, level: f64) -> Option<Self> {
        let share = jeffreys(u64::from(failed), u64::from(of), level)?;
        Some(Self { failed, of, low: share.low, high: share.high, level })
    }
}

/// How a record ended: `None` while its run is under way.
pub(super) fn ending(record: &Record) -> Option<Ending> {
    if corrupt(record).is_some() {
        return Some(Ending::Corrupt);
    }
    match &record.outcome {
        Outcome::Completed => Some(Ending::Done),
        Outcome::Running => None,
        Outcome::Failed { failure, .. } => Some(match failure {
            RunFailure::Hung => Ending::Hung,
            RunFailure::ReadOnly => Ending::ReadOnly,
            RunFailure::IoError | RunFailure::Other => Ending::IoError,
            RunFailure::Disappeared => Ending::Gone,
            RunFailure::OutOfSpace
            | RunFailure::Interrupted
            | RunFailure::Suspended
            | RunFailure::Abandoned
            | RunFailure::Host => Ending::AbortedByHost,
        }),
    }
}

fn corrupt(record: &Record) -> Option<&'static str> {
    match record.verification.as_ref()?.verdict {
        Verdict::Fake => Some("fake: it announces more than it has"),
        Verdict::Damaged => Some("damaged: it loses data"),
        Verdict::Failed => Some("failed while it was checked"),
        _ => None,
    }
}

/// The failure of a record, where the medium failed.
pub(super) fn failure(record: &Record, unit: &str) -> Option<FailedRecord> {
    let (id, unit) = (record.id.clone(), unit.to_owned());
    if let Some(what) = corrupt(record) {
        return Some(FailedRecord { record: id, unit, what: what.to_owned(), elapsed_ns: None, corrupt: true });
    }
    match &record.outcome {
        Outcome::Failed { failure, elapsed_ns, .. } if record.outcome.medium_failed() => {
            let what = failure.title().to_owned();
            Some(FailedRecord { record: id, unit, what, elapsed_ns: Some(*elapsed_ns), corrupt: false })
        }
        _ => None,
    }
}
