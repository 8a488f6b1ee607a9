//! Warnings of a record, the same ones said once.

mod ranges;

use assay_core::finding::{Finding, Severity, Warning};
use assay_core::record::Record;
use assay_core::text::statement;

/// A warning with the workloads it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    /// One cause; of several that differ in numbers, with the range of each number.
    pub(crate) cause: String,
    pub(crate) remedy: String,
    /// Titles of workloads; empty where it is about the run.
    pub(crate) about: Vec<String>,
}

impl Note {
    /// The cause and its subject.
    pub(crate) fn sentence(&self) -> String {
        match self.about.as_slice() {
            [] => self.cause.clone(),
            about => {
                // Titles of an open loop have commas themselves.
                let between = if about.iter().any(|title| title.contains(", ")) { "; " } else { ", " };
                format!("{}: {}", about.join(between), self.cause)
            }
        }
    }

    /// The same with the remedy, as sentences.
    pub(crate) fn sentences(&self) -> String {
        let cause = format!("{}.", statement(&self.sentence()));
        if self.remedy.is_empty() { cause } else { format!("{cause} Remedy: {}.", statement(&self.remedy)) }
    }

    pub(crate) fn word(&self) -> &'static str {
        word(self.severity)
    }
}

/// A severity as people read it.
pub(crate) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Invalid => "invalid",
        Severity::Suspect => "suspect",
        Severity::Note => "note",
    }
}

/// All warnings, the gravest first, each cause once.
pub(crate) fn notes(record: &Record) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let of_run = record.warnings.iter().map(|w| (w, None));
    let of_workloads =
        record.measurements.iter().flat_map(|m| m.warnings.iter().map(|w| (w, Some(record.load_title(m)))));
    for (warning, about) in of_run.chain(of_workloads) {
        // That a workload was skipped stands in its own row, with the reason.
        if matches!(warning.finding, Finding::FewerRepeats { ran: 0, .. }) {
            continue;
        }
        // This one names the workload itself.
        let about = about.filter(|_| !matches!(warning.finding, Finding::ScaledDown { .. }));
        let cause = common_cause(warning);
        match notes
            .iter_mut()
            .find(|n| n.severity == warning.severity && n.remedy == warning.remedy && ranges::same(&n.cause, &cause))
        {
            Some(note) => {
                note.cause = ranges::merged(&note.cause, &cause);
                if let Some(title) = about.filter(|t| !note.about.is_empty() && !note.about.contains(t)) {
                    note.about.push(title);
                }
            }
            None => notes.push(Note {
                severity: warning.severity,
                cause,
                remedy: warning.remedy.clone(),
                about: about.into_iter().collect(),
            }),
        }
    }
    let all = record.measurements.len();
    for note in &mut notes {
        // About all loads, as most notes on an imported figure are.
        if all > 2 && note.about.len() == all {
            note.about = vec!["all loads".to_owned()];
        }
    }
    notes.sort_by_key(|n| std::cmp::Reverse(n.severity));
    notes
}

/// The cause without what differs between workloads and stands in the table anyway.
fn common_cause(warning: &Warning) -> String {
    match warning.finding {
        Finding::BusLimited { .. } => "bus-limited, so the medium may be faster than this".to_owned(),
        _ => warning.cause.clone(),
    }
}
