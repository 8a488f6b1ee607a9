//! Whether a record is the result of what was to be measured: of a cell of a plan, or of a node of a run. Plan, fleet and their
//! reports count by this rule alone.

use assay_core::finding::{Severity, ValidityVerdict};
use assay_core::observation::Observation;
use assay_core::outcome::{Outcome, RunFailure};

/// What a record is the result of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Achieved {
    /// It was measured.
    Measured,
    /// The medium failed, which is a result.
    MediumFailed(RunFailure),
}

/// Why a record is no result: what it was for is measured again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoResult {
    /// The run is under way, or was killed.
    Running,
    /// The run did not finish, for a reason that is not the medium's.
    Unfinished(RunFailure),
    /// The record is invalid.
    Invalid,
}

/// Whether a record is a result.
///
/// # Errors
/// [`NoResult`], where it is none.
pub fn result_of(record: &Observation) -> Result<Achieved, NoResult> {
    match &record.outcome {
        Outcome::Running => Err(NoResult::Running),
        Outcome::Failed { failure, .. } if record.outcome.medium_failed() => Ok(Achieved::MediumFailed(*failure)),
        Outcome::Failed { failure, .. } => Err(NoResult::Unfinished(*failure)),
        Outcome::Completed if record.validity.verdict == ValidityVerdict::Invalid => Err(NoResult::Invalid),
        Outcome::Completed => Ok(Achieved::Measured),
    }
}

/// Why a record is invalid, in the words of the first finding that says so.
#[must_use]
pub fn why_invalid(record: &Observation) -> String {
    let reasons = || record.validity.reasons.iter();
    let worst = reasons().chain(record.all_warnings()).find(|warning| warning.severity == Severity::Invalid);
    worst.or(reasons().next()).map_or_else(|| "the record says so".to_owned(), |warning| warning.cause())
}
