//! What follows a run or a check: its page, the card or the JSON, and the exit code.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::finding::{Finding, Warning};
use assay_core::medium::MediumKind;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_report::{Redactor, ReportFormat};
use assay_store::{Keeper, SqliteStore};

use crate::ending::Failure;
use crate::output::operand;
use crate::recorder::Saved;
use crate::state::{DataDirectory, REPORTS};
use crate::{files, output, queries, state};

/// What the report of a run or a check can be written as.
pub(super) const FORMATS: &[ReportFormat] = ReportFormat::ALL;

/// How the result is to be shown.
pub(super) struct OutputOptions<'a> {
    /// A report to be written, by its extension.
    pub(super) output: Option<&'a Path>,
    /// JSON on standard output.
    pub(super) json: bool,
    /// Events on standard output.
    pub(super) events: bool,
}

/// Writes the page of the record and what else was asked for, and shows it; `exit` is the exit code, unless the
/// record was to be stored and is not.
pub(super) fn store_page_and_show(
    mut record: Record,
    saved: Saved,
    exit: Exit,
    mut keeper: Option<Keeper>,
    options: &OutputOptions<'_>,
) -> Result<Exit, Failure> {
    if let Saved::Later(reason) | Saved::No(reason) = &saved {
        record.warnings.push(Finding::NotSaved { reason: reason.clone() }.into());
    }
    let mut store = keeper.as_mut().and_then(Keeper::store);
    let in_store = store.is_some();
    let (known, looked) = with_checks(&record, store.as_deref());
    let redactor = state::redactor_at_any_rate(store.take())?;
    let mut written = Vec::new();
    if in_store {
        let name = format!("{}.html", record.id);
        let path = state::directory()?.join(REPORTS).join(&name);
        let page = || DataDirectory::made(REPORTS)?.write(&name, report(&known, &redactor, &path)?);
        // The page can be made again from the record; nothing fails for it.
        match page() {
            Ok(()) => written.push(path),
            Err(error) => {
                output::tell(&format!("the page {} could not be written: {}", output::shown(&path), error.message()));
            }
        }
    }
    if let Some(path) = options.output {
        files::write_whole(path, report(&known, &redactor, path)?)?;
        written.push(path.to_owned());
    }
    show(&record, &known, options)?;
    let below = written.iter().map(|path| format!("report    {}", output::shown(path)));
    let resumes = in_store.then(|| resumes(&record)).flatten();
    for line in below.chain(resumes).chain(unchecked(&known).filter(|_| looked)) {
        if options.json || options.events { output::tell(&line) } else { output::print(&line)? }
    }
    if let Some(lost) = output::take_lost() {
        return Err(lost);
    }
    match (exit, saved) {
        (Exit::Good | Exit::No | Exit::CannotTell, Saved::No(reason)) => {
            Err(Failure::environment(format!("record {} was not saved: {reason}", record.id)))
        }
        (exit, Saved::Later(reason)) => {
            output::tell_wrapped(&format!("record {} is not in the store yet: {reason}", record.id));
            Ok(exit)
        }
        (exit, _) => Ok(exit),
    }
}

/// The record with what checks of the same unit in the store found, as `show`, `list` and `report` tell it, and whether they
/// could be read: that they cannot is no reason to fail a run. `store` is the one that is open; a run that is not stored opens it.
fn with_checks(record: &Record, store: Option<&SqliteStore>) -> (Record, bool) {
    let mut known = record.clone();
    let records = std::slice::from_mut(&mut known);
    let looked = match store {
        Some(store) => {
            queries::verified(store).map(|checks| assay_analysis::share_verdicts_of_records(records, &checks))
        }
        None => queries::mark_records_verified(records),
    };
    (known, looked.is_ok())
}

/// The command that continues a run or a check that was cut short, if it can be continued.
pub(super) fn resumes(record: &Record) -> Option<String> {
    let unfinished = |warning: &Warning| matches!(warning.finding, Finding::CheckUnfinished { .. });
    if record.verification.is_some() && record.warnings.iter().any(unfinished) {
        let target = operand(&record.medium.path);
        return Some(format!("next      assay verify --resume {target}    continues this check"));
    }
    let id = harmless(&record.id);
    let resumption = assay_runner::Resumption::from_record(record.clone());
    resumption.is_ok().then(|| format!("next      assay run --resume={id}    continues this run"))
}

/// The command that checks whether the medium is genuine, for an unchecked medium of a kind that is often forged.
fn unchecked(record: &Record) -> Option<String> {
    let forged = matches!(record.medium.kind, MediumKind::Sd | MediumKind::UsbStick);
    let measured = record.outcome == Outcome::Completed && record.verification.is_none();
    let path = Some(&record.medium.path).filter(|path| forged && measured && !path.is_empty())?;
    let target = operand(path);
    // A device without a file system is probed.
    let quick = if path.starts_with("/dev/") { "--quick " } else { "" };
    Some(format!("next      assay verify {quick}{target}    whether it is genuine was not checked"))
}

/// A report of the record in the format that the extension of its file says.
fn report(record: &Record, redactor: &Redactor, path: &Path) -> Result<Vec<u8>, Failure> {
    let format = ReportFormat::from_path(path, FORMATS).map_err(|e| Failure::usage(e.to_string()))?;
    let record = redactor.record(record)?;
    let content = assay_report::render(format, &[record], &assay_report::View::default())
        .map_err(|e| Failure::usage(assay_core::text::harmless(&e.to_string())))?;
    Ok(content)
}

/// The card on standard output, unless something for machines goes there: the record as it was stored. The card is of what is
/// `known` of the unit by now.
fn show(record: &Record, known: &Record, options: &OutputOptions<'_>) -> Result<(), Failure> {
    if !options.json && !options.events {
        return output::print(&assay_report::card(known, &output::stdout_style()));
    }
    if options.json {
        let document = record
            .to_value()
            .map_err(|e| Failure::environment(format!("the record cannot be written as JSON: {e}")))?;
        output::print_json(&document)?;
    }
    output::tell_page(&assay_report::card(known, &output::stderr_style()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_nobody_checked_is_followed_by_the_command_that_does() {
        let mut record = assay_analysis::published_records("sandisk-ultra-a1").unwrap().remove(0);
        record.medium.kind = MediumKind::Sd;
        record.medium.path = "/mnt/card".to_owned();
        let line = unchecked(&record).unwrap();
        assert_eq!(line, "next      assay verify /mnt/card    whether it is genuine was not checked");
        record.medium.path = "/mnt/my card; reboot".to_owned();
        let quoted = operand(&record.medium.path);
        assert!(quoted.contains("card; reboot") && !quoted.starts_with('/'), "nothing for a shell to obey");
        assert!(unchecked(&record).unwrap().starts_with(&format!("next      assay verify {quoted} ")));
        record.medium.path = "/dev/sdx".to_owned();
        assert!(unchecked(&record).unwrap().starts_with("next      assay verify --quick /dev/sdx "));
        record.medium.kind = MediumKind::Nvme;
        assert_eq!(unchecked(&record), None);
    }
}
