//! Errors of all crates, with the line that people read, and the exit code of each error and outcome.

use assay_analysis::compare::{Comparison, Gate};
use assay_core::endurance::{CensorReason, Endurance, LifeEnd};
use assay_core::exit::Exit;
use assay_core::finding::{Finding, ValidityVerdict};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::suite::SuiteError;
use assay_core::verification::Verdict;
use assay_device::DeviceError;
use assay_fleet::{FleetError, RunEnd};
use assay_powercut::{Answer, PowerCuts};
use assay_runner::RunError;
use assay_store::StoreError;

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

/// Tests of endurance: the worst of them.
pub(crate) fn of_endurance(tests: &[Endurance]) -> Exit {
    let any = |wanted: fn(LifeEnd) -> bool| tests.iter().any(|test| wanted(test.end));
    if any(|end| end == LifeEnd::Running) {
        Exit::Interrupted
    } else if any(|end| matches!(end, LifeEnd::Died { .. })) {
        Exit::Medium
    } else if any(|end| end != LifeEnd::Censored { reason: CensorReason::Limit }) {
        Exit::CannotTell
    } else {
        Exit::Good
    }
}

/// A test of power cuts. A loss stays one, whatever came after.
pub(crate) fn of_power_cuts(test: &PowerCuts) -> Exit {
    let any = |is: fn(&Answer) -> bool| test.cuts.iter().any(|cut| is(&cut.answer));
    if any(|answer| *answer == Answer::Failed) {
        Exit::Medium
    } else if test.share.is_none() || any(|answer| matches!(answer, Answer::CannotTell { .. })) {
        Exit::CannotTell
    } else {
        Exit::Good
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

/// Why the command ended without doing its work.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Usage }
    }

    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Environment }
    }

    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Interrupted }
    }

    /// What is wrong, in one line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Exit code of the program.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl From<std::io::Error> for Failure {
    /// Errors of standard output only; others are given their path where they arise.
    fn from(error: std::io::Error) -> Self {
        Self::environment(format!("standard output: {error}"))
    }
}

impl From<clap::Error> for Failure {
    /// What clap says in several lines, in one: the mistake, what would be right, no usage.
    fn from(error: clap::Error) -> Self {
        let text = error.to_string();
        let mut message = String::new();
        let parts = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
        for part in parts.filter(|line| !line.is_empty() && !line.starts_with("For more information")) {
            let part = part.strip_prefix("error: ").unwrap_or(part);
            match message.chars().last() {
                None => {}
                Some(':') => message.push(' '),
                Some(_) => message.push_str("; "),
            }
            message.push_str(part);
        }
        message.push_str("; see --help");
        Self::usage(message)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self { message: error.to_string(), exit: error.exit() }
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        RunError::from(error).into()
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        Self { message: error.to_string(), exit: error.exit() }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { message: error.to_string(), exit: error.exit() }
    }
}

impl From<assay_report::RedactError> for Failure {
    fn from(error: assay_report::RedactError) -> Self {
        Self::environment(error.to_string())
    }
}

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<assay_verify::files::VerifyError> for Failure {
    fn from(error: assay_verify::files::VerifyError) -> Self {
        use assay_verify::files::VerifyError as E;
        let message = error.to_string();
        match error {
            E::System { .. }
            | E::Memory { .. }
            | E::NotDirectory(_)
            | E::Kept(_)
            | E::Unfinished(_)
            | E::Limit(_)
            | E::NothingKept(_)
            | E::NothingToResume(_)
            | E::NothingToRead(_) => Self::usage(message),
            E::ReadOnly(_)
            | E::Permission(_)
            | E::Full { .. }
            | E::Busy(_)
            | E::Foreign(_)
            | E::NoState(_)
            | E::Elsewhere { .. }
            | E::Owned(_)
            | E::Io { .. } => Self::environment(message),
        }
    }
}

impl From<assay_verify::probe::JournalError> for Failure {
    /// A file that is no journal is a usage error.
    fn from(error: assay_verify::probe::JournalError) -> Self {
        use assay_verify::probe::JournalError as E;
        let message = error.to_string();
        match error {
            E::NotAJournal { .. } => Self::usage(message),
            _ => Self::environment(message),
        }
    }
}

impl From<assay_verify::probe::RestoreError> for Failure {
    /// The wrong device is a usage error.
    fn from(error: assay_verify::probe::RestoreError) -> Self {
        use assay_verify::probe::RestoreError as E;
        let message = error.to_string();
        match error {
            E::OtherSize { .. } | E::AnotherCard { .. } | E::Newer { .. } => Self::usage(message),
            E::Journal(error) => error.into(),
            E::Device { .. } | E::Exchanged { .. } => Self::environment(message),
        }
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
