//! The record of a check: begun, saved and shown.

use assay_core::exit::Exit;
use assay_core::finding::{Finding, Warning};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_device::TargetInfo;
use assay_store::new_id;
use assay_verify::{CheckRecord, Subject};

use super::super::finished::{OutputOptions, conclude};
use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::recorder::{self, Saved};
use crate::state;

/// Looks at the medium; `method` says how it is checked.
pub(super) fn begin(args: &VerifyArgs, method: &'static str) -> Result<(CheckRecord, TargetInfo), Failure> {
    Ok(CheckRecord::begin(Subject {
        id: new_id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        method,
        target: args.target.clone(),
        labels: args.labels.iter().cloned().collect(),
    })?)
}

/// Saves and shows what was found.
pub(super) fn finish(args: &VerifyArgs, record: Record) -> Result<Exit, Failure> {
    let mut keeper = if args.no_save { None } else { Some(state::keeper_at_any_rate()?) };
    let saved = keeper.as_mut().map_or(Saved::Yes, |keeper| recorder::keep_finished(keeper, &record));
    let exit = exit(&record);
    let options = OutputOptions { output: args.output.as_deref(), json: args.json, events: false };
    conclude(record, saved, exit, keeper, &options)
}

fn is_not_put_back(warning: &Warning) -> bool {
    matches!(warning.finding, Finding::NotPutBack { .. })
}

fn exit(record: &Record) -> Exit {
    match &record.outcome {
        Outcome::Failed { failure: RunFailure::Interrupted, .. } => Exit::Interrupted,
        Outcome::Failed { failure: RunFailure::OutOfSpace, .. } => Exit::Environment,
        outcome => match record.verification.as_ref().map(|v| v.verdict) {
            // A fake that was proven stays one, whatever came after.
            Some(Verdict::Fake) => Exit::No,
            _ if outcome.medium_failed() => Exit::Medium,
            _ if matches!(outcome, Outcome::Failed { failure: RunFailure::Host, .. }) => Exit::Environment,
            // The medium is what it says, and its owner's data are not on it.
            Some(verdict) if verdict.exit() == Exit::Good && record.warnings.iter().any(is_not_put_back) => {
                Exit::Environment
            }
            Some(verdict) => verdict.exit(),
            None => Exit::CannotTell,
        },
    }
}
