//! Warnings of a record, the same ones said once.

use assay_core::finding::{Cause, Finding, Severity, Warning};
use assay_core::record::Record;
use assay_core::text::statement;
use assay_core::units::counted;

/// A warning with the workloads it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    /// The first of the findings that it tells.
    pub(crate) finding: Finding,
    /// One cause; of several that differ in numbers, with the range of each number.
    pub(crate) cause: String,
    pub(crate) remedy: String,
    pub(crate) about: About,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum About {
    /// The run as a whole.
    Run,
    /// Each of several loads, which are all of the record.
    AllLoads,
    /// The loads of these titles.
    Loads(Vec<String>),
}

impl Note {
    /// The cause and its subject.
    pub(crate) fn sentence(&self) -> String {
        match &self.about {
            About::Run => self.cause.clone(),
            About::AllLoads => format!("all loads: {}", self.cause),
            About::Loads(titles) => {
                // Titles of an open loop have commas themselves.
                let between = if titles.iter().any(|title| title.contains(", ")) { "; " } else { ", " };
                format!("{}: {}", titles.join(between), self.cause)
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

    /// The cause with one workload it is about and how many others; without them where it is about all of `loads`.
    pub(crate) fn short_sentence(&self, loads: usize) -> String {
        let About::Loads(titles) = &self.about else { return self.cause.clone() };
        match titles.as_slice() {
            titles if titles.len() == loads => self.cause.clone(),
            [] => self.cause.clone(),
            [one] => format!("{one}: {}", self.cause),
            [first, others @ ..] => format!("{first} and {}: {}", counted(others.len(), "other load"), self.cause),
        }
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
    let of_run = record.warnings.iter().map(|warning| (warning, None));
    let of_workloads =
        record.measurements.iter().flat_map(|m| m.warnings.iter().map(|w| (w, Some(record.load_title(m)))));
    let mut groups: Vec<(&Warning, Cause, Vec<String>)> = Vec::new();
    for (warning, about) in of_run.chain(of_workloads) {
        // That a workload was skipped stands in its own row, with the reason.
        if matches!(warning.finding, Finding::FewerRepeats { ran: 0, .. }) {
            continue;
        }
        let cause = common_cause(warning);
        let known = groups.iter_mut().find_map(|(first, known, titles)| {
            let alike = first.severity == warning.severity && first.remedy() == warning.remedy();
            (alike && known.merge(&cause)).then_some(titles)
        });
        match known {
            // What the whole run suffers from is said of no single workload.
            Some(titles) => {
                if let Some(title) = about.filter(|title| !titles.is_empty() && !titles.contains(title)) {
                    titles.push(title);
                }
            }
            None => groups.push((warning, cause, about.into_iter().collect())),
        }
    }
    let all = record.measurements.len();
    let note = |(warning, cause, about): (&Warning, Cause, Vec<String>)| Note {
        severity: warning.severity,
        finding: warning.finding.clone(),
        cause: cause.to_string(),
        remedy: warning.remedy().to_owned(),
        about: match about.len() {
            0 => About::Run,
            // As most notes on an imported figure are.
            loads if all > 2 && loads == all => About::AllLoads,
            _ => About::Loads(about),
        },
    };
    let mut notes: Vec<Note> = groups.into_iter().map(note).collect();
    notes.sort_by_key(|n| std::cmp::Reverse(n.severity));
    notes
}

/// The cause without what differs between workloads and stands in the table anyway.
fn common_cause(warning: &Warning) -> Cause {
    match warning.finding {
        Finding::BusLimited { .. } => Cause::words("bus-limited, so the medium may be faster than this"),
        _ => warning.pieces(),
    }
}
