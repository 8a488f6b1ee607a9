//! Which records may speak, and for which model.

use std::collections::BTreeSet;

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::verification::Verdict;
use serde::Serialize;

use super::error::AdviseError;
use crate::{Load, identity, short_name};

/// A record, or one figure of it, that was left out. Text is as medium and user gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// Id of the record.
    pub record: String,
    /// Model and unit.
    pub name: String,
    /// The load, where it is about one figure.
    pub load: Option<String>,
    /// Why, in words.
    pub reason: String,
}

impl Excluded {
    pub(super) fn new(record: &Record, load: Option<String>, reason: impl Into<String>) -> Self {
        Self { record: record.id.clone(), name: short_name(&identity(record)), load, reason: reason.into() }
    }

    pub(super) fn line(&self) -> String {
        let load = self.load.as_ref().map(|l| format!(", {l}")).unwrap_or_default();
        format!("{}{load}: {}", self.name, self.reason)
    }
}

/// The records of one model that may speak.
#[derive(Debug, Clone)]
pub(super) struct Subject<'a> {
    pub(super) model: String,
    pub(super) records: Vec<&'a Record>,
    /// Units seen, with those that failed.
    pub(super) units: usize,
    /// Units that failed while they were measured.
    pub(super) failed: usize,
}

/// Records by model, in the order they came; fakes and media that failed are left out. A unit that
/// is a fake in one record is one in all.
pub(super) fn subjects<'a>(records: &'a [Record], excluded: &mut Vec<Excluded>) -> Vec<Subject<'a>> {
    let fakes: BTreeSet<(String, String)> = records.iter().filter(|r| fake(r).is_some()).filter_map(named).collect();
    let mut found: Vec<(Subject<'a>, BTreeSet<String>, BTreeSet<String>)> = Vec::new();
    for record in records {
        let whose = identity(record);
        let at = found.iter().position(|(s, _, _)| s.model == whose.model).unwrap_or_else(|| {
            let subject = Subject { model: whose.model.clone(), records: Vec::new(), units: 0, failed: 0 };
            found.push((subject, BTreeSet::new(), BTreeSet::new()));
            found.len() - 1
        });
        let (subject, units, failed) = &mut found[at];
        let is_fake =
            fake(record).or_else(|| named(record).filter(|n| fakes.contains(n)).map(|_| "this unit is a fake"));
        if let Some(reason) = is_fake {
            excluded.push(Excluded::new(record, None, reason));
            continue;
        }
        units.insert(whose.unit.clone());
        if record.outcome.medium_failed() {
            failed.insert(whose.unit);
            excluded.push(Excluded::new(record, None, failure(&record.outcome)));
            continue;
        }
        subject.records.push(record);
    }
    let counted = found.into_iter().map(|(s, units, failed)| Subject { units: units.len(), failed: failed.len(), ..s });
    counted.filter(|s| !s.records.is_empty()).collect()
}

/// The one model that all records are of.
pub(super) fn one_subject<'a>(
    records: &'a [Record],
    what: &'static str,
    excluded: &mut Vec<Excluded>,
) -> Result<Subject<'a>, AdviseError> {
    let mut found = some_subjects(records, what, excluded)?;
    if found.len() > 1 {
        let models: Vec<String> = found.into_iter().map(|s| s.model).collect();
        return Err(AdviseError::ManyModels { what, models: models.join(", ") });
    }
    Ok(found.remove(0))
}

/// At least one model.
pub(super) fn some_subjects<'a>(
    records: &'a [Record],
    what: &'static str,
    excluded: &mut Vec<Excluded>,
) -> Result<Vec<Subject<'a>>, AdviseError> {
    let found = subjects(records, excluded);
    if found.is_empty() { Err(nothing_left(what, excluded)) } else { Ok(found) }
}

pub(super) fn nothing_left(what: &'static str, excluded: &[Excluded]) -> AdviseError {
    AdviseError::NothingLeft { what, reasons: excluded.iter().map(Excluded::line).collect() }
}

/// Names the records that have none of these figures, unless they are named already.
pub(super) fn name_missing(
    subject: &Subject<'_>,
    has: impl Fn(&Record) -> bool,
    load: Option<&Load>,
    excluded: &mut Vec<Excluded>,
) {
    for record in subject.records.iter().filter(|r| !has(r)) {
        if !excluded.iter().any(|e| e.record == record.id) {
            excluded.push(Excluded::new(record, load.map(Load::title), "not measured under a load that is judged"));
        }
    }
}

fn named(record: &Record) -> Option<(String, String)> {
    let whose = identity(record);
    (!whose.unit.is_empty()).then_some((whose.model, whose.unit))
}

fn fake(record: &Record) -> Option<&'static str> {
    match record.verification.as_ref()?.verdict {
        Verdict::Fake => Some("a fake: it announces more than it has"),
        Verdict::Damaged => Some("damaged: it loses data"),
        Verdict::Failed => Some("failed: it stopped working while it was checked"),
        _ => None,
    }
}

fn failure(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed { failure, .. } => format!("the medium failed: {}", failure.title()),
        _ => outcome.sentence(),
    }
}
