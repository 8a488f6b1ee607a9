//! The record of a check: begun, saved, shown.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::finding::{Finding, Validity, Verdict as Trust};
use assay_core::outcome::{Failure as MediumFailure, Outcome};
use assay_core::record::{Record, SCHEMA, Settings, SuiteRef, Tool};
use assay_core::verification::{SECTOR_BYTES, Verdict, Verification};
use assay_device::{Sysroot, Target};
use assay_engine::Control;
use assay_store::{Keeper, new_id};

use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::recorder::{self, Saved};
use crate::{output, state};

/// What is known before the check.
pub(super) struct Paper {
    record: Record,
}

impl Paper {
    /// Looks at the medium; `engine` says how it is checked.
    pub(super) fn begin(args: &VerifyArgs, engine: &str) -> Result<(Self, Target), Failure> {
        let sysroot = Sysroot::real();
        let path = std::fs::canonicalize(&args.target).unwrap_or_else(|_| args.target.clone());
        let seen = assay_device::look(&sysroot, &path)?;
        let mut host = assay_device::host(&sysroot);
        let labels: std::collections::BTreeMap<String, String> = args.labels.iter().cloned().collect();
        host.slot = labels.get("slot").cloned();
        let record = Record {
            schema: SCHEMA.to_owned(),
            id: new_id(),
            created: jiff::Timestamp::now().round(jiff::Unit::Millisecond).unwrap_or_default().to_string(),
            tool: Tool {
                name: "assay".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                engine: engine.to_owned(),
                engine_reason: "as asked".to_owned(),
            },
            host,
            medium: seen.medium.clone(),
            labels,
            suite: SuiteRef { name: "verify".to_owned(), version: 1 },
            settings: Settings { raw_device: seen.raw, ..Settings::default() },
            measurements: Vec::new(),
            sensors: Vec::new(),
            crosscheck: Vec::new(),
            verification: None,
            source: None,
            outcome: Outcome::Running,
            validity: Validity { verdict: Trust::Valid, reasons: Vec::new() },
            warnings: Vec::new(),
        };
        Ok((Self { record }, seen))
    }

    /// Saves and shows what was found.
    pub(super) fn finish(
        self,
        args: &VerifyArgs,
        verification: Verification,
        outcome: Outcome,
        findings: Vec<Finding>,
        elapsed: std::time::Duration,
    ) -> Result<Exit, Failure> {
        let mut record = self.record;
        let settings = &mut record.settings;
        settings.elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        settings.written_bytes = verification.written_bytes;
        settings.planned_write_bytes = verification.written_bytes;
        settings.read_bytes = match &verification.read {
            Some(pass) => pass.bytes,
            None => verification.counts.total() * SECTOR_BYTES,
        };
        settings.span_bytes = verification.announced_bytes;
        record.outcome = outcome;
        record.verification = Some(verification);
        record.warnings = findings.into_iter().map(Into::into).collect();
        record.validity = Validity::judge(record.all_warnings());
        let mut keeper = if args.no_save { None } else { Some(state::keeper_at_any_rate()?) };
        let saved = keeper.as_mut().map_or(Saved::Yes, |keeper| recorder::keep_finished(keeper, &record));
        let redactor = state::redactor_at_any_rate(keeper.as_mut().and_then(Keeper::store))?;
        let mut written = Vec::new();
        if keeper.is_some() {
            let path = state::directory()?.join("reports").join(format!("{}.html", record.id));
            let page = state::subdirectory("reports");
            if page.and_then(|_| super::super::report::write_one(&record, &redactor, &path)).is_ok() {
                written.push(path);
            }
        }
        if let Some(path) = &args.output {
            super::super::report::write_one(&record, &redactor, path)?;
            written.push(path.clone());
        }
        if args.json {
            let document = serde_json::to_value(&record)
                .map_err(|e| Failure::environment(format!("the record cannot be written as JSON: {e}")))?;
            output::print_json(&document)?;
            output::tell_page(&assay_report::card(&record, &output::stderr_style()));
        } else {
            output::print(&assay_report::card(&record, &output::stdout_style()))?;
        }
        for path in &written {
            report_line(path, args.json)?;
        }
        match saved {
            Saved::No(reason) => Err(Failure::environment(format!("record {} was not saved: {reason}", record.id))),
            Saved::Later(reason) => {
                output::tell_wrapped(&format!("record {} is not in the store yet: {reason}", record.id));
                Ok(exit(&record))
            }
            Saved::Yes => Ok(exit(&record)),
        }
    }
}

/// What is to be said of time in which the process was stopped.
pub(super) fn stopped_for(control: &Control) -> Option<Finding> {
    let suspended = control.suspended();
    let suspended_ns = u64::try_from(suspended.as_nanos()).unwrap_or(u64::MAX);
    (!suspended.is_zero()).then_some(Finding::Suspended { suspended_ns })
}

fn report_line(path: &Path, aside: bool) -> Result<(), Failure> {
    let line = format!("report    {}", output::shown(path));
    if aside {
        output::tell(&line);
        return Ok(());
    }
    output::print(&line)
}

fn exit(record: &Record) -> Exit {
    match &record.outcome {
        Outcome::Failed { failure: MediumFailure::Interrupted, .. } => Exit::Interrupted,
        Outcome::Failed { failure: MediumFailure::OutOfSpace, .. } => Exit::Environment,
        outcome => match record.verification.as_ref().map(|v| v.verdict) {
            // A fake that was proven stays one, whatever came after.
            Some(Verdict::Fake) => Exit::No,
            _ if outcome.medium_failed() => Exit::Medium,
            _ if matches!(outcome, Outcome::Failed { failure: MediumFailure::Host, .. }) => Exit::Environment,
            Some(verdict) => verdict.exit(),
            None => Exit::CannotTell,
        },
    }
}
