//! The exit code of each outcome. Errors have theirs in `failure.rs`.

use assay_analysis::compare::{Comparison, Gate};
use assay_core::exit::Exit;
use assay_core::finding::{Finding, ValidityVerdict};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_fleet::RunEnd;

/// A question with the answer yes or no.
pub(crate) fn of_answer(yes: bool) -> Exit {
    if yes { Exit::Good } else { Exit::No }
}

/// Nights of watched media: whether an alarm was found in one, and whether one has no result.
pub(crate) fn of_nights(alarm: bool, skipped: bool) -> Exit {
    match (alarm, skipped) {
        (true, _) => Exit::No,
        (false, true) => Exit::CannotTell,
        (false, false) => Exit::Good,
    }
}

/// What ended a run or a check early, apart from the medium.
fn of_failure(outcome: &Outcome) -> Option<Exit> {
    match outcome {
        Outcome::Failed { failure: RunFailure::Interrupted, .. } => Some(Exit::Interrupted),
        Outcome::Failed { failure: RunFailure::OutOfSpace, .. } => Some(Exit::Environment),
        _ => None,
    }
}

/// What the medium or the host did to a run or a check.
fn of_end(outcome: &Outcome) -> Option<Exit> {
    match outcome {
        outcome if outcome.medium_failed() => Some(Exit::Medium),
        Outcome::Failed { failure: RunFailure::Host, .. } => Some(Exit::Environment),
        _ => None,
    }
}

/// A run.
pub(crate) fn of_run(record: &Record) -> Exit {
    let ended = of_failure(&record.outcome).or_else(|| of_end(&record.outcome));
    ended.unwrap_or_else(|| of_answer(record.validity.verdict != ValidityVerdict::Invalid))
}

/// A check.
pub(crate) fn of_check(record: &Record) -> Exit {
    if let Some(ended) = of_failure(&record.outcome) {
        return ended;
    }
    let verdict = record.verification.as_ref().map(|v| v.verdict);
    if verdict == Some(Verdict::Fake) {
        // A fake that was proven stays one, whatever came after.
        return of_verdict(Verdict::Fake);
    }
    if let Some(ended) = of_end(&record.outcome) {
        return ended;
    }
    let Some(verdict) = verdict else { return Exit::CannotTell };
    let not_put_back = record.warnings.iter().any(|w| matches!(w.finding, Finding::NotPutBack { .. }));
    match of_verdict(verdict) {
        // The medium is what it says, and its owner's data are not on it.
        Exit::Good if not_put_back => Exit::Environment,
        exit => exit,
    }
}

fn of_verdict(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Genuine => Exit::Good,
        Verdict::Fake => Exit::No,
        Verdict::Damaged => Exit::Damaged,
        Verdict::Failed => Exit::Medium,
        Verdict::Undecided | Verdict::Other => Exit::CannotTell,
    }
}

/// A comparison, and the limits that were set.
pub(crate) fn of_comparison(comparison: &Comparison, gate: Option<&Gate>) -> Exit {
    if gate.is_some_and(Gate::failed) {
        Exit::Limit
    } else if !comparison.is_answered() {
        Exit::No
    } else if gate.is_some_and(|gate| gate.unknown_fails && gate.unknown()) {
        Exit::CannotTell
    } else {
        Exit::Good
    }
}

/// A run on many nodes.
pub(crate) fn of_nodes(end: RunEnd) -> Exit {
    match end {
        RunEnd::Whole => Exit::Good,
        RunEnd::MediumFailed => Exit::Medium,
        RunEnd::Invalid => Exit::No,
        RunEnd::Interrupted => Exit::Interrupted,
        RunEnd::Missing => Exit::Environment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts distinguish the answers by the exit code alone.
    #[test]
    fn each_verdict_has_its_exit_code() {
        let all = [Verdict::Genuine, Verdict::Fake, Verdict::Damaged, Verdict::Failed, Verdict::Undecided];
        assert_eq!(all.map(|verdict| of_verdict(verdict) as u8), [0, 1, 5, 3, 6]);
    }
}
